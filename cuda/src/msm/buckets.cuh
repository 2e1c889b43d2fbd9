// From sorted entries to bucket sums: where each bucket's entries lie, and a tree of additions over them.
#pragma once

#include "field/inverse.h"
#include "msm/access.cuh"
#include "msm/tree.h"

namespace pm {

namespace buckets {

static __global__ __launch_bounds__(256) void find_ranges(const uint32_t* __restrict__ keys, uint32_t count, uint32_t buckets, Range* ranges)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint32_t key = keys[i];
    if (key >= buckets) return;
    if (i == 0 || keys[i - 1] != key) ranges[key].start = i;
    if (i + 1 == count || keys[i + 1] != key) ranges[key].end = i + 1;
}

struct Summary {
    uint32_t longest;  // entries of the longest bucket
    uint32_t used;     // entries in any bucket
};

static __global__ __launch_bounds__(256) void summarize(const Range* __restrict__ ranges, uint32_t buckets, Summary* summary)
{
    uint32_t longest = 0, used = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < buckets; i += gridDim.x * blockDim.x) {
        const Range r = ranges[i];
        longest = max(longest, r.end - r.start);
        used = max(used, r.end);
    }
    longest = __reduce_max_sync(0xffffffffu, longest);
    used = __reduce_max_sync(0xffffffffu, used);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&summary->longest, longest);
        atomicMax(&summary->used, used);
    }
}

// The pairs of one round.
static __global__ __launch_bounds__(256) void plan_round(Tree t, int level, const uint32_t* __restrict__ keys, const uint32_t* __restrict__ values,
                                                         const Range* __restrict__ ranges, Pair* __restrict__ pairs, uint32_t count)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    pairs[i] = pair_of_node(t, level, i, keys, values, ranges);
}

// Bucket sums out of the pool. A bucket that goes on in the next chunk is added to: at most two a chunk.
template <class F>
__global__ __launch_bounds__(128) void collect(Tree t, const uint32_t* __restrict__ values, const Range* __restrict__ ranges, uint32_t count,
                                               const Affine<F>* __restrict__ bases, const Affine<F>* __restrict__ pool, Affine<F>* __restrict__ sums)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Range r = ranges[i];
    if (r.start == r.end) {
        if (t.first == 0) store_global(sums + i, Affine<F>::infinity());
        return;
    }
    if (r.end <= t.first || r.start >= t.end) return;
    const uint32_t start = max(r.start, t.first) - t.first, end = min(r.end, t.end) - t.first;
    Affine<F> sum = load_point(bases, pool, partial_sum(t, values, start, end));
    if (r.start < t.first) {
        const Affine<F> before = load_global(sums + i);
        const AddCase c = classify(before, sum);
        sum = add_with_inverse(c, before, sum, inverse(denominator(c, before, sum)));
    }
    store_global(sums + i, sum);
}

}  // namespace buckets

}  // namespace pm
