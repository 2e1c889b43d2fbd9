// Inversion by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular
// inversion", 2019, with half-integer delta): batches of 30 steps on single words, then one update
// of the long integers. All lanes of a warp take the same path, unlike in a binary gcd, and the
// whole costs about as much as 40 multiplications, where Fermat's power takes 450.
#pragma once

#include "field/fp2.h"
#include "field/fr.h"

namespace pm {

namespace inversion {

constexpr int word_bits = 30;
constexpr int32_t word_mask = (1 << word_bits) - 1;

// f and g after 30 steps are (u f + v g, q f + r g) / 2^30.
struct Matrix {
    int32_t u, v, q, r;
};

// delta is theta + 1/2.
PM_HD int32_t divide_steps(int32_t theta, uint32_t f, uint32_t g, Matrix& t)
{
    uint32_t u = 1, v = 0, q = 0, r = 1;
    PM_UNROLL
    for (int i = 0; i < word_bits; i++) {
        const bool odd = (g & 1) != 0;
        const bool swap = odd && theta >= 0;
        const uint32_t f0 = f, u0 = u, v0 = v;
        theta = swap ? -theta : theta + 1;
        f = swap ? g : f;
        u = swap ? q : u;
        v = swap ? r : v;
        g = swap ? 0u - f0 : g;
        q = swap ? 0u - u0 : q;
        r = swap ? 0u - v0 : r;
        g += odd ? f : 0u;
        q += odd ? u : 0u;
        r += odd ? v : 0u;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    t = {(int32_t)u, (int32_t)v, (int32_t)q, (int32_t)r};
    return theta;
}

template <int L>
PM_HD void update_gcd(int32_t* f, int32_t* g, const Matrix& t)
{
    int64_t cf = (int64_t)t.u * f[0] + (int64_t)t.v * g[0];
    int64_t cg = (int64_t)t.q * f[0] + (int64_t)t.r * g[0];
    cf >>= word_bits;  // exact
    cg >>= word_bits;
    PM_UNROLL
    for (int i = 1; i < L; i++) {
        cf += (int64_t)t.u * f[i] + (int64_t)t.v * g[i];
        cg += (int64_t)t.q * f[i] + (int64_t)t.r * g[i];
        f[i - 1] = (int32_t)cf & word_mask;
        g[i - 1] = (int32_t)cg & word_mask;
        cf >>= word_bits;
        cg >>= word_bits;
    }
    f[L - 1] = (int32_t)cf;
    g[L - 1] = (int32_t)cg;
}

// Word i of the modulus in base 2^30.
template <class P>
PM_HD int32_t modulus_word(int i)
{
    const int bit = i * word_bits;
    const int low = bit / 32;
    if (low >= P::N) return 0;
    uint64_t two = P::modulus(low);
    if (low + 1 < P::N) two |= (uint64_t)P::modulus(low + 1) << 32;
    return (int32_t)((two >> (bit % 32)) & (uint32_t)word_mask);
}

// d and e, in (-2m, m), get the matrix applied modulo m, and stay in that range.
template <class P, int L>
PM_HD void update_coefficients(int32_t* d, int32_t* e, const Matrix& t)
{
    const int32_t d_negative = d[L - 1] >> 31;
    const int32_t e_negative = e[L - 1] >> 31;
    int32_t md = (t.u & d_negative) + (t.v & e_negative);
    int32_t me = (t.q & d_negative) + (t.r & e_negative);
    int64_t cd = (int64_t)t.u * d[0] + (int64_t)t.v * e[0];
    int64_t ce = (int64_t)t.q * d[0] + (int64_t)t.r * e[0];
    // The multiple of m that clears the low word.
    md -= (int32_t)((P::inverse30 * (uint32_t)cd + (uint32_t)md) & (uint32_t)word_mask);
    me -= (int32_t)((P::inverse30 * (uint32_t)ce + (uint32_t)me) & (uint32_t)word_mask);
    cd += (int64_t)modulus_word<P>(0) * md;
    ce += (int64_t)modulus_word<P>(0) * me;
    cd >>= word_bits;  // exact
    ce >>= word_bits;
    PM_UNROLL
    for (int i = 1; i < L; i++) {
        cd += (int64_t)t.u * d[i] + (int64_t)t.v * e[i] + (int64_t)modulus_word<P>(i) * md;
        ce += (int64_t)t.q * d[i] + (int64_t)t.r * e[i] + (int64_t)modulus_word<P>(i) * me;
        d[i - 1] = (int32_t)cd & word_mask;
        e[i - 1] = (int32_t)ce & word_mask;
        cd >>= word_bits;
        ce >>= word_bits;
    }
    d[L - 1] = (int32_t)cd;
    e[L - 1] = (int32_t)ce;
}

// Adds the modulus where add holds, negates where negate holds, and carries.
template <class P, int L>
PM_HD void adjust(int32_t* d, bool add, bool negate)
{
    int32_t c = 0;
    PM_UNROLL
    for (int i = 0; i < L; i++) {
        int32_t w = d[i] + (add ? modulus_word<P>(i) : 0);
        w = negate ? -w : w;
        c += w;
        if (i < L - 1) {
            d[i] = c & word_mask;
            c >>= word_bits;
        } else {
            d[i] = c;
        }
    }
}

}  // namespace inversion

// 1 / a in the Montgomery domain; zero for zero.
template <class P>
PM_HD_NOINLINE Montgomery<P> inverse(const Montgomery<P>& a)
{
    using namespace inversion;
    constexpr int L = (P::bits + word_bits) / word_bits;
    constexpr int batches = ((45907 * P::bits + 26313) / 19929 + word_bits) / word_bits;
    int32_t d[L], e[L], f[L], g[L];
    PM_UNROLL
    for (int i = 0; i < L; i++) {
        const int bit = i * word_bits;
        const int low = bit / 32;
        uint64_t two = low < P::N ? a.limb[low] : 0;
        if (low + 1 < P::N) two |= (uint64_t)a.limb[low + 1] << 32;
        g[i] = (int32_t)((two >> (bit % 32)) & (uint32_t)word_mask);
        f[i] = modulus_word<P>(i);
        d[i] = 0;
        e[i] = i == 0 ? 1 : 0;
    }
    int32_t theta = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = 0; i < batches; i++) {
        Matrix t;
        theta = divide_steps(theta, (uint32_t)f[0] | (uint32_t)f[1] << word_bits, (uint32_t)g[0] | (uint32_t)g[1] << word_bits, t);
        update_gcd<L>(f, g, t);
        update_coefficients<P, L>(d, e, t);
    }
    // f is 1 or -1 now: d times f is the inverse, brought from (-2m, m) to [0, m).
    adjust<P, L>(d, d[L - 1] < 0, f[L - 1] < 0);
    adjust<P, L>(d, d[L - 1] < 0, false);
    Montgomery<P> r, r3;
    PM_UNROLL
    for (int i = 0; i < P::N; i++) {
        const int word = 32 * i / word_bits;
        const int shift = 32 * i % word_bits;
        uint64_t w = (uint64_t)(uint32_t)d[word] >> shift;
        if (word + 1 < L) w |= (uint64_t)(uint32_t)d[word + 1] << (word_bits - shift);
        if (word + 2 < L) w |= (uint64_t)(uint32_t)d[word + 2] << (2 * word_bits - shift);
        r.limb[i] = (uint32_t)w;
        r3.limb[i] = P::r3(i);
    }
    // From 1 / (a R) to R / a.
    return r * r3;
}

// 1 / (c0 + c1 u) = (c0 - c1 u) / (c0^2 + c1^2).
PM_HD Fp2 inverse(const Fp2& a)
{
    const Fp n = inverse(a.c0.squared() + a.c1.squared());
    return {a.c0 * n, (a.c1 * n).negated()};
}

}  // namespace pm
