// Transforms stage by stage and element by element: what small domains use, and the reference that the
// passes are tested against.
#pragma once

#include "ntt/element.h"
#include "ntt/powers.h"

namespace pm::ntt::stages {

PM_HD uint64_t reversed(uint64_t i, int bits)
{
    return bits == 0 ? 0 : reverse_bits((uint32_t)i, bits);
}

// Butterfly k of n / 2 of a stage with the given half span (log2), decimation in frequency.
PM_HD void butterfly_to_reversed(Fr* x, int log_n, int log_half, const Powers& root, uint64_t k)
{
    const uint64_t half = (uint64_t)1 << log_half;
    const uint64_t at = k & (half - 1);
    const uint64_t i = (k >> log_half << (log_half + 1)) + at;
    const Fr a = load(x + i), b = load(x + i + half);
    store(x + i, a + b);
    store(x + i + half, (a - b) * root.at(at << (log_n - 1 - log_half)));
}

// The same, decimation in time.
PM_HD void butterfly_from_reversed(Fr* x, int log_n, int log_half, const Powers& root, uint64_t k)
{
    const uint64_t half = (uint64_t)1 << log_half;
    const uint64_t at = k & (half - 1);
    const uint64_t i = (k >> log_half << (log_half + 1)) + at;
    const Fr a = load(x + i), b = load(x + i + half) * root.at(at << (log_n - 1 - log_half));
    store(x + i, a + b);
    store(x + i + half, a - b);
}

// target[i] = a[j] * b[j] where j is i, or -i mod n; b may be null.
PM_HD void gather(Fr* target, const Fr* a, const Fr* b, bool negate, int log_n, uint64_t i)
{
    const uint64_t j = negate ? (0 - i) & (((uint64_t)1 << log_n) - 1) : i;
    Fr v = load(a + j);
    if (b) v = v * load(b + j);
    store(target + i, v);
}

// Multiplies the element of index k, which lies at the reversed position, by scale * shift^k (just scale if
// not shifted), element 0 by first too; then subtracts.
PM_HD void finish(Fr* x, const Fr* subtract, const Fr& scale, bool shifted, const Powers& shift, bool has_first, const Fr& first, int log_n, uint64_t i)
{
    Fr v = load(x + i) * scale;
    if (shifted) v = v * shift.at(reversed(i, log_n));
    if (has_first && i == 0) v = v * first;
    if (subtract) v = v - load(subtract + i);
    store(x + i, v);
}

}  // namespace pm::ntt::stages
