// From sorted entries to bucket sums: where each bucket's entries lie, and a tree of additions over them.
//
// The tree is fixed by positions, not by buckets: node i of level l covers the positions
// [i 2^(l+1), (i+1) 2^(l+1)) of a chunk and adds, in the one bucket that crosses its middle, the partial
// sums of both halves. So a round needs no lists, no prefix sums and no copies of odd elements: the pair
// of a node, and the slot of any partial sum, follow from the positions. A node whose middle lies on a
// bucket border has nothing to add, which happens once per bucket and costs an idle slot.
// Once nodes are longer than the longest bucket, all remaining middles are independent, so they form
// one last round.
#pragma once

#include "field/inverse.h"
#include "msm/access.cuh"
#include "msm/reference.h"

namespace pm {

namespace buckets {

struct Range {
    uint32_t start, end;  // equal for an empty bucket
};

// A chunk [first, end) of the sorted entries and the tree over it. Pool slots of level l follow those of
// the levels below: the span less its part shifted right by l.
struct Tree {
    uint32_t first, end;
    uint32_t span;  // a multiple of 2^levels, at least end - first
    int levels;     // of aligned nodes; the last round's level is this number

    static Tree over(uint32_t first, uint32_t end, int levels)
    {
        const uint32_t unit = 1u << levels;
        return {first, end, (end - first + unit - 1) / unit * unit, levels};
    }

    __host__ __device__ uint32_t size() const { return end - first; }
    __host__ __device__ uint32_t slots_before(int level) const { return span - (span >> level); }
    // Pairs of a round, idle ones included.
    __host__ __device__ uint32_t nodes(int level) const
    {
        if (level < levels) return (uint32_t)(((uint64_t)size() + (2ull << level) - 1) >> (level + 1));
        return (uint32_t)(((uint64_t)size() - 1) >> levels);
    }
};

// The reference to the sum of entries [start, end) of one bucket, positions relative to the chunk.
__device__ __forceinline__ uint32_t partial_sum(const Tree& t, const uint32_t* values, uint32_t start, uint32_t end)
{
    const uint32_t difference = start ^ (end - 1);
    if (difference == 0) return values[t.first + start];
    const int level = 31 - __clz((int)difference);
    if (level < t.levels) return Reference::pool | (t.slots_before(level) + (start >> (level + 1)));
    return Reference::pool | (t.slots_before(t.levels) + ((end - 1) >> t.levels) - 1);
}

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
    const bool last = level == t.levels;
    const uint64_t middle64 = last ? ((uint64_t)i + 1) << level : (2 * (uint64_t)i + 1) << level;
    Pair pair = {Reference::none, Reference::none};
    if (middle64 < t.size()) {
        const uint32_t middle = (uint32_t)middle64;
        const uint32_t key = keys[t.first + middle];
        if (keys[t.first + middle - 1] == key) {
            if (level == 0) {
                pair = {values[t.first + middle - 1], values[t.first + middle]};
            } else {
                const Range r = ranges[key];
                uint32_t start = r.start > t.first ? r.start - t.first : 0;
                uint32_t end = min(r.end, t.end) - t.first;
                if (!last) {
                    start = max(start, i << (level + 1));
                    end = (uint32_t)min((uint64_t)end, ((uint64_t)i + 1) << (level + 1));
                }
                pair = {partial_sum(t, values, start, middle), partial_sum(t, values, middle, end)};
            }
        }
    }
    pairs[i] = pair;
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
