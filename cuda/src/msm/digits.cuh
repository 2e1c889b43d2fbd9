// Scalars to (bucket, base) entries.
#pragma once

#include "field/fr.h"
#include "msm/reference.h"
#include "msm/windows.h"

namespace pm {

namespace digits {

struct Arguments {
    const Fr* scalars;
    const uint32_t* bases;  // base of each scalar, or null for the identity
    uint32_t count;
    uint32_t stride;  // bases of one copy in the table
    bool montgomery;
    Windows windows;
    int first_set, end_set;
    uint32_t* keys;    // (set - first_set) * buckets + |digit| - 1; beyond all sets for digit zero
    uint32_t* values;  // references
};

constexpr int threads = 256;
constexpr int words = 10;  // 255 bits, a window above them, and one word to read past the end

// The scalars of a block, word by word, so that any window of a scalar can be looked up.
struct Shared {
    uint32_t word[words][threads];
    uint32_t bias[words];
};

// (scalar >> shift) mod 2^bits of this thread's scalar.
__device__ __forceinline__ uint32_t extract(const Shared& s, int shift, int bits)
{
    const uint32_t two = __funnelshift_r(s.word[shift / 32][threadIdx.x], s.word[shift / 32 + 1][threadIdx.x], (uint32_t)shift % 32);
    return two & ((1u << bits) - 1);
}

// Entries are written window by window, scalars in order, so every access is contiguous.
static __global__ __launch_bounds__(threads) void cut(Arguments a)
{
    __shared__ Shared shared;
    if (threadIdx.x == 0) {
        // Half a window in each window: adding it makes every digit independent of the carries below.
        for (int i = 0; i < words; i++) shared.bias[i] = 0;
        for (int j = 0; j < a.windows.count; j++) {
            const int bit = j * a.windows.bits + a.windows.bits - 1;
            shared.bias[bit / 32] |= 1u << (bit % 32);
        }
    }
    __syncthreads();
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.count) return;
    Fr s = a.scalars[i];
    if (a.montgomery) s = s.to_plain();
    // Negative in the field's signed range?
    Fr opposite = s;
    opposite.negate_if(true);
    bool negative = false;
    for (int k = Fr::N - 1; k >= 0; k--) {
        if (s.limb[k] != opposite.limb[k]) {
            negative = opposite.limb[k] < s.limb[k];
            break;
        }
    }
    uint64_t c = 0;
    PM_UNROLL
    for (int k = 0; k < words; k++) {
        c += (uint64_t)(k < 8 ? (negative ? opposite.limb[k & 7] : s.limb[k & 7]) : 0) + shared.bias[k];
        shared.word[k][threadIdx.x] = (uint32_t)c;
        c >>= 32;
    }
    const uint32_t base = a.bases ? a.bases[i] : i;
    const uint32_t half = a.windows.buckets();
    const uint32_t dropped = (uint32_t)(a.end_set - a.first_set) * half;
    size_t out = i;
    for (int set = a.first_set; set < a.end_set; set++) {
        for (int j = set, copy = 0; j < a.windows.count; j += a.windows.sets, copy++) {
            const int32_t digit = (int32_t)extract(shared, j * a.windows.bits, a.windows.bits) - (int32_t)half;
            const uint32_t size = digit < 0 ? (uint32_t)-digit : (uint32_t)digit;
            a.keys[out] = digit == 0 ? dropped : (uint32_t)(set - a.first_set) * half + size - 1;
            a.values[out] = ((uint32_t)copy * a.stride + base) | ((digit < 0) != negative ? Reference::negative : 0u);
            out += a.count;
        }
    }
}

}  // namespace digits

}  // namespace pm
