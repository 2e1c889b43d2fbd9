// The transforms, thread by thread on the host, against sums of powers and against each other.
#include <vector>

#include "check.h"
#include "host_executor.h"

using namespace pm;
using namespace pm::ntt;
using namespace pm::test;

static std::vector<Fr> random_values(int log_n, std::mt19937_64& g)
{
    std::vector<Fr> v((size_t)1 << log_n);
    for (auto& x : v) x = random_element<Fr>(g);
    return v;
}

// f(x) by Horner's rule.
static Fr evaluate(const std::vector<Fr>& f, const Fr& x)
{
    Fr r = Fr::zero();
    for (size_t i = f.size(); i-- > 0;) r = r * x + f[i];
    return r;
}

// The same residue, now and then above m.
static Fr unreduced(Fr x, std::mt19937_64& g)
{
    if (g() & 1) return x;
    uint64_t c = 0;
    for (int i = 0; i < Fr::N; i++) {
        c += (uint64_t)x.limb[i] + FrParams::modulus(i);
        x.limb[i] = (uint32_t)c;
        c >>= 32;
    }
    return x;
}

static void test_dfts(std::mt19937_64& g)
{
    const Roots8 w = roots8();
    const Fr root = root_of_unity(3);
    for (int k = 0; k < 100; k++) {
        Fr x[8], y[8];
        for (auto& e : x) e = random_element<Fr>(g);
        for (int b = 1; b <= 3; b++) {
            const int size = 1 << b;
            for (int from = 0; from < 8; from += size)
                for (int i = 0; i < size; i++) {
                    Fr sum = Fr::zero();
                    for (int j = 0; j < size; j++) sum = sum + x[from + j] * Powers::of(root).at((uint64_t)(i * j * (8 / size)));
                    y[from + (int)reverse_bits((uint32_t)i, b)] = sum;
                }
            Fr z[8];
            for (int i = 0; i < 8; i++) z[i] = unreduced(x[i], g);
            if (b == 1) dfts_to_reversed<1>(z, w);
            if (b == 2) dfts_to_reversed<2>(z, w);
            if (b == 3) dfts_to_reversed<3>(z, w);
            for (auto& e : z) e.reduce_once();
            for (int i = 0; i < 8; i++) CHECK(z[i] == y[i], "to reversed, %d bits, %d", b, i);
            for (int i = 0; i < 8; i++) z[(i & ~(size - 1)) + (int)reverse_bits((uint32_t)(i & (size - 1)), b)] = unreduced(x[i], g);
            if (b == 1) dfts_from_reversed<1>(z, w);
            if (b == 2) dfts_from_reversed<2>(z, w);
            if (b == 3) dfts_from_reversed<3>(z, w);
            for (auto& e : z) e.reduce_once();
            for (int i = 0; i < 8; i++) CHECK(z[i] == y[(i & ~(size - 1)) + (int)reverse_bits((uint32_t)(i & (size - 1)), b)], "from reversed, %d bits", b);
        }
    }
}

static void test_domain(int log_n, std::mt19937_64& g)
{
    const size_t n = (size_t)1 << log_n;
    HostExecutor host;
    std::vector<Fr> tables(Transforms<HostExecutor>::table_elements(log_n) + 1);
    Transforms<HostExecutor> t(log_n, tables.data(), host);
    t.fill_tables(tables.data());
    const Fr w = root_of_unity(log_n);
    const Powers roots = Powers::of(w);

    // Values of a polynomial: at some points by Horner's rule, at all by the other direction.
    const std::vector<Fr> f = random_values(log_n, g);
    std::vector<Fr> values(n);
    t.to_reversed(Kind::plain, f.data(), nullptr, false, nullptr, values.data());
    for (int k = 0; k < 4; k++) {
        const uint64_t i = g() % n;
        CHECK(values[stages::reversed(i, log_n)] == evaluate(f, roots.at(i)), "log_n %d, value %llu", log_n, (unsigned long long)i);
    }
    std::vector<Fr> back(n);
    for (size_t i = 0; i < n; i++) back[stages::reversed(i, log_n)] = f[i];
    t.from_reversed(back.data());
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += back[i] != values[stages::reversed(i, log_n)];
    CHECK(wrong == 0, "log_n %d, %zu values differ between the directions", log_n, wrong);

    // The quotient: with z outside the domain, A(z) B(z) - C(z) = h(z) (z^n - 1), where C interpolates A B.
    std::vector<Fr> a = random_values(log_n, g), b = random_values(log_n, g), c(n);
    const std::vector<Fr> a0 = a, b0 = b;
    t.quotient(a.data(), b.data(), c.data());
    std::vector<Fr> h(n);
    for (size_t i = 0; i < n; i++) h[i] = a[stages::reversed(i, log_n)];
    CHECK(n == 1 || h[n - 1].is_zero(), "log_n %d: the quotient's last coefficient", log_n);
    const Fr z = random_element<Fr>(g) + small(12345);
    // Values at z from values on the domain: sum v_i L_i(z), L_i(z) = w^i (z^n - 1) / (n (z - w^i)).
    Fr zn = z;
    for (int i = 0; i < log_n; i++) zn = zn.squared();
    const Fr vanishing = zn - Fr::one();
    Fr n_inverse = Fr::one();
    for (int i = 0; i < log_n; i++) n_inverse = n_inverse * inverse(small(2));
    std::vector<Fr> products(n);  // of z - w^j, j < i: one inversion for all
    Fr az = Fr::zero(), bz = Fr::zero(), cz = Fr::zero(), x = Fr::one(), product = Fr::one();
    for (size_t i = 0; i < n; i++) {
        products[i] = product;
        product = product * (z - x);
        x = x * w;
    }
    Fr rest = inverse(product);
    const Fr w_inverse = inverse(w);
    for (size_t i = n; i-- > 0;) {
        x = x * w_inverse;
        const Fr l = x * (products[i] * rest);
        rest = rest * (z - x);
        az = az + a0[i] * l;
        bz = bz + b0[i] * l;
        cz = cz + a0[i] * b0[i] * l;
    }
    const Fr s = vanishing * n_inverse;
    CHECK(az * s * (bz * s) - cz * s == evaluate(h, z) * vanishing, "log_n %d: the quotient's value", log_n);
}

int main()
{
    std::mt19937_64 g(seed());
    const Fr w32 = root_of_unity(32);
    Fr one = w32;
    for (int i = 0; i < 31; i++) one = one.squared();
    CHECK(one != Fr::one() && one.squared() == Fr::one(), "order of the root");
    test_dfts(g);
    // Every width of a pass, two and three passes; 28 bits would be four of the same kind.
    for (int log_n : {0, 1, 2, 3, 5, 11, 12, 13, 14, 15, 16, 18, 19}) test_domain(log_n, g);
    return finish("ntt");
}
