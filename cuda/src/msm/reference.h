// How the additions of a sum name their operands.
#pragma once

#include <cstdint>

namespace pm {

// A point in one of two tables: the fixed bases, which may be negated, or the pool of sums.
// 30 bits of index: at most 2^30 bases, copies included, and 2^30 pool slots.
struct Reference {
    static constexpr uint32_t negative = 1u << 31;
    static constexpr uint32_t pool = 1u << 30;
    static constexpr uint32_t index = pool - 1;
    static constexpr uint32_t none = 0xffffffffu;  // no negated pool point exists, so this is free
};

// One addition. left none: nothing to do, the output slot stays unwritten. right none: a copy of left.
struct alignas(8) Pair {
    uint32_t left, right;
};

}  // namespace pm
