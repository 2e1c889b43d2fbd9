// Points as (X, Y, ZZ, ZZZ): x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; infinity has ZZ = 0.
// Formulas: the Explicit-Formulas Database, short Weierstrass curves, xyzz coordinates, a = 0.
// For single sums and short tails; bulk additions are affine and share inversions (msm/batch_add.cuh).
#pragma once

#include "curve/affine.h"
#include "field/inverse.h"

namespace pm {

template <class F>
struct Xyzz {
    F x, y, zz, zzz;

    static PM_HD Xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
    PM_HD bool is_infinity() const { return zz.is_zero(); }

    static PM_HD Xyzz from(const Affine<F>& p)
    {
        if (p.is_infinity()) return infinity();
        return {p.x, p.y, F::one(), F::one()};
    }

    PM_HD_NOINLINE Xyzz doubled() const
    {
        if (is_infinity()) return *this;
        const F u = y.doubled();
        const F v = u.squared();
        const F w = u * v;
        const F s = x * v;
        const F xx = x.squared();
        const F m = xx.doubled() + xx;
        Xyzz r;
        r.x = m.squared() - s.doubled();
        r.y = m * (s - r.x) - w * y;
        r.zz = v * zz;
        r.zzz = w * zzz;
        return r;
    }

    PM_HD void add(const Affine<F>& b)
    {
        if (b.is_infinity()) return;
        if (is_infinity()) {
            *this = from(b);
            return;
        }
        const F p = b.x * zz - x;
        const F r = b.y * zzz - y;
        if (p.is_zero()) {
            *this = r.is_zero() ? doubled() : infinity();
            return;
        }
        const F pp = p.squared();
        const F ppp = p * pp;
        const F q = x * pp;
        x = r.squared() - ppp - q.doubled();
        y = r * (q - x) - y * ppp;
        zz = zz * pp;
        zzz = zzz * ppp;
    }

    PM_HD void add(const Xyzz& b)
    {
        if (b.is_infinity()) return;
        if (is_infinity()) {
            *this = b;
            return;
        }
        const F u1 = x * b.zz;
        const F s1 = y * b.zzz;
        const F p = b.x * zz - u1;
        const F r = b.y * zzz - s1;
        if (p.is_zero()) {
            *this = r.is_zero() ? doubled() : infinity();
            return;
        }
        const F pp = p.squared();
        const F ppp = p * pp;
        const F q = u1 * pp;
        x = r.squared() - ppp - q.doubled();
        y = r * (q - x) - s1 * ppp;
        zz = zz * b.zz * pp;
        zzz = zzz * b.zzz * ppp;
    }

    PM_HD Affine<F> to_affine() const
    {
        if (is_infinity()) return Affine<F>::infinity();
        // 1 / ZZ = (ZZ / ZZZ)^2, so one inversion is enough.
        const F i = inverse(zzz);
        const F z = zz * i;
        return {x * z.squared(), y * i};
    }
};

}  // namespace pm
