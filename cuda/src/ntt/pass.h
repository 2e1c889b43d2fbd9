// One pass of a transform: 2^S-point transforms over rows that lie a stride apart, in shared memory,
// 8 elements a thread. What one thread does between two barriers is a function here, so that a host
// can run a pass thread by thread.
//
// A transform of 2^k points is cut into passes, each over a digit of the index. Decimation in
// frequency ("to reversed") goes from the largest stride to stride one: natural order in,
// bit-reversed order out. Decimation in time ("from reversed") is its mirror image. Between passes
// every element has a factor of its own, from a table in the layout of the data: reading a table costs
// memory bandwidth, which is idle, where computing a root costs a product, which is what bounds the whole.
// Coset powers and scaling are factors of such a table too.
#pragma once

#include "ntt/dft.h"
#include "ntt/element.h"

namespace pm::ntt {

constexpr int tile_log = 10;  // elements of a tile: small, so that four blocks of an SM wait for their barriers by turns
constexpr int threads = 1 << (tile_log - 3);
constexpr int tile = 1 << tile_log;
constexpr int largest_pass = 9;  // log2 of the rows
constexpr int smallest_pass = 6;
constexpr size_t shared_bytes = 2 * tile * sizeof(Half);

struct PassArguments {
    const Fr* source;
    const Fr* source2;   // multiplied to source on reading (to reversed, PRODUCT kernels only)
    const Fr* subtract;  // below m; subtracted before writing, or null (to reversed only, with reduce)
    Fr* target;
    const Fr* roots;    // the powers of a primitive 512th root
    const Fr* factors;  // by element of a block, or by row; null if there are none
    int factor_row_log;   // how far apart rows lie in it
    bool factor_columns;  // it has an entry for each column of a block too
    Fr first;           // multiplied to element 0, if has_first (to reversed only)
    bool has_first;
    bool negate;        // element i is read from position -i mod 2^k (PRODUCT kernels only)
    bool reduce;        // what is written is brought below m; otherwise it is below 2 m, as what is read may be
    Roots8 w;
    int log_n;
    int log_stride;     // of the rows
};

// Halves of the elements of a tile.
struct Shared {
    Half* low;
    Half* high;
};

template <int S>
struct Pass {
    static constexpr int column_log = tile_log - S;
    static constexpr int columns = 1 << column_log;
    static constexpr int steps = (S + 2) / 3;
    static constexpr int last_bits = S - 3 * (steps - 1);
    static_assert(S >= smallest_pass && S <= largest_pass);
    static_assert((1 << (S - 3)) * columns == threads);

    uint32_t j, column;       // the thread: which rows, which column of the tile
    uint64_t base;            // of the tile and column in the data
    uint32_t in_block;        // the column in its block
    uint32_t stride_row;      // log2

    PM_HD Pass(const PassArguments& a, uint32_t tile_number, uint32_t thread)
    {
        j = thread >> column_log;
        column = thread & (columns - 1);
        stride_row = (uint32_t)a.log_stride;
        if (a.log_stride == 0) {
            in_block = 0;
            base = ((uint64_t)tile_number * columns + column) << S;
        } else {
            const uint32_t groups = 1u << (a.log_stride - column_log);
            in_block = (tile_number & (groups - 1)) * columns + column;
            base = ((uint64_t)(tile_number / groups) << (S + a.log_stride)) + in_block;
        }
    }

    // The number of the tile's rows that a thread's step leaves between its elements, as a power of two.
    static PM_HD int gap(int step) { return S - 3 * (step + 1) > 0 ? S - 3 * (step + 1) : 0; }

    PM_HD uint32_t row(int step, int i) const
    {
        const int g = gap(step);
        return (j >> g << (g + 3)) | (uint32_t)i << g | (j & ((1u << g) - 1));
    }

    PM_HD uint64_t position(uint32_t row) const { return base + ((uint64_t)row << stride_row); }

    // Slots of shared memory, whose banks serve eight neighbours at once. With fewer columns, rows eight apart would meet in a bank.
    PM_HD uint32_t slot(uint32_t row) const
    {
        if constexpr (columns < 8) row ^= row >> 3 & (8 / columns - 1);
        return row << column_log | column;
    }

    PM_HD void put(const Fr x[8], int step, const Shared& s) const
    {
        PM_UNROLL
        for (int i = 0; i < 8; i++) {
            Half low, high;
            split(x[i], low, high);
            const uint32_t k = slot(row(step, i));
            store_half(s.low + k, low);
            store_half(s.high + k, high);
        }
    }

    PM_HD void get(Fr x[8], int step, const Shared& s) const
    {
        PM_UNROLL
        for (int i = 0; i < 8; i++) {
            const uint32_t k = slot(row(step, i));
            x[i] = join(load_half(s.low + k), load_half(s.high + k));
        }
    }

    // The root between two steps for output k = rev(i) of this one. Addresses are sums of 32-bit offsets: products
    // of addresses would take the multiplier's time.
    PM_HD const Fr* inner_root(const PassArguments& a, int step, int i) const
    {
        const uint32_t place = j & ((1u << gap(step)) - 1);
        const uint32_t bytes = place << (largest_pass - S + 3 * step + 5);
        return offset(a.roots, bytes * reverse_bits((uint32_t)i, 3));
    }

    PM_HD const Fr* factor(const PassArguments& a, int i) const
    {
        const Fr* first = a.factors + ((uint64_t)(j << 3) << a.factor_row_log) + (a.factor_columns ? in_block : 0);
        return offset(first, (int64_t)i << (a.factor_row_log + 5));
    }

    static PM_HD Fr* offset(Fr* p, int64_t bytes) { return reinterpret_cast<Fr*>(reinterpret_cast<char*>(p) + bytes); }
    static PM_HD const Fr* offset(const Fr* p, int64_t bytes) { return reinterpret_cast<const Fr*>(reinterpret_cast<const char*>(p) + bytes); }

    // Where element i of a step lies.
    template <class T>
    PM_HD T* at(T* data, int step, int i) const
    {
        return offset(data + position(row(step, 0)), (int64_t)i << (stride_row + (uint32_t)gap(step) + 5));
    }

    // The same for position -p mod n instead of p.
    PM_HD const Fr* at_negated(const Fr* data, int i, int log_n) const
    {
        const uint64_t p = position(row(0, 0));
        if (p == 0 && i == 0) return data;
        return offset(data + (((uint64_t)1 << log_n) - p), -((int64_t)i << (stride_row + (uint32_t)gap(0) + 5)));
    }

    // Step of a transform to reversed order: the transforms, then the roots of the next step or the factors.
    PM_HD void step_to_reversed(Fr x[8], const PassArguments& a, int step) const
    {
        const bool last = step == steps - 1;
        if (last && last_bits != 3)
            dfts_to_reversed<last_bits>(x, a.w);
        else
            dfts_to_reversed<3>(x, a.w);
        if (last && !a.factors) return;
        PM_UNROLL
        for (int i = 0; i < 8; i++)
            if (last || i > 0) x[i] = lazy_product(x[i], load_constant(last ? factor(a, i) : inner_root(a, step, i)));
    }

    // Its mirror image: the factors or roots, then the transforms.
    PM_HD void step_from_reversed(Fr x[8], const PassArguments& a, int step) const
    {
        const bool last = step == steps - 1;
        if (!last || a.factors) {
            PM_UNROLL
            for (int i = 0; i < 8; i++)
                if (last || i > 0) x[i] = lazy_product(x[i], load_constant(last ? factor(a, i) : inner_root(a, step, i)));
        }
        if (last && last_bits != 3)
            dfts_from_reversed<last_bits>(x, a.w);
        else
            dfts_from_reversed<3>(x, a.w);
    }

    template <bool PRODUCT>
    PM_HD void read_natural(Fr x[8], const PassArguments& a) const
    {
        PM_UNROLL
        for (int i = 0; i < 8; i++) {
            x[i] = load(PRODUCT && a.negate ? at_negated(a.source, i, a.log_n) : at(a.source, 0, i));
            if (PRODUCT) {
                Fr y = load(a.negate ? at_negated(a.source2, i, a.log_n) : at(a.source2, 0, i));
                y.reduce_once();
                x[i] = lazy_product(x[i], y);
            }
        }
    }

    PM_HD void write_reversed(Fr x[8], const PassArguments& a) const
    {
        if (a.has_first && base == 0 && j == 0) x[0] = lazy_product(x[0], a.first);
        PM_UNROLL
        for (int i = 0; i < 8; i++) {
            if (a.reduce) x[i].reduce_once();
            if (a.subtract) x[i] = x[i] - load(at(a.subtract, steps - 1, i));
            store(at(a.target, steps - 1, i), x[i]);
        }
    }

    PM_HD void read_reversed(Fr x[8], const PassArguments& a) const
    {
        PM_UNROLL
        for (int i = 0; i < 8; i++) x[i] = load(at(a.source, steps - 1, i));
    }

    PM_HD void write_natural(Fr x[8], const PassArguments& a) const
    {
        PM_UNROLL
        for (int i = 0; i < 8; i++) {
            if (a.reduce) x[i].reduce_once();
            store(at(a.target, 0, i), x[i]);
        }
    }
};

}  // namespace pm::ntt
