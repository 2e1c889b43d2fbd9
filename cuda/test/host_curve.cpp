// The group law, compiled for the host: on the curve, of the right order, and the same by both formulas.
#include "check.h"
#include "curve/generator.h"
#include "curve/scalar.h"

using namespace pm;
using namespace pm::test;

static Fp small(uint32_t v)
{
    Fp r = Fp::zero();
    r.limb[0] = v;
    return Fp::from_plain(r);
}

static Fp curve_b(const Fp&) { return small(4); }
static Fp2 curve_b(const Fp2&) { return {small(4), small(4)}; }

template <class F>
static bool on_curve(const Affine<F>& p)
{
    return p.is_infinity() || p.y.squared() == p.x.squared() * p.x + curve_b(p.x);
}

template <class F>
static Affine<F> add_affine(const Affine<F>& a, const Affine<F>& b)
{
    const AddCase c = classify(a, b);
    return add_with_inverse(c, a, b, inverse(denominator(c, a, b)));
}

template <class F>
static void test_group(const char* name, std::mt19937_64& g)
{
    using A = Affine<F>;
    const A base = generator<F>();
    CHECK(on_curve(base), "%s generator", name);
    uint32_t order[8];
    for (int i = 0; i < 8; i++) order[i] = FrParams::modulus(i);
    CHECK(multiply(base, order, 8).is_infinity(), "%s order", name);
    auto random_point = [&] {
        const Fr k = random_element<Fr>(g);
        return multiply(base, k.limb, 8).to_affine();
    };
    for (int k = 0; k < 60; k++) {
        const A p = random_point(), q = random_point(), o = A::infinity();
        const A minus = {p.x, p.y.negated()};
        for (const A& a : {p, q, minus, o}) {
            CHECK(on_curve(a), "%s point", name);
            for (const A& b : {p, q, minus, o}) {
                const A sum = add_affine(a, b);
                CHECK(on_curve(sum), "%s sum on the curve", name);
                CHECK(sum == add_affine(b, a), "%s commutes", name);
                Xyzz<F> x = Xyzz<F>::from(a);
                x.add(b);
                CHECK(x.to_affine() == sum, "%s mixed addition", name);
                // Spread over other coordinates: 2 a + 2 b against 2 (a + b), through full additions.
                Xyzz<F> y = Xyzz<F>::from(a).doubled();
                y.add(Xyzz<F>::from(b).doubled());
                CHECK(y.to_affine() == Xyzz<F>::from(sum).doubled().to_affine(), "%s full addition", name);
            }
        }
        // (p + q) + q = p + 2 q
        CHECK(add_affine(add_affine(p, q), q) == add_affine(p, add_affine(q, q)), "%s associates", name);
    }
    const Fr a = random_element<Fr>(g), b = random_element<Fr>(g);
    const Fr sum = a + b;
    CHECK(add_affine(multiply(base, a.limb, 8).to_affine(), multiply(base, b.limb, 8).to_affine()) ==
              multiply(base, sum.limb, 8).to_affine(), "%s scalars add", name);
}

int main()
{
    std::mt19937_64 g(seed());
    test_group<Fp>("G1", g);
    test_group<Fp2>("G2", g);
    return finish("curve");
}
