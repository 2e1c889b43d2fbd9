// The device's arithmetic against the host's, which host_field.cpp holds against integers of any size.
#include "check.h"
#include "curve/generator.h"
#include "curve/scalar.h"
#include "field/inverse.h"
#include "points.h"

using namespace pm;
using namespace pm::test;

template <class F>
struct Results {
    F sum, difference, product, square, negative, inverted;
};

template <class F>
__host__ __device__ Results<F> compute(const F& a, const F& b)
{
    return {a + b, a - b, a * b, a.squared(), a.negated(), inverse(a)};
}

template <class F>
__global__ void kernel(const F* a, const F* b, Results<F>* r, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = compute(a[i], b[i]);
}

template <class F>
F random_of(std::mt19937_64& g)
{
    return random_element<F>(g);
}

template <>
Fp2 random_of<Fp2>(std::mt19937_64& g)
{
    return {random_element<Fp>(g), random_element<Fp>(g)};
}

template <class F>
static void test_field(const char* name, std::mt19937_64& g)
{
    const int n = 20000;
    std::vector<F> a, b;
    for (int i = 0; i < n; i++) {
        a.push_back(random_of<F>(g));
        b.push_back(i % 16 ? random_of<F>(g) : a.back());
    }
    Device<F> da(a), db(b);
    Device<Results<F>> dr(n);
    kernel<F><<<(n + 127) / 128, 128>>>(da.get(), db.get(), dr.get(), n);
    PM_LAUNCHED("field");
    const auto r = dr.host();
    for (int i = 0; i < n; i++) {
        const Results<F> want = compute(a[i], b[i]);
        CHECK(r[i].sum == want.sum, "%s sum", name);
        CHECK(r[i].difference == want.difference, "%s difference", name);
        CHECK(r[i].product == want.product, "%s product", name);
        CHECK(r[i].square == want.square, "%s square", name);
        CHECK(r[i].negative == want.negative, "%s negative", name);
        CHECK(r[i].inverted == want.inverted, "%s inverse", name);
    }
}

template <class F>
__global__ void law_kernel(const Affine<F>* a, const Affine<F>* b, Affine<F>* r, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Xyzz<F> x = Xyzz<F>::from(a[i]);
    x.add(b[i]);
    Xyzz<F> y = Xyzz<F>::from(a[i]).doubled();
    y.add(Xyzz<F>::from(b[i]).doubled());
    x.add(y);  // 3 (a + b)
    r[i] = x.to_affine();
}

template <class F>
static void test_curve(const char* name, std::mt19937_64& g)
{
    const Affine<F> base = generator<F>();
    std::vector<Affine<F>> a, b, want;
    for (int i = 0; i < 64; i++) {
        const Fr e = Logarithms::random(g), f = i % 4 == 0 ? e : i % 4 == 1 ? e.negated() : Logarithms::random(g);
        const Fr x = i % 8 == 2 ? Fr::zero() : e, y = i % 16 == 3 ? Fr::zero() : f;
        a.push_back(power(base, x));
        b.push_back(power(base, y));
        want.push_back(power(base, (x + y).doubled() + x + y));
    }
    Device<Affine<F>> da(a), db(b), dr(a.size());
    law_kernel<F><<<2, 32>>>(da.get(), db.get(), dr.get(), 64);
    PM_LAUNCHED("group law");
    const auto r = dr.host();
    for (size_t i = 0; i < r.size(); i++) CHECK(r[i] == want[i], "%s case %zu", name, i);
}

int main()
{
    std::mt19937_64 g(seed());
    try {
        test_field<Fr>("Fr", g);
        test_field<Fp>("Fp", g);
        test_field<Fp2>("Fp2", g);
        test_curve<Fp>("G1", g);
        test_curve<Fp2>("G2", g);
    } catch (const std::exception& e) {
        std::printf("device field: %s\n", e.what());
        return 1;
    }
    return finish("device field");
}
