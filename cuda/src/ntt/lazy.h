// Elements below 2 m instead of m: the products of a transform then need no last subtraction.
#pragma once

#include "field/fr.h"

namespace pm::ntt {

// Limb i of 2 m.
PM_HD constexpr uint32_t twice_modulus(int i)
{
    return FrParams::modulus(i) << 1 | (i > 0 ? FrParams::modulus(i - 1) >> 31 : 0);
}

// a + b mod 2 m, for a and b below 2 m.
PM_HD Fr lazy_sum(const Fr& a, const Fr& b)
{
    Fr s, r;
    constexpr int n = Fr::N;
#if defined(__CUDA_ARCH__)
    s.limb[0] = carry::add_cc(a.limb[0], b.limb[0]);
    PM_UNROLL
    for (int i = 1; i < n; i++) s.limb[i] = carry::addc_cc(a.limb[i], b.limb[i]);
    const uint32_t top = carry::addc(0, 0);
    r.limb[0] = carry::sub_cc(s.limb[0], twice_modulus(0));
    PM_UNROLL
    for (int i = 1; i < n; i++) r.limb[i] = carry::subc_cc(s.limb[i], twice_modulus(i));
    const bool below = carry::subc(top, 0) != 0;
#else
    uint64_t c = 0;
    for (int i = 0; i < n; i++) {
        c += (uint64_t)a.limb[i] + b.limb[i];
        s.limb[i] = (uint32_t)c;
        c >>= 32;
    }
    const uint64_t top = c;
    c = 0;
    for (int i = 0; i < n; i++) {
        c = (uint64_t)s.limb[i] - twice_modulus(i) - c;
        r.limb[i] = (uint32_t)c;
        c = (c >> 32) & 1;
    }
    const bool below = top < c;
#endif
    PM_UNROLL
    for (int i = 0; i < n; i++) r.limb[i] = below ? s.limb[i] : r.limb[i];
    return r;
}

// a - b mod 2 m, for a and b below 2 m.
PM_HD Fr lazy_difference(const Fr& a, const Fr& b)
{
    Fr r;
    constexpr int n = Fr::N;
#if defined(__CUDA_ARCH__)
    r.limb[0] = carry::sub_cc(a.limb[0], b.limb[0]);
    PM_UNROLL
    for (int i = 1; i < n; i++) r.limb[i] = carry::subc_cc(a.limb[i], b.limb[i]);
    const uint32_t borrow = carry::subc(0, 0);
    r.limb[0] = carry::add_cc(r.limb[0], twice_modulus(0) & borrow);
    PM_UNROLL
    for (int i = 1; i < n - 1; i++) r.limb[i] = carry::addc_cc(r.limb[i], twice_modulus(i) & borrow);
    r.limb[n - 1] = carry::addc(r.limb[n - 1], twice_modulus(n - 1) & borrow);
#else
    uint64_t c = 0;
    for (int i = 0; i < n; i++) {
        c = (uint64_t)a.limb[i] - b.limb[i] - c;
        r.limb[i] = (uint32_t)c;
        c = (c >> 32) & 1;
    }
    const uint32_t borrow = 0u - (uint32_t)c;
    c = 0;
    for (int i = 0; i < n; i++) {
        c += (uint64_t)r.limb[i] + (twice_modulus(i) & borrow);
        r.limb[i] = (uint32_t)c;
        c >>= 32;
    }
#endif
    return r;
}

// x * c below 2 m, for x below 2 m and c below m. The order matters: what is kept between the rows of the product is below c + m.
PM_HD Fr lazy_product(const Fr& x, const Fr& c) { return Fr::product_unreduced(c, x); }

}  // namespace pm::ntt
