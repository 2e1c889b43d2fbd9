// The library sorts and selections that sums need. Each is asked for its temporary space first.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace pm {

// Pairs of 32-bit words between two buffers; the sorted result is in the current one.
struct SortBuffers {
    uint32_t* keys[2];
    uint32_t* values[2];
    int current = 0;
};

size_t sort_temporary_bytes(uint64_t count, int key_bits);

// Stable sort by the low key_bits of the keys. Asynchronous; flips buffers.current as needed.
void sort_pairs(void* temporary, size_t temporary_bytes, SortBuffers& buffers, uint64_t count, int key_bits, cudaStream_t stream);

size_t select_temporary_bytes(uint64_t count);

// Writes the positions of the set bits, ascending, and their number. bits is packed, least significant
// bit of each word first. Asynchronous.
void select_bits(void* temporary, size_t temporary_bytes, const uint32_t* bits, uint64_t count, uint32_t* positions,
                 uint32_t* selected, cudaStream_t stream);

}  // namespace pm
