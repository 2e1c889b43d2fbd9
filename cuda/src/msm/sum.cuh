// Sums of points picked by bits: a compaction, then rounds of affine additions over neighbours, then a
// short tail in xyzz coordinates.
#pragma once

#include <algorithm>

#include "field/inverse.h"
#include "msm/access.cuh"
#include "msm/msm.h"
#include "msm/weigh.cuh"

namespace pm {

namespace point_sum {

constexpr uint32_t chunk = 1u << 26;  // picked points of one tree
constexpr uint32_t tail = 1u << 14;   // points left to the xyzz tail
constexpr uint32_t tail_blocks = 64;

// Neighbours of a list of bases, or of pool slots. An odd last one is copied.
static __global__ __launch_bounds__(256) void plan_neighbours(const uint32_t* __restrict__ list, uint32_t input, uint32_t count, Pair* __restrict__ pairs)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (count + 1) / 2) return;
    const uint32_t left = 2 * i, right = 2 * i + 1;
    Pair p;
    p.left = list ? list[left] : Reference::pool | (input + left);
    p.right = right >= count ? Reference::none : list ? list[right] : Reference::pool | (input + right);
    pairs[i] = p;
}

// Each block adds its share; one sum a block.
template <class F>
__global__ __launch_bounds__(weigh::sum_threads) void sum_points(const Affine<F>* __restrict__ bases, const uint32_t* __restrict__ list,
                                                                 const Affine<F>* __restrict__ pool, uint32_t count, Xyzz<F>* __restrict__ sums)
{
    __shared__ weigh::Slots<F> slots;
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum.add(load_global(list ? bases + list[i] : pool + i));
    weigh::block_sum(sum, slots);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// shift doublings of each point.
template <class F>
__global__ __launch_bounds__(128) void double_points(const Affine<F>* __restrict__ in, Affine<F>* __restrict__ out, uint32_t count, int shift)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Xyzz<F> p = Xyzz<F>::from(load_global(in + i));
#pragma unroll 1
    for (int k = 0; k < shift; k++) p = p.doubled();
    store_global(out + i, p.to_affine());
}

}  // namespace point_sum

template <class F>
struct PointSum<F>::Layout {
    uint32_t* positions;
    uint32_t* selected;
    void* select_temporary;
    size_t select_temporary_bytes;
    Affine<F>* pool;
    Pair* pairs;
    Xyzz<F>* sums;
    BatchAdder<F> adder;
    size_t bytes;
};

template <class F>
typename PointSum<F>::Layout PointSum<F>::lay_out(void* memory) const
{
    const uint32_t most = std::min(max_count_, point_sum::chunk);
    const uint32_t chunks = (max_count_ + point_sum::chunk - 1) / point_sum::chunk;
    Layout l;
    Scratch scratch(memory);
    l.positions = scratch.take<uint32_t>(max_count_);
    l.selected = scratch.take<uint32_t>(1);
    l.select_temporary_bytes = select_temporary_bytes(max_count_);
    l.select_temporary = scratch.take<char>(l.select_temporary_bytes);
    l.pool = scratch.take<Affine<F>>((size_t)most / 2 + most / 4 + 4);
    l.pairs = scratch.take<Pair>(most / 2 + 1);
    l.sums = scratch.take<Xyzz<F>>((size_t)chunks * point_sum::tail_blocks);
    l.adder.reserve(scratch, most / 2 + 1, multiprocessors_);
    l.bytes = scratch.used();
    return l;
}

template <class F>
PointSum<F>::PointSum(uint32_t max_count, int multiprocessors) : max_count_(std::max(max_count, 1u)), multiprocessors_(multiprocessors)
{
    if (max_count > Reference::pool) throw_argument("point sum: at most 2^30 points");
    scratch_bytes_ = lay_out(nullptr).bytes;
}

template <class F>
Affine<F> PointSum<F>::sum_bits(const Affine<F>* points, const uint32_t* bits, uint32_t count, void* scratch, StageTimes* times, cudaStream_t stream) const
{
    using namespace point_sum;
    if (count > max_count_) throw_argument("point sum: more bits than planned for");
    if (count == 0) return Affine<F>::infinity();
    const Layout l = lay_out(scratch);
    uint32_t selected = 0;
    {
        Stage stage("sum.select", times, stream);
        select_bits(l.select_temporary, l.select_temporary_bytes, bits, count, l.positions, l.selected, stream);
        PM_CUDA(cudaMemcpyAsync(&selected, l.selected, sizeof selected, cudaMemcpyDeviceToHost, stream));
        PM_CUDA(cudaStreamSynchronize(stream));
    }
    uint32_t sums = 0;
    {
        Stage stage("sum.tree", times, stream);
        for (uint32_t first = 0; first < selected; first += std::min(chunk, selected - first), sums += tail_blocks) {
            uint32_t left = std::min(chunk, selected - first);
            const uint32_t* list = l.positions + first;
            // Rounds write in turn behind and before each other's output.
            const uint32_t areas[2] = {0, (left + 1) / 2};
            uint32_t input = 0;
            for (int round = 0; left > tail; round++) {
                const uint32_t pairs = (left + 1) / 2;
                plan_neighbours<<<(pairs + 255) / 256, 256, 0, stream>>>(list, input, left, l.pairs);
                PM_LAUNCHED("sum round");
                l.adder.add(points, l.pool, l.pairs, pairs, areas[round & 1], stream);
                input = areas[round & 1];
                list = nullptr;
                left = pairs;
            }
            sum_points<F><<<tail_blocks, weigh::sum_threads, 0, stream>>>(points, list, l.pool + input, left, l.sums + sums);
            PM_LAUNCHED("sum tail");
        }
    }
    std::vector<Xyzz<F>> host(sums);
    PM_CUDA(cudaMemcpyAsync(host.data(), l.sums, host.size() * sizeof host[0], cudaMemcpyDeviceToHost, stream));
    PM_CUDA(cudaStreamSynchronize(stream));
    Xyzz<F> total = Xyzz<F>::infinity();
    for (const Xyzz<F>& s : host) total.add(s);
    return total.to_affine();
}

template <class F>
void make_copy(const Affine<F>* in, Affine<F>* out, uint32_t count, int shift, cudaStream_t stream)
{
    if (count == 0) return;
    point_sum::double_points<F><<<(count + 127) / 128, 128, 0, stream>>>(in, out, count, shift);
    PM_LAUNCHED("copies of bases");
}

}  // namespace pm
