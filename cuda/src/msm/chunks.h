// How the sorted entries of a pass are shared out among streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pm {

namespace msm_detail {

inline int ceil_log2(uint64_t v)
{
    int l = 0;
    while ((1ull << l) < v) l++;
    return l;
}

struct ChunkShare {
    int lane;
    uint32_t length;
};

// Cuts the sorted entries into chunks for the lanes in turn. The first chunks get shorter from lane to
// lane, and the last ones make up for it, so that the lanes are not in the same phase: a chunk's first
// round waits for memory most. At least one chunk, perhaps empty.
inline std::vector<ChunkShare> share_chunks(uint32_t entries, uint32_t longest_chunk, int levels, int lanes)
{
    if (entries <= std::min(1u << 20, longest_chunk)) return {{0, entries}};
    // A chunk's slots are counted in multiples of its longest node; with huge buckets only whole chunks fit.
    const bool huge = (1ull << levels) > longest_chunk / 8;
    const uint32_t unit = huge ? longest_chunk : 1u << levels;
    const uint32_t most = longest_chunk / unit * unit;
    const uint32_t turns = (uint32_t)((entries + (uint64_t)lanes * most - 1) / ((uint64_t)lanes * most));
    const uint64_t length = ((uint64_t)entries + (uint64_t)lanes * turns - 1) / ((uint64_t)lanes * turns);
    std::vector<ChunkShare> shares;
    uint32_t left = entries;
    const auto give = [&](int lane, uint64_t wanted) {
        const uint32_t n = (uint32_t)std::min<uint64_t>({left, most, (wanted + unit - 1) / unit * unit});
        if (n > 0) shares.push_back({lane, n});
        left -= n;
    };
    for (uint32_t turn = 0; turn <= turns || left > 0; turn++)
        for (int lane = 0; lane < lanes; lane++)
            give(lane, turn == 0 ? length * (uint64_t)(lanes - lane) / (uint64_t)lanes : turn == turns ? length * (uint64_t)lane / (uint64_t)lanes : length);
    return shares;
}

}  // namespace msm_detail

}  // namespace pm
