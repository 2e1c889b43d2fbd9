// Fp2 = Fp[u] / (u^2 + 1), the field of G2's coordinates.
#pragma once

#include "field/fp.h"

namespace pm {

struct Fp2 {
    Fp c0, c1;

    static PM_HD Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
    static PM_HD Fp2 one() { return {Fp::one(), Fp::zero()}; }
    PM_HD bool is_zero() const { return c0.is_zero() && c1.is_zero(); }

    friend PM_HD bool operator==(const Fp2& a, const Fp2& b) { return a.c0 == b.c0 && a.c1 == b.c1; }
    friend PM_HD bool operator!=(const Fp2& a, const Fp2& b) { return !(a == b); }
    friend PM_HD Fp2 operator+(const Fp2& a, const Fp2& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
    friend PM_HD Fp2 operator-(const Fp2& a, const Fp2& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
    PM_HD Fp2 negated() const { return {c0.negated(), c1.negated()}; }
    PM_HD Fp2 doubled() const { return {c0.doubled(), c1.doubled()}; }

    PM_HD void negate_if(bool condition)
    {
        c0.negate_if(condition);
        c1.negate_if(condition);
    }

    // Karatsuba: three products. Products of Fp are calls here: inlined, one point addition alone would
    // fill the instruction cache.
    friend PM_HD Fp2 operator*(const Fp2& a, const Fp2& b)
    {
        const Fp low = product(a.c0, b.c0);
        const Fp high = product(a.c1, b.c1);
        const Fp cross = product(Fp::sum_unreduced(a.c0, a.c1), Fp::sum_unreduced(b.c0, b.c1));
        return {low - high, cross - low - high};
    }

    // (c0 + c1)(c0 - c1) and 2 c0 c1: two products.
    PM_HD Fp2 squared() const
    {
        const Fp cross = product(c0, c1);
        return {product(Fp::sum_unreduced(c0, c1), Fp::difference_unreduced(c0, c1)), cross.doubled()};
    }

    // See Montgomery; here they are the reduced operations.
    static PM_HD Fp2 product_unreduced(const Fp2& a, const Fp2& b) { return a * b; }
    static PM_HD Fp2 difference_unreduced(const Fp2& a, const Fp2& b) { return a - b; }
    PM_HD void negate_unreduced_if(bool condition) { negate_if(condition); }
    PM_HD void reduce_once() {}

private:
    static PM_HD_NOINLINE Fp product(Fp a, Fp b) { return a * b; }
};
static_assert(sizeof(Fp2) == 96, "an Fp2 element is 96 bytes in memory and across the ABI");

}  // namespace pm
