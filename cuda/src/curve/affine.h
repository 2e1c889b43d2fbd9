// Points of y^2 = x^3 + b in affine coordinates. No formula needs b, so G1 (over Fp) and G2 (over
// Fp2) share the code. (0, 0) stands for the point at infinity, as in gnark-crypto.
#pragma once

#include "field/fp2.h"

namespace pm {

template <class F>
struct Affine {
    using Field = F;
    F x, y;

    static PM_HD Affine infinity() { return {F::zero(), F::zero()}; }
    PM_HD bool is_infinity() const { return x.is_zero() && y.is_zero(); }
    friend PM_HD bool operator==(const Affine& a, const Affine& b) { return a.x == b.x && a.y == b.y; }
};

using G1Affine = Affine<Fp>;
using G2Affine = Affine<Fp2>;
static_assert(sizeof(G1Affine) == 96 && sizeof(G2Affine) == 192, "points cross the ABI in this size");

// How two points add: which denominator the slope has, or that no slope is needed.
enum class AddCase : uint32_t {
    take_left,   // the right one is infinity
    take_right,  // the left one is infinity
    cancel,      // opposite points
    chord,       // slope (y2 - y1) / (x2 - x1)
    tangent,     // equal points: slope 3 x^2 / 2 y
};

// The case of left + right. A slope's denominator is never zero, as neither group has a point of order two.
template <class F>
PM_HD AddCase classify(const Affine<F>& left, const Affine<F>& right)
{
    if (left.is_infinity()) return AddCase::take_right;
    if (right.is_infinity()) return AddCase::take_left;
    if (left.x != right.x) return AddCase::chord;
    return left.y == right.y ? AddCase::tangent : AddCase::cancel;
}

template <class F>
PM_HD F denominator(AddCase c, const Affine<F>& left, const Affine<F>& right)
{
    if (c == AddCase::chord) return right.x - left.x;
    if (c == AddCase::tangent) return left.y.doubled();
    return F::one();
}

// left + right, given the inverse of their denominator.
template <class F>
PM_HD Affine<F> add_with_inverse(AddCase c, const Affine<F>& left, const Affine<F>& right, const F& inverse)
{
    if (c == AddCase::take_left) return left;
    if (c == AddCase::take_right) return right;
    if (c == AddCase::cancel) return Affine<F>::infinity();
    F numerator;
    if (c == AddCase::chord) {
        numerator = right.y - left.y;
    } else {
        const F square = left.x.squared();
        numerator = square.doubled() + square;
    }
    const F slope = numerator * inverse;
    Affine<F> sum;
    sum.x = slope.squared() - left.x - right.x;
    sum.y = slope * (left.x - sum.x) - left.y;
    return sum;
}

}  // namespace pm
