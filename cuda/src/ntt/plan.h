// How a transform is cut into passes, and which tables of factors the passes of a quotient read.
#pragma once

#include "ntt/pass.h"
#include "ntt/powers.h"

namespace pm::ntt {

constexpr int smallest_tiled = 2 * smallest_pass;  // below, transforms go stage by stage

struct Plan {
    int log_n;
    int passes = 0;
    int bits[4];    // rows of each pass, log2
    int stride[4];  // of the rows, log2
    int before[4];  // bits of the passes before

    explicit Plan(int k) : log_n(k)
    {
        if (k < smallest_tiled) return;
        passes = (k + largest_pass - 1) / largest_pass;
        int done = 0;
        for (int p = 0; p < passes; p++) {
            bits[p] = k / passes + (p < k % passes ? 1 : 0);
            before[p] = done;
            done += bits[p];
            stride[p] = k - done;
        }
    }

    // Elements of a table between pass p and the next: the size of p's blocks.
    uint64_t block(int p) const { return (uint64_t)1 << (log_n - before[p]); }
};

// Which factors go with a transform.
enum class Kind {
    plain,       // none
    to_coset,    // values on the domain to coefficients times powers of 7 (index negated), 1 / n included
    to_scaled,   // coefficients (index negated) times 1 / (n (7^n - 1))
    from_coset,  // values on the coset to coefficients, times 1 / (n (7^n - 1))
};

// Factors of one table: entry for row digit q and column c is w^(q c * root_step) * shift^(q << shift_log) * scale.
struct Factors {
    int row_bits, stride;
    uint64_t root_step;
    bool shifted;
    int shift_log;
    Fr scale;
    PM_HD uint64_t entries() const { return (uint64_t)1 << (row_bits + stride); }
};

// One thread makes this many neighbours.
constexpr int fill_run = 16;

PM_HD void fill(Fr* table, const Factors& f, const Powers& root, const Powers& shift, uint64_t run)
{
    const uint64_t from = run * fill_run;
    for (uint64_t k = from; k < from + fill_run && k < f.entries();) {
        const uint64_t column = k & (((uint64_t)1 << f.stride) - 1);
        const uint64_t q = reverse_bits((uint32_t)(k >> f.stride), f.row_bits);
        Fr v = root.at(q * column * f.root_step) * f.scale;
        if (f.shifted) v = v * shift.at(q << f.shift_log);
        const Fr ratio = root.at(q * f.root_step);
        // To the end of the run or of the row.
        for (uint64_t c = column; c < (uint64_t)1 << f.stride && k < from + fill_run; c++, k++) {
            store(table + k, v);
            v = v * ratio;
        }
    }
}

// The constants of a domain.
struct Constants {
    Powers root;       // of order n
    Powers shift;      // 1 / 7
    Fr scale_coset;    // 7^n / n
    Fr scale_out;      // 1 / (n (7^n - 1))
    Fr first;          // 7^-n
    Roots8 w;

    explicit Constants(int log_n)
    {
        root = Powers::of(root_of_unity(log_n));
        const Fr g = generator();
        shift = Powers::of(inverse(g));
        Fr z = g, n_inverse = Fr::one();
        const Fr half = inverse(small(2));
        for (int i = 0; i < log_n; i++) {
            z = z.squared();
            n_inverse = n_inverse * half;
        }
        scale_coset = z * n_inverse;
        first = inverse(z);
        // With one point the vanishing polynomial has no coset value but 6, as any other.
        scale_out = n_inverse * inverse(z - Fr::one());
        w = roots8();
    }
};

// Offsets, in elements, of the tables of a domain.
struct Tables {
    uint64_t roots512 = 0;
    uint64_t between[4][4];  // [pass][kind]; kinds without factors of their own share one
    uint64_t rows = 0;       // the last pass's factors of the coset kinds
    uint64_t total = 0;

    explicit Tables(const Plan& plan)
    {
        if (plan.passes == 0) return;
        total = 1 << largest_pass;
        for (int p = 0; p + 1 < plan.passes; p++) {
            const bool scaled = p + 2 == plan.passes;
            for (int kind = 0; kind < 4; kind++) {
                if (kind == (int)Kind::to_scaled && !scaled) {
                    between[p][kind] = between[p][(int)Kind::plain];
                } else if (kind == (int)Kind::from_coset && !scaled) {
                    between[p][kind] = between[p][(int)Kind::to_coset];
                } else {
                    between[p][kind] = total;
                    total += plan.block(p);
                }
            }
        }
        rows = total;
        total += (uint64_t)1 << plan.bits[plan.passes - 1];
    }
};

}  // namespace pm::ntt
