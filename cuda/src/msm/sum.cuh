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

constexpr uint32_t chunk = 1u << 24;  // picked points of one tree at most
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
    Xyzz<F>* sums;
    uint32_t chunk;
    struct Lane {
        Affine<F>* pool;
        Pair* pairs;
        BatchAdder<F> adder;
    } lane[Lanes::count];
    size_t bytes;
};

template <class F>
typename PointSum<F>::Layout PointSum<F>::lay_out(void* memory) const
{
    Layout l;
    Scratch scratch(memory);
    l.chunk = std::min((max_count_ + Lanes::count - 1) / Lanes::count, point_sum::chunk);
    const uint32_t chunks = (max_count_ + l.chunk - 1) / l.chunk + Lanes::count;
    l.positions = scratch.take<uint32_t>(max_count_);
    l.selected = scratch.take<uint32_t>(1);
    l.select_temporary_bytes = select_temporary_bytes(max_count_);
    l.select_temporary = scratch.take<char>(l.select_temporary_bytes);
    l.sums = scratch.take<Xyzz<F>>((size_t)chunks * point_sum::tail_blocks);
    for (auto& lane : l.lane) {
        lane.pool = scratch.take<Affine<F>>((size_t)l.chunk / 2 + l.chunk / 4 + 4);
        lane.pairs = scratch.take<Pair>(l.chunk / 2 + 1);
        lane.adder.reserve(scratch, l.chunk / 2 + 1, multiprocessors_);
    }
    l.bytes = scratch.used();
    return l;
}

template <class F>
PointSum<F>::PointSum(uint32_t max_count, int multiprocessors) : max_count_(std::max(max_count, 1u)), multiprocessors_(multiprocessors)
{
    if (max_count > Reference::pool) throw_argument("point sum: at most 2^30 points");
    scratch_bytes_ = lay_out(nullptr).bytes;
}

// Rounds write in turn behind and before each other's output, until the tail is short.
template <class F>
void PointSum<F>::add_chunk(const Layout& l, int lane, const Affine<F>* points, const uint32_t* list, uint32_t count, Xyzz<F>* sums, cudaStream_t stream) const
{
    using namespace point_sum;
    const typename Layout::Lane& own = l.lane[lane];
    const uint32_t areas[2] = {0, (count + 1) / 2};
    uint32_t input = 0;
    for (int round = 0; count > tail; round++) {
        const uint32_t pairs = (count + 1) / 2;
        plan_neighbours<<<(pairs + 255) / 256, 256, 0, stream>>>(list, input, count, own.pairs);
        PM_LAUNCHED("sum round");
        own.adder.add(points, own.pool, own.pairs, pairs, areas[round & 1], stream);
        input = areas[round & 1];
        list = nullptr;
        count = pairs;
    }
    sum_points<F><<<tail_blocks, weigh::sum_threads, 0, stream>>>(points, list, own.pool + input, count, sums);
    PM_LAUNCHED("sum tail");
}

template <class F>
Affine<F> PointSum<F>::sum_bits(const Affine<F>* points, const uint32_t* bits, uint32_t count, void* scratch, StageTimes* times, const Lanes& lanes) const
{
    using namespace point_sum;
    const cudaStream_t stream = lanes.main();
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
        // Equal chunks, the same number for each lane.
        uint32_t chunks = (selected + l.chunk - 1) / l.chunk;
        if (selected > 4 * tail) chunks = (chunks + Lanes::count - 1) / Lanes::count * Lanes::count;
        const uint32_t length = chunks ? (selected + chunks - 1) / chunks : 0;
        lanes.fork();
        int lane = 0;
        for (uint32_t first = 0; first < selected; first += length, sums += tail_blocks, lane = (lane + 1) % Lanes::count) {
            add_chunk(l, lane, points, l.positions + first, std::min(length, selected - first), l.sums + sums, lanes.at(lane));
        }
        lanes.join();
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
