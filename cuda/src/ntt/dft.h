// Discrete Fourier transforms of 2, 4 and 8 elements in registers. All elements are below 2 m (lazy.h).
#pragma once

#include "ntt/lazy.h"

namespace pm::ntt {

// Of a primitive 8th root w.
struct Roots8 {
    Fr i;      // w^2
    Fr plus;   // (w + w^3) / 2
    Fr minus;  // (w - w^3) / 2
};

PM_HD constexpr uint32_t reverse_bits(uint32_t v, int bits)
{
    uint32_t r = 0;
    for (int k = 0; k < bits; k++) r |= ((v >> k) & 1u) << (bits - 1 - k);
    return r;
}

PM_HD void dft2(Fr& a, Fr& b)
{
    const Fr t = lazy_difference(a, b);
    a = lazy_sum(a, b);
    b = t;
}

// Natural order in and out; one product.
PM_HD void dft4(Fr& x0, Fr& x1, Fr& x2, Fr& x3, const Roots8& w)
{
    dft2(x0, x2);
    dft2(x1, x3);
    x3 = lazy_product(x3, w.i);
    dft2(x0, x1);
    dft2(x2, x3);
    const Fr t = x1;
    x1 = x2;
    x2 = t;
}

// Natural order in and out. Four products instead of the five of three radix-2 layers: the two odd halves need
// w d1 + w^3 d3 and w^3 d1 + w d3, whose sum and difference take one product each.
PM_HD void dft8(Fr x[8], const Roots8& w)
{
    PM_UNROLL
    for (int j = 0; j < 4; j++) dft2(x[j], x[j + 4]);
    dft4(x[0], x[1], x[2], x[3], w);
    Fr p = x[4], m = lazy_product(x[6], w.i), u = x[5], v = x[7];
    dft2(p, m);
    dft2(u, v);
    u = lazy_product(u, w.plus);
    v = lazy_product(v, w.minus);
    dft2(u, v);
    dft2(p, u);
    dft2(m, v);
    // x[k] is output 2 k now.
    x[6] = x[3];
    x[4] = x[2];
    x[2] = x[1];
    x[1] = p;
    x[5] = u;
    x[3] = m;
    x[7] = v;
}

// All 8 / 2^B transforms of 2^B neighbours, natural order in, bit-reversed order out.
template <int B>
PM_HD void dfts_to_reversed(Fr x[8], const Roots8& w)
{
    if constexpr (B == 3) {
        dft8(x, w);
        Fr t = x[1];
        x[1] = x[4];
        x[4] = t;
        t = x[3];
        x[3] = x[6];
        x[6] = t;
    } else if constexpr (B == 2) {
        PM_UNROLL
        for (int g = 0; g < 8; g += 4) {
            dft4(x[g], x[g + 1], x[g + 2], x[g + 3], w);
            const Fr t = x[g + 1];
            x[g + 1] = x[g + 2];
            x[g + 2] = t;
        }
    } else {
        PM_UNROLL
        for (int g = 0; g < 8; g += 2) dft2(x[g], x[g + 1]);
    }
}

// The same with bit-reversed order in and natural order out.
template <int B>
PM_HD void dfts_from_reversed(Fr x[8], const Roots8& w)
{
    if constexpr (B == 3) {
        Fr t = x[1];
        x[1] = x[4];
        x[4] = t;
        t = x[3];
        x[3] = x[6];
        x[6] = t;
        dft8(x, w);
    } else if constexpr (B == 2) {
        PM_UNROLL
        for (int g = 0; g < 8; g += 4) {
            const Fr t = x[g + 1];
            x[g + 1] = x[g + 2];
            x[g + 2] = t;
            dft4(x[g], x[g + 1], x[g + 2], x[g + 3], w);
        }
    } else {
        PM_UNROLL
        for (int g = 0; g < 8; g += 2) dft2(x[g], x[g + 1]);
    }
}

}  // namespace pm::ntt
