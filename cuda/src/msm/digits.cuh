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

// (value >> shift) mod 2^bits, for at most 32 bits.
__device__ __forceinline__ uint32_t extract(const uint32_t* words, int shift, int bits)
{
    const uint64_t two = words[shift / 32] | (uint64_t)words[shift / 32 + 1] << 32;
    return (uint32_t)(two >> (shift % 32)) & ((1u << bits) - 1);
}

// Entries are written window by window, scalars in order, so every access is contiguous.
static __global__ __launch_bounds__(256) void cut(Arguments a)
{
    __shared__ uint32_t bias[9];
    if (threadIdx.x == 0) {
        // Half a window in each window: adding it makes every digit independent of the carries below.
        for (int i = 0; i < 9; i++) bias[i] = 0;
        for (int j = 0; j < a.windows.count; j++) {
            const int bit = j * a.windows.bits + a.windows.bits - 1;
            if (bit < 288) bias[bit / 32] |= 1u << (bit % 32);
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
    uint32_t w[10];
    uint64_t c = 0;
    for (int k = 0; k < 9; k++) {
        c += (uint64_t)(k < 8 ? (negative ? opposite.limb[k & 7] : s.limb[k & 7]) : 0) + bias[k];
        w[k] = (uint32_t)c;
        c >>= 32;
    }
    w[9] = 0;
    const uint32_t base = a.bases ? a.bases[i] : i;
    const uint32_t half = a.windows.buckets();
    const uint32_t dropped = (uint32_t)(a.end_set - a.first_set) * half;
    size_t out = i;
    for (int set = a.first_set; set < a.end_set; set++) {
        for (int j = set, copy = 0; j < a.windows.count; j += a.windows.sets, copy++) {
            const int32_t digit = (int32_t)extract(w, j * a.windows.bits, a.windows.bits) - (int32_t)half;
            const uint32_t size = digit < 0 ? (uint32_t)-digit : (uint32_t)digit;
            a.keys[out] = digit == 0 ? dropped : (uint32_t)(set - a.first_set) * half + size - 1;
            a.values[out] = ((uint32_t)copy * a.stride + base) | ((digit < 0) != negative ? Reference::negative : 0u);
            out += a.count;
        }
    }
}

}  // namespace digits

}  // namespace pm
