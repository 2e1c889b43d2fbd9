// Montgomery arithmetic modulo an odd prime m of N 32-bit limbs, R = 2^(32 N), where the top bit of
// m's top limb is clear.
//
// An element holds a * R mod m in little-endian limbs, always reduced (below m). This is also the
// form of gnark-crypto and of Filecoin's parameter files after decoding, so elements cross the ABI
// unchanged. Nothing here is constant-time: the prover handles no secret that outlives a proof.
#pragma once

#include <cstring>

#include "field/carry.h"
#include "field/target.h"

namespace pm {

template <class P>
struct alignas(16) Montgomery {
    using Params = P;
    static constexpr int N = P::N;

    uint32_t limb[N];

    static PM_HD Montgomery zero()
    {
        Montgomery r;
        PM_UNROLL
        for (int i = 0; i < N; i++) r.limb[i] = 0;
        return r;
    }

    static PM_HD Montgomery one()
    {
        Montgomery r;
        PM_UNROLL
        for (int i = 0; i < N; i++) r.limb[i] = P::one(i);
        return r;
    }

    PM_HD bool is_zero() const
    {
        uint32_t any = 0;
        PM_UNROLL
        for (int i = 0; i < N; i++) any |= limb[i];
        return any == 0;
    }

    friend PM_HD bool operator==(const Montgomery& a, const Montgomery& b)
    {
        uint32_t any = 0;
        PM_UNROLL
        for (int i = 0; i < N; i++) any |= a.limb[i] ^ b.limb[i];
        return any == 0;
    }

    friend PM_HD bool operator!=(const Montgomery& a, const Montgomery& b) { return !(a == b); }

    friend PM_HD Montgomery operator+(const Montgomery& a, const Montgomery& b)
    {
        Montgomery r = sum_unreduced(a, b);
        r.reduce_once();
        return r;
    }

    friend PM_HD Montgomery operator-(const Montgomery& a, const Montgomery& b)
    {
        Montgomery r;
#if defined(__CUDA_ARCH__)
        r.limb[0] = carry::sub_cc(a.limb[0], b.limb[0]);
        PM_UNROLL
        for (int i = 1; i < N; i++) r.limb[i] = carry::subc_cc(a.limb[i], b.limb[i]);
        uint32_t borrow = carry::subc(0, 0);
        r.limb[0] = carry::add_cc(r.limb[0], P::modulus(0) & borrow);
        PM_UNROLL
        for (int i = 1; i < N - 1; i++) r.limb[i] = carry::addc_cc(r.limb[i], P::modulus(i) & borrow);
        r.limb[N - 1] = carry::addc(r.limb[N - 1], P::modulus(N - 1) & borrow);
#else
        uint64_t c = 0;
        for (int i = 0; i < N; i++) {
            c = (uint64_t)a.limb[i] - b.limb[i] - c;
            r.limb[i] = (uint32_t)c;
            c = (c >> 32) & 1;
        }
        uint32_t mask = 0u - (uint32_t)c;
        c = 0;
        for (int i = 0; i < N; i++) {
            c += (uint64_t)r.limb[i] + (P::modulus(i) & mask);
            r.limb[i] = (uint32_t)c;
            c >>= 32;
        }
#endif
        return r;
    }

    PM_HD Montgomery negated() const
    {
        Montgomery r = *this;
        r.negate_if(true);
        return r;
    }

    // Replaces the element by its negative where the condition holds.
    PM_HD void negate_if(bool condition) { negate_unreduced_if(condition && !is_zero()); }

    PM_HD Montgomery doubled() const { return *this + *this; }

    friend PM_HD Montgomery operator*(const Montgomery& a, const Montgomery& b)
    {
        Montgomery r = product_unreduced(a, b);
        r.reduce_once();
        return r;
    }

    // The unreduced operations leave out the last subtraction where the next operation can do without.
    // m must be small against R: for Fp, R is 9.8 m, so factors up to 3 m are fine.

    // Below 2 m; needs a * b < m * R.
    static PM_HD Montgomery product_unreduced(const Montgomery& a, const Montgomery& b)
    {
#if defined(__CUDA_ARCH__)
        return multiply_device(a, b);
#else
        return multiply_host(a, b);
#endif
    }

    // a - b + m, above 0 and below 2 m; needs reduced operands, and 2 m < R.
    static PM_HD Montgomery difference_unreduced(const Montgomery& a, const Montgomery& b)
    {
        Montgomery r;
#if defined(__CUDA_ARCH__)
        r.limb[0] = carry::sub_cc(a.limb[0], b.limb[0]);
        PM_UNROLL
        for (int i = 1; i < N - 1; i++) r.limb[i] = carry::subc_cc(a.limb[i], b.limb[i]);
        r.limb[N - 1] = carry::subc(a.limb[N - 1], b.limb[N - 1]);
        r.limb[0] = carry::add_cc(r.limb[0], P::modulus(0));
        PM_UNROLL
        for (int i = 1; i < N - 1; i++) r.limb[i] = carry::addc_cc(r.limb[i], P::modulus(i));
        r.limb[N - 1] = carry::addc(r.limb[N - 1], P::modulus(N - 1));
#else
        int64_t c = 0;
        for (int i = 0; i < N; i++) {
            c += (int64_t)a.limb[i] - (int64_t)b.limb[i] + (int64_t)P::modulus(i);
            r.limb[i] = (uint32_t)c;
            c >>= 32;
        }
#endif
        return r;
    }

    // a + b, below 2 m for reduced operands; needs 2 m < R.
    static PM_HD Montgomery sum_unreduced(const Montgomery& a, const Montgomery& b)
    {
        Montgomery r;
#if defined(__CUDA_ARCH__)
        r.limb[0] = carry::add_cc(a.limb[0], b.limb[0]);
        PM_UNROLL
        for (int i = 1; i < N - 1; i++) r.limb[i] = carry::addc_cc(a.limb[i], b.limb[i]);
        r.limb[N - 1] = carry::addc(a.limb[N - 1], b.limb[N - 1]);
#else
        uint64_t c = 0;
        for (int i = 0; i < N; i++) {
            c += (uint64_t)a.limb[i] + b.limb[i];
            r.limb[i] = (uint32_t)c;
            c >>= 32;
        }
#endif
        return r;
    }

    // m - a where the condition holds: m itself for zero.
    PM_HD void negate_unreduced_if(bool condition)
    {
        Montgomery r;
#if defined(__CUDA_ARCH__)
        r.limb[0] = carry::sub_cc(P::modulus(0), limb[0]);
        PM_UNROLL
        for (int i = 1; i < N - 1; i++) r.limb[i] = carry::subc_cc(P::modulus(i), limb[i]);
        r.limb[N - 1] = carry::subc(P::modulus(N - 1), limb[N - 1]);
#else
        int64_t c = 0;
        for (int i = 0; i < N; i++) {
            c += (int64_t)P::modulus(i) - (int64_t)limb[i];
            r.limb[i] = (uint32_t)c;
            c >>= 32;
        }
#endif
        PM_UNROLL
        for (int i = 0; i < N; i++) limb[i] = condition ? r.limb[i] : limb[i];
    }

    PM_HD Montgomery squared() const
    {
#if defined(__CUDA_ARCH__)
        return square_device(*this);
#else
        return *this * *this;
#endif
    }

    // The plain integer, below m, in little-endian limbs.
    PM_HD Montgomery to_plain() const
    {
        Montgomery unit = zero();
        unit.limb[0] = 1;
        return *this * unit;
    }

    // From a plain integer below m.
    static PM_HD Montgomery from_plain(const Montgomery& plain)
    {
        Montgomery r2;
        PM_UNROLL
        for (int i = 0; i < N; i++) r2.limb[i] = P::r2(i);
        return plain * r2;
    }

    // Subtracts m if the value is not below it.
    PM_HD void reduce_once()
    {
        Montgomery r;
#if defined(__CUDA_ARCH__)
        r.limb[0] = carry::sub_cc(limb[0], P::modulus(0));
        PM_UNROLL
        for (int i = 1; i < N; i++) r.limb[i] = carry::subc_cc(limb[i], P::modulus(i));
        const bool below = carry::subc(0, 0) != 0;
#else
        uint64_t c = 0;
        for (int i = 0; i < N; i++) {
            c = (uint64_t)limb[i] - P::modulus(i) - c;
            r.limb[i] = (uint32_t)c;
            c = (c >> 32) & 1;
        }
        const bool below = c != 0;
#endif
        PM_UNROLL
        for (int i = 0; i < N; i++) limb[i] = below ? limb[i] : r.limb[i];
    }

private:
#if defined(__CUDACC__)
    // Row by row, the product and the reduction interleaved. Even and odd limbs of a row go to two
    // accumulators (even + 2^32 * odd), because a wide multiply-add needs an aligned pair of words.
    // Dividing by 2^32 after each row makes the two change roles.
    static __device__ __forceinline__ Montgomery multiply_device(const Montgomery& a, const Montgomery& b)
    {
        uint32_t even[N], odd[N];
        PM_UNROLL
        for (int j = 0; j < N; j += 2) {
            uint64_t e = (uint64_t)a.limb[j] * b.limb[0];
            uint64_t o = (uint64_t)a.limb[j + 1] * b.limb[0];
            even[j] = (uint32_t)e;
            even[j + 1] = (uint32_t)(e >> 32);
            odd[j] = (uint32_t)o;
            odd[j + 1] = (uint32_t)(o >> 32);
        }
        reduce_row(even, odd);
        PM_UNROLL
        for (int i = 1; i < N; i++) {
            if (i & 1) {
                multiply_row(odd, even, a, b.limb[i]);
                reduce_row(odd, even);
            } else {
                multiply_row(even, odd, a, b.limb[i]);
                reduce_row(even, odd);
            }
        }
        // N is even: the last row left its even part in odd, whose lowest word is zero.
        Montgomery r;
        r.limb[0] = carry::add_cc(even[0], odd[1]);
        PM_UNROLL
        for (int j = 1; j < N - 1; j++) r.limb[j] = carry::addc_cc(even[j], odd[j + 1]);
        r.limb[N - 1] = carry::addc(even[N - 1], 0);
        return r;
    }

    // Moves odd down by two words (its lowest word is zero, the next joins even) and adds a * b.
    static __device__ __forceinline__ void multiply_row(uint32_t* even, uint32_t* odd, const Montgomery& a, uint32_t b)
    {
        even[0] = carry::add_cc(even[0], odd[1]);
        PM_UNROLL
        for (int j = 0; j < N - 2; j += 2) {
            odd[j] = carry::madc_lo_cc(a.limb[j + 1], b, odd[j + 2]);
            odd[j + 1] = carry::madc_hi_cc(a.limb[j + 1], b, odd[j + 3]);
        }
        odd[N - 2] = carry::madc_lo_cc(a.limb[N - 1], b, 0);
        odd[N - 1] = carry::madc_hi(a.limb[N - 1], b, 0);
        even[0] = carry::mad_lo_cc(a.limb[0], b, even[0]);
        even[1] = carry::madc_hi_cc(a.limb[0], b, even[1]);
        PM_UNROLL
        for (int j = 2; j < N; j += 2) {
            even[j] = carry::madc_lo_cc(a.limb[j], b, even[j]);
            even[j + 1] = carry::madc_hi_cc(a.limb[j], b, even[j + 1]);
        }
        odd[N - 1] = carry::addc(odd[N - 1], 0);
    }

    // What times m, added, makes the lowest word zero.
    static __device__ __forceinline__ uint32_t quotient_digit(uint32_t lowest)
    {
        if (P::negated_inverse != 0xffffffffu) return lowest * P::negated_inverse;
        return carry::zero - lowest;
    }

    // Adds the multiple of m that makes the lowest word zero.
    static __device__ __forceinline__ void reduce_row(uint32_t* even, uint32_t* odd)
    {
        const uint32_t q = quotient_digit(even[0]);
        odd[0] = carry::mad_lo_cc(P::modulus(1), q, odd[0]);
        odd[1] = carry::madc_hi_cc(P::modulus(1), q, odd[1]);
        PM_UNROLL
        for (int j = 2; j < N - 2; j += 2) {
            odd[j] = carry::madc_lo_cc(P::modulus(j + 1), q, odd[j]);
            odd[j + 1] = carry::madc_hi_cc(P::modulus(j + 1), q, odd[j + 1]);
        }
        odd[N - 2] = carry::madc_lo_cc(P::modulus(N - 1), q, odd[N - 2]);
        odd[N - 1] = carry::madc_hi(P::modulus(N - 1), q, odd[N - 1]);
        if (P::modulus(0) == 1) {
            // q + even[0] is 2^32, or both are zero: one addition instead of a product.
            even[0] = carry::add_cc(even[0], q);
            even[1] = carry::addc_cc(even[1], 0);
        } else {
            even[0] = carry::mad_lo_cc(P::modulus(0), q, even[0]);
            even[1] = carry::madc_hi_cc(P::modulus(0), q, even[1]);
        }
        PM_UNROLL
        for (int j = 2; j < N; j += 2) {
            even[j] = carry::madc_lo_cc(P::modulus(j), q, even[j]);
            even[j + 1] = carry::madc_hi_cc(P::modulus(j), q, even[j + 1]);
        }
        odd[N - 1] = carry::addc(odd[N - 1], 0);
    }

    // The products of different limbs once, doubled, then the squares of the limbs; then the reduction
    // of the low half. Saves a quarter of the wide multiplies.
    static __device__ __forceinline__ Montgomery square_device(const Montgomery& a)
    {
        uint32_t t[2 * N], odd[2 * N];  // pairs at even and at odd word positions
        PM_UNROLL
        for (int k = 0; k < 2 * N; k++) t[k] = odd[k] = 0;
        PM_UNROLL
        for (int i = 0; i < N - 1; i++) {
            square_row(odd, a, i, i + 1);
            if (i + 2 < N) square_row(t, a, i, i + 2);
        }
        t[1] = odd[1];
        t[2] = carry::add_cc(t[2], odd[2]);
        PM_UNROLL
        for (int k = 3; k < 2 * N - 1; k++) t[k] = carry::addc_cc(t[k], odd[k]);
        t[2 * N - 1] = carry::addc(t[2 * N - 1], odd[2 * N - 1]);
        PM_UNROLL
        for (int k = 2 * N - 1; k > 0; k--) t[k] = __funnelshift_l(t[k - 1], t[k], 1);
        t[0] = carry::mad_lo_cc(a.limb[0], a.limb[0], 0);
        t[1] = carry::madc_hi_cc(a.limb[0], a.limb[0], t[1]);
        PM_UNROLL
        for (int i = 1; i < N; i++) {
            t[2 * i] = carry::madc_lo_cc(a.limb[i], a.limb[i], t[2 * i]);
            if (i < N - 1)
                t[2 * i + 1] = carry::madc_hi_cc(a.limb[i], a.limb[i], t[2 * i + 1]);
            else
                t[2 * i + 1] = carry::madc_hi(a.limb[i], a.limb[i], t[2 * i + 1]);
        }
        PM_UNROLL
        for (int j = 0; j < N; j++) odd[j] = 0;
        reduce_row(t, odd);
        PM_UNROLL
        for (int i = 1; i < N; i++) {
            if (i & 1)
                shift_and_reduce_row(odd, t);
            else
                shift_and_reduce_row(t, odd);
        }
        Montgomery r;
        r.limb[0] = carry::add_cc(t[0], odd[1]);
        PM_UNROLL
        for (int j = 1; j < N - 1; j++) r.limb[j] = carry::addc_cc(t[j], odd[j + 1]);
        r.limb[N - 1] = carry::addc(t[N - 1], 0);
        r.limb[0] = carry::add_cc(r.limb[0], t[N]);
        PM_UNROLL
        for (int j = 1; j < N - 1; j++) r.limb[j] = carry::addc_cc(r.limb[j], t[N + j]);
        r.limb[N - 1] = carry::addc(r.limb[N - 1], t[2 * N - 1]);
        r.reduce_once();
        return r;
    }

    // Adds limb i times the limbs from, from + 2, ...; the carry goes to the word above, free so far.
    static __device__ __forceinline__ void square_row(uint32_t* t, const Montgomery& a, int i, int from)
    {
        t[i + from] = carry::mad_lo_cc(a.limb[i], a.limb[from], t[i + from]);
        t[i + from + 1] = carry::madc_hi_cc(a.limb[i], a.limb[from], t[i + from + 1]);
        int j = from + 2;
        PM_UNROLL
        for (; j < N; j += 2) {
            t[i + j] = carry::madc_lo_cc(a.limb[i], a.limb[j], t[i + j]);
            t[i + j + 1] = carry::madc_hi_cc(a.limb[i], a.limb[j], t[i + j + 1]);
        }
        if (i + j < 2 * N) t[i + j] = carry::addc(t[i + j], 0);
    }

    // multiply_row without a product, and reduce_row, in one pass.
    static __device__ __forceinline__ void shift_and_reduce_row(uint32_t* even, uint32_t* odd)
    {
        const uint32_t lowest = even[0] + odd[1];
        const uint32_t q = quotient_digit(lowest);
        even[0] = carry::add_cc(even[0], odd[1]);
        PM_UNROLL
        for (int j = 0; j < N - 2; j += 2) {
            odd[j] = carry::madc_lo_cc(P::modulus(j + 1), q, odd[j + 2]);
            odd[j + 1] = carry::madc_hi_cc(P::modulus(j + 1), q, odd[j + 3]);
        }
        odd[N - 2] = carry::madc_lo_cc(P::modulus(N - 1), q, 0);
        odd[N - 1] = carry::madc_hi(P::modulus(N - 1), q, 0);
        if (P::modulus(0) == 1) {
            even[0] = carry::add_cc(even[0], q);
            even[1] = carry::addc_cc(even[1], 0);
        } else {
            even[0] = carry::mad_lo_cc(P::modulus(0), q, even[0]);
            even[1] = carry::madc_hi_cc(P::modulus(0), q, even[1]);
        }
        PM_UNROLL
        for (int j = 2; j < N; j += 2) {
            even[j] = carry::madc_lo_cc(P::modulus(j), q, even[j]);
            even[j + 1] = carry::madc_hi_cc(P::modulus(j), q, even[j + 1]);
        }
        odd[N - 1] = carry::addc(odd[N - 1], 0);
    }
#endif

    // The same with 64-bit limbs.
    static inline Montgomery multiply_host(const Montgomery& a, const Montgomery& b)
    {
        constexpr int W = N / 2;
        uint64_t x[W], y[W], m[W], t[W + 1] = {};
        std::memcpy(x, a.limb, sizeof x);
        std::memcpy(y, b.limb, sizeof y);
        for (int i = 0; i < W; i++) m[i] = P::modulus(2 * i) | (uint64_t)P::modulus(2 * i + 1) << 32;
        for (int i = 0; i < W; i++) {
            unsigned __int128 c = 0;
            for (int j = 0; j < W; j++) {
                c += (unsigned __int128)x[j] * y[i] + t[j];
                t[j] = (uint64_t)c;
                c >>= 64;
            }
            t[W] += (uint64_t)c;
            const uint64_t q = t[0] * P::negated_inverse64;
            c = (unsigned __int128)m[0] * q + t[0];
            c >>= 64;
            for (int j = 1; j < W; j++) {
                c += (unsigned __int128)m[j] * q + t[j];
                t[j - 1] = (uint64_t)c;
                c >>= 64;
            }
            c += t[W];
            t[W - 1] = (uint64_t)c;
            t[W] = (uint64_t)(c >> 64);
        }
        Montgomery r;
        std::memcpy(r.limb, t, sizeof r.limb);
        return r;
    }
};

}  // namespace pm
