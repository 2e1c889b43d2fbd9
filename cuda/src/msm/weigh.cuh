// From bucket sums to bit sums: sum over buckets of (index + 1) * S[index], for many bucket sets at once.
//
// The index is high * 2^low_bits + low. Rows (one high, all low) and columns (one low, all high) are
// summed by rounds of affine additions, two a bucket in all, until each set has two short vectors: R
// over high and C over low. Then the sums of the entries whose index has bit k, for each k of each
// vector, and of all entries, are enough: a few dozen points that the host weighs with powers of two.
#pragma once

#include "curve/xyzz.h"
#include "field/inverse.h"
#include "msm/access.cuh"

namespace pm {

namespace weigh {

// The folded vectors in the pool. Both start as the bucket array itself.
struct Shape {
    int sets, low_bits, high_bits;
};

// Pairs of one folding round over rows: neighbours.
static __global__ __launch_bounds__(256) void plan_rows(uint32_t count, uint32_t input, Pair* __restrict__ pairs)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) pairs[i] = {Reference::pool | (input + 2 * i), Reference::pool | (input + 2 * i + 1)};
}

// Over columns: the two halves of each set.
static __global__ __launch_bounds__(256) void plan_columns(uint32_t count, uint32_t input, uint32_t half, Pair* __restrict__ pairs)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint32_t from = input + i / half * 2 * half + i % half;
    pairs[i] = {Reference::pool | from, Reference::pool | (from + half)};
}

constexpr int sum_threads = 128;

template <class F>
struct Slots {
    Xyzz<F> v[sum_threads / 2];
};

// Adds the values of all threads of a block; the result is thread 0's.
template <class F>
__device__ void block_sum(Xyzz<F>& sum, Slots<F>& slots)
{
#pragma unroll 1
    for (int width = sum_threads / 2; width > 0; width /= 2) {
        if ((int)threadIdx.x >= width && (int)threadIdx.x < 2 * width) slots.v[threadIdx.x - width] = sum;
        __syncthreads();
        if ((int)threadIdx.x < width) sum.add(slots.v[threadIdx.x]);
        __syncthreads();
    }
}

// Block (k, set): k 0 is the sum of all entries, k - 1 < low_bits a bit of C's index, the others of R's.
template <class F>
__global__ __launch_bounds__(sum_threads) void bit_sums(Shape shape, const Affine<F>* __restrict__ rows, const Affine<F>* __restrict__ columns,
                                                        Xyzz<F>* __restrict__ sums)
{
    __shared__ Slots<F> slots;
    const int k = (int)blockIdx.x - 1, set = (int)blockIdx.y;
    const bool low = k >= 0 && k < shape.low_bits;
    const int bits = low ? shape.low_bits : shape.high_bits;
    const int bit = k < 0 ? -1 : low ? k : k - shape.low_bits;
    const Affine<F>* vector = (low ? columns : rows) + ((size_t)set << bits);
    const uint32_t length = bit < 0 ? 1u << bits : 1u << (bits - 1);
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (uint32_t i = threadIdx.x; i < length; i += sum_threads) {
        uint32_t index = i;
        if (bit >= 0) index = (i >> bit << (bit + 1)) | 1u << bit | (i & ((1u << bit) - 1));
        sum.add(load_global(vector + index));
    }
    block_sum(sum, slots);
    if (threadIdx.x == 0) sums[(size_t)set * (1 + shape.low_bits + shape.high_bits) + blockIdx.x] = sum;
}

}  // namespace weigh

}  // namespace pm
