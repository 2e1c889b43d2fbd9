// The field code, compiled for the host, against integers of any size.
#include "bignum.h"
#include "check.h"
#include "field/fp2.h"
#include "field/fr.h"
#include "field/inverse.h"

using namespace pm;
using namespace pm::test;

template <class F>
static Bignum modulus()
{
    Bignum m;
    for (int i = 0; i < F::N; i++) m.w.push_back(F::Params::modulus(i));
    return m;
}

template <class F>
static Bignum big(const F& a)
{
    return Bignum::from(a.limb, F::N);
}

// Fp has room above the modulus; Fr has not.
static void test_unreduced(std::mt19937_64& g)
{
    const Bignum m = modulus<Fp>(), m2 = m.plus(m);
    Bignum radix;
    radix.w.assign(Fp::N + 1, 0);
    radix.w[Fp::N] = 1;
    for (int k = 0; k < 2000; k++) {
        const Fp a = random_element<Fp>(g), b = random_element<Fp>(g), c = random_element<Fp>(g), d = random_element<Fp>(g);
        const Fp s = Fp::sum_unreduced(a, b), t = Fp::difference_unreduced(c, d);
        CHECK(big(s).compare(big(a).plus(big(b))) == 0, "sum");
        CHECK(big(t).compare(big(c).plus(m).minus(big(d))) == 0, "difference");
        const Fp p = Fp::product_unreduced(s, t), q = Fp::product_unreduced(p, t);
        CHECK(big(p).compare(m2) < 0 && big(q).compare(m2) < 0, "products stay below 2 m");
        CHECK(big(p).times(radix).mod(m).compare(big(s).times(big(t)).mod(m)) == 0, "product");
        CHECK(p.squared() == Fp::from_plain(Fp::one().to_plain()) * p * p, "square of an unreduced product");
        Fp n = a;
        n.negate_unreduced_if(true);
        CHECK(big(n).compare(m.minus(big(a))) == 0, "negative");
    }
}

template <class F>
static void test_field(const char* name, std::mt19937_64& g)
{
    const Bignum m = modulus<F>();
    Bignum radix;
    radix.w.assign(F::N + 1, 0);
    radix.w[F::N] = 1;
    CHECK(big(F::one()).compare(radix.mod(m)) == 0, "%s one", name);
    for (int k = 0; k < 2000; k++) {
        const F a = random_element<F>(g), b = random_element<F>(g);
        CHECK(big(a + b).compare(big(a).plus(big(b)).mod(m)) == 0, "%s sum", name);
        CHECK(big(a - b).compare(big(a).plus(m).minus(big(b)).mod(m)) == 0, "%s difference", name);
        CHECK(a.negated() + a == F::zero() && big(a.negated()).compare(m) < 0, "%s negative", name);
        const F c = a * b;
        CHECK(big(c).compare(m) < 0, "%s product is reduced", name);
        CHECK(big(c).times(radix).mod(m).compare(big(a).times(big(b)).mod(m)) == 0, "%s product", name);
        CHECK(a.squared() == a * a, "%s square", name);
        CHECK(F::from_plain(a).to_plain() == a, "%s round trip", name);
        CHECK(big(a.to_plain()).times(radix).mod(m).compare(big(a)) == 0, "%s plain", name);
    }
    for (int k = 0; k < 2000; k++) {
        const F a = random_element<F>(g);
        const F i = inverse(a);
        CHECK(big(i).compare(m) < 0, "%s inverse is reduced", name);
        CHECK(a.is_zero() ? i.is_zero() : a * i == F::one(), "%s inverse", name);
    }
}

static void test_fp2(std::mt19937_64& g)
{
    for (int k = 0; k < 1000; k++) {
        const Fp2 a = {random_element<Fp>(g), random_element<Fp>(g)};
        const Fp2 b = {random_element<Fp>(g), random_element<Fp>(g)};
        const Fp2 c = a * b;
        CHECK(c.c0 == a.c0 * b.c0 - a.c1 * b.c1, "real part");
        CHECK(c.c1 == a.c0 * b.c1 + a.c1 * b.c0, "imaginary part");
        CHECK(a.squared() == a * a, "square");
        if (!a.is_zero()) CHECK(a * inverse(a) == Fp2::one(), "inverse");
    }
}

int main()
{
    std::mt19937_64 g(seed());
    test_field<Fr>("Fr", g);
    test_field<Fp>("Fp", g);
    test_unreduced(g);
    test_fp2(g);
    return finish("field");
}
