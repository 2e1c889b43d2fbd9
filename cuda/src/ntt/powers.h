// Powers of fixed bases, and the roots of unity of Fr.
#pragma once

#include "field/inverse.h"
#include "ntt/dft.h"

namespace pm::ntt {

constexpr int largest_log = 28;

// base^(2^i).
struct Powers {
    Fr square[32];

    static Powers of(const Fr& base)
    {
        Powers p;
        p.square[0] = base;
        for (int i = 1; i < 32; i++) p.square[i] = p.square[i - 1].squared();
        return p;
    }

    // base^e; one product for each bit that is one.
    PM_HD Fr at(uint64_t e) const
    {
        Fr r = Fr::one();
        for (int i = 0; e != 0; i++, e >>= 1)
            if (e & 1) r = r * square[i];
        return r;
    }
};

inline Fr small(uint32_t v)
{
    Fr plain = Fr::zero();
    plain.limb[0] = v;
    return Fr::from_plain(plain);
}

// 7 generates the multiplicative group; it is the coset's shift too.
inline Fr generator() { return small(7); }

// A primitive root of unity of order 2^log_n, log_n up to 32: 7^((r - 1) / 2^log_n).
inline Fr root_of_unity(int log_n)
{
    Fr r = Fr::one();
    const Fr g = generator();
    for (int i = 32 * Fr::N - 1; i >= 0; i--) {
        r = r.squared();
        // Bit i of (r - 1) / 2^32, whose limbs are those of r without the lowest.
        const int limb = i / 32 + 1;
        if (limb < Fr::N && (FrParams::modulus(limb) >> (i % 32) & 1)) r = r * g;
    }
    for (int k = log_n; k < 32; k++) r = r.squared();
    return r;
}

inline Roots8 roots8()
{
    const Fr w = root_of_unity(3);
    const Fr i = w.squared();
    const Fr w3 = w * i;
    const Fr half = inverse(small(2));
    return {i, (w + w3) * half, (w - w3) * half};
}

}  // namespace pm::ntt
