#include "msm/sort.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "core/error.h"

namespace pm {

size_t sort_temporary_bytes(uint64_t count, int key_bits)
{
    size_t bytes = 0;
    cub::DoubleBuffer<uint32_t> keys, values;
    PM_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, (int64_t)count, 0, key_bits));
    return bytes;
}

void sort_pairs(void* temporary, size_t temporary_bytes, SortBuffers& buffers, uint64_t count, int key_bits, cudaStream_t stream)
{
    cub::DoubleBuffer<uint32_t> keys(buffers.keys[buffers.current], buffers.keys[buffers.current ^ 1]);
    cub::DoubleBuffer<uint32_t> values(buffers.values[buffers.current], buffers.values[buffers.current ^ 1]);
    PM_CUDA(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys, values, (int64_t)count, 0, key_bits, stream));
    if (keys.Current() != buffers.keys[buffers.current]) buffers.current ^= 1;
}

namespace {

struct BitIsSet {
    const uint32_t* bits;
    __device__ bool operator()(uint32_t i) const { return (bits[i / 32] >> (i % 32)) & 1; }
};

}  // namespace

size_t select_temporary_bytes(uint64_t count)
{
    size_t bytes = 0;
    PM_CUDA(cub::DeviceSelect::If(nullptr, bytes, thrust::counting_iterator<uint32_t>(0), (uint32_t*)nullptr, (uint32_t*)nullptr,
                                  (int64_t)count, BitIsSet{nullptr}));
    return bytes;
}

void select_bits(void* temporary, size_t temporary_bytes, const uint32_t* bits, uint64_t count, uint32_t* positions,
                 uint32_t* selected, cudaStream_t stream)
{
    PM_CUDA(cub::DeviceSelect::If(temporary, temporary_bytes, thrust::counting_iterator<uint32_t>(0), positions, selected,
                                  (int64_t)count, BitIsSet{bits}, stream));
}

}  // namespace pm
