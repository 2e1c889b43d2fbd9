// Sums against discrete logarithms: odd sizes, odd scalars, equal, opposite and missing points.
#include <cstring>

#include "check.h"
#include "curve/generator.h"
#include "msm/msm.h"
#include "points.h"

using namespace pm;
using namespace pm::test;

static int multiprocessors;

static const Lanes& lanes()
{
    static const Lanes l(nullptr);
    return l;
}

enum class Scalars { uniform, zero, one, equal, minus_one, small, half_zero };
enum class Points { distinct, equal, opposite, holes };

static const char* name(Scalars s)
{
    static const char* n[] = {"uniform", "zero", "one", "equal", "minus one", "small", "half zero"};
    return n[(int)s];
}

static const char* name(Points p)
{
    static const char* n[] = {"distinct", "equal", "opposite", "holes"};
    return n[(int)p];
}

template <class F>
struct Table {
    Logarithms logs;
    std::vector<Affine<F>> points;

    Table(std::mt19937_64& g, int bits) : logs(g, bits)
    {
        Device<Affine<F>> d((size_t)1 << bits);
        make_table(d.get(), logs, 0, multiprocessors);
        points = d.host();
        for (uint32_t i : {0u, 1u, (1u << bits) - 1, (uint32_t)(g() >> (64 - bits))})
            CHECK(points[i] == power(generator<F>(), logs.of(i)), "table entry %u", i);
    }
};

template <class F>
static void test_case(const Table<F>& table, std::mt19937_64& g, uint32_t n, Scalars sk, Points pk, int bits, int copies, size_t budget, bool indexed)
{
    std::vector<Affine<F>> points(n);
    std::vector<Fr> logs(n), scalars(n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t from = (uint32_t)(pk == Points::equal ? 7 % table.points.size() : pk == Points::opposite ? i / 2 % table.points.size() : i % table.points.size());
        points[i] = table.points[from];
        logs[i] = table.logs.of(from);
        if (pk == Points::opposite && (i & 1)) {
            points[i].y = points[i].y.negated();
            logs[i] = logs[i].negated();
        }
        if (pk == Points::holes && i % 3 == 1) {
            points[i] = Affine<F>::infinity();
            logs[i] = Fr::zero();
        }
    }
    const Fr equal = Logarithms::random(g);
    Fr unit = Fr::zero();
    unit.limb[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        Fr s = random_element<Fr>(g);
        switch (sk) {
        case Scalars::uniform: break;
        case Scalars::zero: s = Fr::zero(); break;
        case Scalars::one: s = unit; break;
        case Scalars::equal: s = pk == Points::opposite && i / 2 % 2 ? equal.negated() : equal; break;
        case Scalars::minus_one: s = unit.negated(); break;
        case Scalars::small: s = Fr::zero(); s.limb[0] = (uint32_t)g() % 5; break;
        case Scalars::half_zero: if (i % 2) s = Fr::zero(); break;
        }
        scalars[i] = s;
    }
    std::vector<uint32_t> indices;
    Fr want = Fr::zero();
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t base = indexed ? (uint32_t)(g() % n) : i;
        indices.push_back(base);
        want = want + Fr::from_plain(scalars[i]) * logs[base];
    }
    const bool montgomery = (g() & 1) != 0;
    std::vector<Fr> given = scalars;
    if (montgomery)
        for (Fr& s : given) s = Fr::from_plain(s);

    const Windows w = Windows::of(bits ? bits : 8, copies);
    Device<Affine<F>> bases((size_t)n * copies);
    PM_CUDA(cudaMemcpy(bases.get(), points.data(), n * sizeof points[0], cudaMemcpyHostToDevice));
    for (int c = 1; c < copies; c++) make_copy(bases.get() + (size_t)(c - 1) * n, bases.get() + (size_t)c * n, n, w.copy_shift(), nullptr);
    Device<Fr> ds(given);
    Device<uint32_t> di(indices);
    const Bases<F> b = {bases.get(), n, copies, w.bits};
    const Msm<F> msm(b, n, bits, budget, multiprocessors);
    Device<char> scratch(msm.scratch_bytes());
    PM_CUDA(cudaMemset(scratch.get(), 0xa5, msm.scratch_bytes()));
    const Affine<F> got = msm.run({ds.get(), indexed ? di.get() : nullptr, n, montgomery}, scratch.get(), nullptr, lanes());
    CHECK(got == power(generator<F>(), want), "n %u, scalars %s, points %s, bits %d (%d), copies %d, indexed %d, montgomery %d", n, name(sk), name(pk),
          bits, msm.windows().bits, copies, indexed, montgomery);
}

// The slowest reference: one multiplication a point.
template <class F>
static void test_plain_sum(const Table<F>& table, std::mt19937_64& g)
{
    const uint32_t n = 33;
    std::vector<Affine<F>> points(table.points.begin(), table.points.begin() + n);
    std::vector<Fr> scalars;
    Xyzz<F> want = Xyzz<F>::infinity();
    for (uint32_t i = 0; i < n; i++) {
        scalars.push_back(random_element<Fr>(g));
        want.add(multiply(points[i], scalars[i].limb, 8));
    }
    Device<Affine<F>> dp(points);
    Device<Fr> ds(scalars);
    const Msm<F> msm({dp.get(), n, 1, 0}, n, 0, (size_t)1 << 32, multiprocessors);
    Device<char> scratch(msm.scratch_bytes());
    CHECK(msm.run({ds.get(), nullptr, n, false}, scratch.get(), nullptr, lanes()) == want.to_affine(), "plain sum");
}

template <class F>
static void test_bits(const Table<F>& table, std::mt19937_64& g, uint32_t n, uint32_t ones)
{
    Device<Affine<F>> points(n);
    for (uint32_t i = 0; i < n; i += (uint32_t)table.points.size())
        PM_CUDA(cudaMemcpy(points.get() + i, table.points.data(), std::min<size_t>(n - i, table.points.size()) * sizeof(Affine<F>), cudaMemcpyHostToDevice));
    Device<uint32_t> bits((n + 31) / 32);
    fill_bits(bits.get(), (n + 31) / 32, ones, g());
    const auto host = bits.host();
    Fr want = Fr::zero();
    for (uint32_t i = 0; i < n; i++)
        if (host[i / 32] >> (i % 32) & 1) want = want + table.logs.of(i % table.points.size());
    const PointSum<F> sum(n, multiprocessors);
    Device<char> scratch(sum.scratch_bytes());
    PM_CUDA(cudaMemset(scratch.get(), 0xa5, sum.scratch_bytes()));
    CHECK(sum.sum_bits(points.get(), bits.get(), n, scratch.get(), nullptr, lanes()) == power(generator<F>(), want), "bits: n %u, ones %u", n, ones);
}

template <class F>
static void test_group(const char* group, std::mt19937_64& g)
{
    std::printf("%s\n", group);
    const Table<F> table(g, 13);
    test_plain_sum(table, g);
    const size_t plenty = (size_t)1 << 34;
    for (uint32_t n : {1u, 2u, 3u, 31u, 32u, 33u, 63u, 64u, 65u, 255u, 256u, 257u, 1023u, 1025u, 4095u, 4096u, 4097u})
        for (int bits : {0, 4, 9}) test_case(table, g, n, Scalars::uniform, Points::distinct, bits, 1, plenty, false);
    for (int bits = 2; bits <= 20; bits++) test_case(table, g, 500, Scalars::uniform, Points::distinct, bits, 1, plenty, false);
    for (Scalars s : {Scalars::uniform, Scalars::zero, Scalars::one, Scalars::equal, Scalars::minus_one, Scalars::small, Scalars::half_zero})
        for (Points p : {Points::distinct, Points::equal, Points::opposite, Points::holes})
            for (uint32_t n : {2u, 33u, 1000u}) test_case(table, g, n, s, p, 7, 1, plenty, false);
    for (int copies = 2; copies <= 5; copies++)
        for (int bits : {5, 11}) test_case(table, g, 777, Scalars::uniform, Points::holes, bits, copies, plenty, copies % 2 != 0);
    // Little scratch: several passes, several chunks, buckets that cross chunks.
    for (Scalars s : {Scalars::uniform, Scalars::equal, Scalars::small})
        for (size_t budget : {(size_t)72 << 20, (size_t)100 << 20, (size_t)200 << 20})
            test_case(table, g, 150000, s, Points::distinct, 8, 1, budget * sizeof(Affine<F>) / 96, false);
    for (uint32_t n : {1u, 2u, 31u, 32u, 33u, 1000u, 40000u, 65537u, 1000003u})
        for (uint32_t ones : {0u, 0x10000000u, 0x80000000u, 0xffffffffu}) test_bits(table, g, n, ones);
}

// Large enough that every part of the device is busy; checked by logarithms summed on the device.
template <class F>
static void test_large(const char* group, std::mt19937_64& g, int log_n, int bits, int copies)
{
    const uint32_t n = 1u << log_n;
    const Logarithms logs(g, log_n);
    const Windows w = Windows::of(bits ? bits : 16, copies);
    Device<Affine<F>> bases((size_t)n * copies);
    for (int c = 0; c < copies; c++) make_table(bases.get() + (size_t)c * n, logs, c * w.copy_shift(), multiprocessors);
    Device<Fr> scalars(n);
    fill_scalars(scalars.get(), n, g());
    const Msm<F> msm({bases.get(), n, copies, w.bits}, n, bits, (size_t)24 << 30, multiprocessors);
    Device<char> scratch(msm.scratch_bytes());
    const Affine<F> got = msm.run({scalars.get(), nullptr, n, false}, scratch.get(), nullptr, lanes());
    CHECK(got == power(generator<F>(), dot(scalars.get(), nullptr, n, logs)), "%s 2^%d, bits %d, copies %d", group, log_n, msm.windows().bits, copies);
}

int main()
{
    std::mt19937_64 g(seed());
    try {
        cudaDeviceProp p;
        PM_CUDA(cudaGetDeviceProperties(&p, 0));
        multiprocessors = p.multiProcessorCount;
        test_group<Fp>("G1", g);
        test_group<Fp2>("G2", g);
        test_large<Fp>("G1", g, 20, 0, 1);
        test_large<Fp>("G1", g, 22, 0, 1);
        test_large<Fp>("G1", g, 21, 17, 3);
        test_large<Fp2>("G2", g, 20, 0, 1);
        test_large<Fp2>("G2", g, 20, 16, 4);
    } catch (const std::exception& e) {
        std::printf("device msm: %s\n", e.what());
        return 1;
    }
    return finish("device msm");
}
