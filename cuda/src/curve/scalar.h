// Multiplication by a scalar, one bit at a time: the slow reference, and the last few doublings of a sum.
#pragma once

#include "curve/xyzz.h"
#include "field/fr.h"

namespace pm {

// k P for a plain (not Montgomery) little-endian integer of 32-bit words.
template <class F>
PM_HD Xyzz<F> multiply(const Affine<F>& p, const uint32_t* k, int words)
{
    Xyzz<F> r = Xyzz<F>::infinity();
    for (int i = 32 * words - 1; i >= 0; i--) {
        r = r.doubled();
        if ((k[i / 32] >> (i % 32)) & 1) r.add(p);
    }
    return r;
}

}  // namespace pm
