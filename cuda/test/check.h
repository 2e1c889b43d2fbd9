// The few words the tests need: CHECK, a count of failures, seeded random elements.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>

namespace pm::test {

inline int failures = 0;
inline long checks = 0;

#define CHECK(condition, ...)                                                   \
    do {                                                                        \
        ::pm::test::checks++;                                                   \
        if (!(condition)) {                                                     \
            if (++::pm::test::failures <= 20) {                                 \
                std::printf("%s:%d: %s failed: ", __FILE__, __LINE__, #condition); \
                std::printf(__VA_ARGS__);                                       \
                std::printf("\n");                                              \
            }                                                                   \
        }                                                                       \
    } while (0)

inline int finish(const char* name)
{
    std::printf("%s: %ld checks, %d failures\n", name, checks, failures);
    return failures == 0 ? 0 : 1;
}

// PROOFMILL_SEED repeats a run.
inline uint64_t seed()
{
    const char* s = std::getenv("PROOFMILL_SEED");
    uint64_t v = s ? std::strtoull(s, nullptr, 0) : std::random_device{}();
    std::printf("seed %llu\n", (unsigned long long)v);
    return v;
}

// Uniform below the modulus; now and then an edge: 0, 1, m - 1, or a sparse word pattern.
template <class F>
F random_element(std::mt19937_64& g)
{
    F r;
    for (;;) {
        for (int i = 0; i < F::N; i++) r.limb[i] = (uint32_t)g();
        switch (g() % 16) {
        case 0: r = F::zero(); break;
        case 1: r = F::zero(); r.limb[0] = 1; break;
        case 2: r = F::zero(); r.limb[0] = 1; r = F::zero() - r; break;
        case 3: for (int i = 0; i < F::N; i++) r.limb[i] = (g() & 1) ? 0xffffffffu : 0; break;
        }
        r.limb[F::N - 1] &= F::Params::bits % 32 ? (1u << (F::Params::bits % 32)) - 1 : 0xffffffffu;
        F reduced = r;
        reduced.reduce_once();
        if (reduced == r) return r;
    }
}

}  // namespace pm::test
