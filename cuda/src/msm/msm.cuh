// The host side of Msm.
#pragma once

#include <algorithm>

#include "msm/buckets.cuh"
#include "msm/digits.cuh"
#include "msm/msm.h"
#include "msm/weigh.cuh"

namespace pm {

namespace msm_detail {

inline int ceil_log2(uint64_t v)
{
    int l = 0;
    while ((1ull << l) < v) l++;
    return l;
}

inline uint32_t blocks(uint64_t threads, uint32_t per_block)
{
    return (uint32_t)((threads + per_block - 1) / per_block);
}

// Additions a scalar: one a window, and two a bucket for weighing, less the first of each bucket.
inline int choose_bits(uint32_t count, int copies)
{
    int best = 2;
    double best_cost = 1e30;
    for (int bits = 2; bits <= 26; bits++) {
        const Windows w = Windows::of(bits, copies);
        const double cost = (double)count * w.count + (double)w.sets * w.buckets() * (count > w.buckets() ? 1.3 : 2.3);
        if (cost < best_cost) {
            best_cost = cost;
            best = bits;
        }
    }
    return best;
}

}  // namespace msm_detail

template <class F>
struct Msm<F>::Layout {
    SortBuffers sort;
    void* sort_temporary;
    size_t sort_temporary_bytes;
    buckets::Range* ranges;
    buckets::Summary* summary;
    Affine<F>* pool;     // the bucket sums, then the tree's slots
    uint32_t pool_tree;  // first slot of the tree
    Pair* pairs;
    Xyzz<F>* bit_sums;
    BatchAdder<F> adder;
    uint32_t chunk;
    size_t bytes;
};

template <class F>
typename Msm<F>::Layout Msm<F>::lay_out(void* memory, int sets_at_once, uint32_t chunk) const
{
    const uint32_t all_buckets = (uint32_t)sets_at_once * windows_.buckets();
    uint64_t entries = 0;
    for (int s = 0; s < windows_.sets; s += sets_at_once) {
        uint64_t e = 0;
        for (int k = s; k < std::min(s + sets_at_once, windows_.sets); k++) e += (uint64_t)windows_.windows_of(k) * max_count_;
        entries = std::max(entries, e);
    }
    Layout l;
    Scratch scratch(memory);
    for (int i = 0; i < 2; i++) {
        l.sort.keys[i] = scratch.take<uint32_t>(entries);
        l.sort.values[i] = scratch.take<uint32_t>(entries);
    }
    l.sort_temporary_bytes = sort_temporary_bytes(entries, msm_detail::ceil_log2((uint64_t)all_buckets + 1));
    l.sort_temporary = scratch.take<char>(l.sort_temporary_bytes);
    l.ranges = scratch.take<buckets::Range>(all_buckets);
    l.summary = scratch.take<buckets::Summary>(1);
    l.chunk = (uint32_t)std::min<uint64_t>(chunk, 1ull << msm_detail::ceil_log2(entries));
    // Folding needs three halves of the buckets besides the buckets themselves.
    const uint64_t fold_slots = (uint64_t)all_buckets + all_buckets / 2 + 2;
    const uint64_t tree_slots = std::max<uint64_t>(l.chunk, fold_slots);
    l.pool = scratch.take<Affine<F>>(all_buckets + tree_slots);
    l.pool_tree = all_buckets;
    const uint32_t most_pairs = (uint32_t)std::max<uint64_t>((uint64_t)l.chunk / 2 + 1, all_buckets);
    l.pairs = scratch.take<Pair>(most_pairs);
    l.bit_sums = scratch.take<Xyzz<F>>((size_t)windows_.sets * windows_.bits);
    l.adder.reserve(scratch, most_pairs, multiprocessors_);
    l.bytes = scratch.used();
    return l;
}

template <class F>
Msm<F>::Msm(const Bases<F>& bases, uint32_t max_count, int window_bits, size_t budget_bytes, int multiprocessors)
    : bases_(bases), max_count_(std::max(max_count, 1u)), multiprocessors_(multiprocessors)
{
    if (bases.copies < 1 || (uint64_t)bases.count * bases.copies > Reference::pool)
        throw_argument("msm: bases times copies must be between 1 and 2^30");
    if (window_bits != 0 && (window_bits < 2 || window_bits > 26)) throw_argument("msm: window bits must be 0 or 2 to 26");
    if (bases.copies > 1) {
        if (window_bits != 0 && window_bits != bases.copy_bits) throw_argument("msm: the copies were made for other window bits");
        window_bits = bases.copy_bits;
    }
    windows_ = Windows::of(window_bits ? window_bits : msm_detail::choose_bits(max_count_, bases.copies), bases.copies);
    // The fewest and largest pieces that fit: all sets and one chunk first.
    for (int passes = 1;; passes++) {
        const int sets = (windows_.sets + passes - 1) / passes;
        const bool possible = (uint64_t)sets * windows_.windows_of(0) * max_count_ < (1ull << 30) &&
                              (uint64_t)sets * windows_.buckets() * 5 / 2 < (1ull << 29);
        if (possible || sets == 1) {
            if (!possible) throw_argument("msm: too many scalars for one bucket set");
            for (uint32_t chunk = 1u << 29; chunk >= 1u << 16; chunk /= 2) {
                const Layout l = lay_out(nullptr, sets, chunk);
                if (l.bytes <= budget_bytes && (uint64_t)l.chunk + l.pool_tree < Reference::pool) {
                    // A pass less is worth more than a large chunk, up to a point.
                    if (l.chunk < (1u << 26) && l.chunk < (uint64_t)windows_.windows_of(0) * max_count_ && sets > 1) break;
                    sets_at_once_ = sets;
                    chunk_ = l.chunk;
                    scratch_bytes_ = l.bytes;
                    return;
                }
            }
        }
        if (sets == 1) {
            const Layout least = lay_out(nullptr, 1, 1u << 16);
            throw Error(Code::memory, 0, "msm: needs at least " + std::to_string(least.bytes) + " bytes of scratch, the budget is " +
                                             std::to_string(budget_bytes));
        }
    }
}

template <class F>
void Msm<F>::sum_buckets(const Layout& l, uint32_t entries, uint32_t all_buckets, StageTimes* times, cudaStream_t stream) const
{
    using namespace msm_detail;
    const uint32_t* keys = l.sort.keys[l.sort.current];
    const uint32_t* values = l.sort.values[l.sort.current];
    buckets::Summary summary;
    {
        Stage stage("msm.ranges", times, stream);
        PM_CUDA(cudaMemsetAsync(l.ranges, 0, all_buckets * sizeof(buckets::Range), stream));
        PM_CUDA(cudaMemsetAsync(l.summary, 0, sizeof summary, stream));
        buckets::find_ranges<<<blocks(entries, 256), 256, 0, stream>>>(keys, entries, all_buckets, l.ranges);
        PM_LAUNCHED("bucket ranges");
        buckets::summarize<<<std::min(blocks(all_buckets, 256), 1024u), 256, 0, stream>>>(l.ranges, all_buckets, l.summary);
        PM_LAUNCHED("bucket summary");
        PM_CUDA(cudaMemcpyAsync(&summary, l.summary, sizeof summary, cudaMemcpyDeviceToHost, stream));
        PM_CUDA(cudaStreamSynchronize(stream));
    }
    Stage stage("msm.trees", times, stream);
    uint32_t first = 0;
    do {
        buckets::Tree tree;
        tree.first = first;
        tree.end = (uint32_t)std::min<uint64_t>((uint64_t)first + l.chunk, summary.used);
        tree.span = 1u << ceil_log2(std::max(tree.size(), 1u));
        tree.levels = ceil_log2(std::min(summary.longest, std::max(tree.size(), 1u)));
        if (summary.longest > 1) {
            for (int level = 0; level <= tree.levels; level++) {
                const uint32_t nodes = tree.nodes(level);
                if (nodes == 0) continue;
                buckets::plan_round<<<blocks(nodes, 256), 256, 0, stream>>>(tree, level, keys, values, l.ranges, l.pairs, nodes);
                PM_LAUNCHED("tree round");
                l.adder.add(bases_.points, l.pool + l.pool_tree, l.pairs, nodes, tree.slots_before(level), stream);
            }
        }
        buckets::collect<F><<<blocks(all_buckets, 128), 128, 0, stream>>>(tree, values, l.ranges, all_buckets, bases_.points,
                                                                         l.pool + l.pool_tree, l.pool);
        PM_LAUNCHED("bucket sums");
        first = tree.end;
    } while (first < summary.used);
}

template <class F>
void Msm<F>::weigh_buckets(const Layout& l, int sets, Xyzz<F>* bit_sums, StageTimes* times, cudaStream_t stream) const
{
    using namespace msm_detail;
    Stage stage("msm.weigh", times, stream);
    const int bits = windows_.bits - 1;
    const weigh::Shape shape = {sets, bits / 2, bits - bits / 2};
    const uint32_t all = (uint32_t)sets << bits;
    // Slots: the buckets; then rounds write in turn to an area of `all` slots and to one of half that size.
    const uint32_t areas[2] = {l.pool_tree, l.pool_tree + all};
    uint32_t row_input = 0, column_input = 0;
    const int rounds = std::max(shape.low_bits, shape.high_bits);
    for (int r = 0; r < rounds; r++) {
        const uint32_t rows = r < shape.low_bits ? all >> (r + 1) : 0;
        const uint32_t columns = r < shape.high_bits ? all >> (r + 1) : 0;
        const uint32_t half = 1u << (bits - r - 1);
        const uint32_t out = areas[r & 1];
        weigh::plan_fold<<<blocks((uint64_t)rows + columns, 256), 256, 0, stream>>>(rows, row_input, columns, column_input, half, l.pairs);
        PM_LAUNCHED("fold");
        l.adder.add(bases_.points, l.pool, l.pairs, rows + columns, out, stream);
        if (rows) row_input = out;
        if (columns) column_input = out + rows;
    }
    const dim3 grid((unsigned)(1 + bits), (unsigned)sets);
    weigh::bit_sums<F><<<grid, weigh::sum_threads, 0, stream>>>(shape, l.pool + row_input, l.pool + column_input, bit_sums);
    PM_LAUNCHED("bit sums");
}

template <class F>
Affine<F> Msm<F>::run(const MsmInput& input, void* scratch, StageTimes* times, cudaStream_t stream) const
{
    using namespace msm_detail;
    if (input.count > max_count_) throw_argument("msm: more scalars than planned for");
    if (!input.indices && input.count > bases_.count) throw_argument("msm: more scalars than bases");
    if (input.count == 0) return Affine<F>::infinity();
    Layout l = lay_out(scratch, sets_at_once_, chunk_);
    const Windows& w = windows_;
    for (int first = 0; first < w.sets; first += sets_at_once_) {
        const int end = std::min(first + sets_at_once_, w.sets);
        const uint32_t all_buckets = (uint32_t)(end - first) * w.buckets();
        uint64_t entries = 0;
        for (int s = first; s < end; s++) entries += (uint64_t)w.windows_of(s) * input.count;
        l.sort.current = 0;
        {
            Stage stage("msm.digits", times, stream);
            digits::Arguments a = {input.scalars, input.indices, input.count, bases_.count, input.montgomery, w, first, end,
                                   l.sort.keys[0], l.sort.values[0]};
            digits::cut<<<blocks(input.count, 256), 256, 0, stream>>>(a);
            PM_LAUNCHED("digits");
        }
        {
            Stage stage("msm.sort", times, stream);
            sort_pairs(l.sort_temporary, l.sort_temporary_bytes, l.sort, entries, ceil_log2((uint64_t)all_buckets + 1), stream);
        }
        sum_buckets(l, (uint32_t)entries, all_buckets, times, stream);
        weigh_buckets(l, end - first, l.bit_sums + (size_t)first * w.bits, times, stream);
    }
    std::vector<Xyzz<F>> sums((size_t)w.sets * w.bits);
    PM_CUDA(cudaMemcpyAsync(sums.data(), l.bit_sums, sums.size() * sizeof sums[0], cudaMemcpyDeviceToHost, stream));
    PM_CUDA(cudaStreamSynchronize(stream));
    Xyzz<F> total = Xyzz<F>::infinity();
    for (int s = w.sets; s-- > 0;) {
        for (int k = 0; k < w.bits; k++) total = total.doubled();
        Xyzz<F> set = Xyzz<F>::infinity();
        for (int k = w.bits - 1; k >= 1; k--) {
            set = set.doubled();
            set.add(sums[(size_t)s * w.bits + k]);
        }
        set.add(sums[(size_t)s * w.bits]);
        total.add(set);
    }
    return total.to_affine();
}

}  // namespace pm
