// The order of additions over sorted entries.
//
// The tree is fixed by positions, not by buckets: node i of level l covers the positions
// [i 2^(l+1), (i+1) 2^(l+1)) of a chunk and adds, in the one bucket that crosses its middle, the partial
// sums of both halves. So a round needs no lists, no prefix sums and no copies of odd elements: the pair
// of a node, and the slot of any partial sum, follow from the positions. A node whose middle lies on a
// bucket border has nothing to add, which happens once per bucket and costs an idle slot.
// Once nodes are longer than the longest bucket, all remaining middles are independent, so they form
// one last round.
#pragma once

#include "field/target.h"
#include "msm/reference.h"

namespace pm {

namespace buckets {

// Where a bucket's entries lie in the sorted list; equal for an empty bucket.
struct Range {
    uint32_t start, end;
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

    PM_HD uint32_t size() const { return end - first; }
    PM_HD uint32_t slots_before(int level) const { return span - (span >> level); }
    // Pairs of a round, idle ones included.
    PM_HD uint32_t nodes(int level) const
    {
        if (level < levels) return (uint32_t)(((uint64_t)size() + (2ull << level) - 1) >> (level + 1));
        return (uint32_t)(((uint64_t)size() - 1) >> levels);
    }
};

// Position of the highest set bit.
PM_HD int highest_bit(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return 31 - __clz((int)v);
#else
    return 31 - __builtin_clz(v);
#endif
}

// The reference to the sum of entries [start, end) of one bucket, positions relative to the chunk.
PM_HD uint32_t partial_sum(const Tree& t, const uint32_t* values, uint32_t start, uint32_t end)
{
    const uint32_t difference = start ^ (end - 1);
    if (difference == 0) return values[t.first + start];
    const int level = highest_bit(difference);
    if (level < t.levels) return Reference::pool | (t.slots_before(level) + (start >> (level + 1)));
    return Reference::pool | (t.slots_before(t.levels) + ((end - 1) >> t.levels) - 1);
}

// The operands of node i of a level, whose sum goes to slot slots_before(level) + i.
PM_HD Pair pair_of_node(const Tree& t, int level, uint32_t i, const uint32_t* keys, const uint32_t* values, const Range* ranges)
{
    const bool last = level == t.levels;
    const uint64_t middle64 = last ? ((uint64_t)i + 1) << level : (2 * (uint64_t)i + 1) << level;
    if (middle64 >= t.size()) return {Reference::none, Reference::none};
    const uint32_t middle = (uint32_t)middle64;
    const uint32_t key = keys[t.first + middle];
    if (keys[t.first + middle - 1] != key) return {Reference::none, Reference::none};
    if (level == 0) return {values[t.first + middle - 1], values[t.first + middle]};
    const Range r = ranges[key];
    uint32_t start = r.start > t.first ? r.start - t.first : 0;
    uint32_t end = (r.end < t.end ? r.end : t.end) - t.first;
    if (!last) {
        const uint32_t node = i << (level + 1);
        const uint64_t beyond = ((uint64_t)i + 1) << (level + 1);
        start = start > node ? start : node;
        end = end < beyond ? end : (uint32_t)beyond;
    }
    return {partial_sum(t, values, start, middle), partial_sum(t, values, middle, end)};
}

}  // namespace buckets

}  // namespace pm
