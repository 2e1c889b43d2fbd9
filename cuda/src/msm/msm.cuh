// The host side of Msm.
#pragma once

#include <algorithm>

#include "msm/buckets.cuh"
#include "msm/chunks.h"
#include "msm/digits.cuh"
#include "msm/msm.h"
#include "msm/weigh.cuh"

namespace pm {

namespace msm_detail {

inline uint32_t blocks(uint64_t threads, uint32_t per_block)
{
    return (uint32_t)((threads + per_block - 1) / per_block);
}

// Additions a scalar: one a window, and two a bucket for weighing, less the first of each bucket.
inline int choose_bits(uint32_t count, int copies)
{
    int best = 2;
    double best_cost = 1e30;
    for (int bits = 2; bits <= 26; bits++) {
        const Windows w = Windows::of(bits, copies);
        const double cost = (double)count * w.count + (double)w.sets * w.buckets() * (count > w.buckets() ? 1.3 : 2.3);
        if (cost < best_cost) {
            best_cost = cost;
            best = bits;
        }
    }
    return best;
}

}  // namespace msm_detail

// The entries of some bucket sets, sorted.
template <class F>
struct Msm<F>::Sorted {
    SortBuffers sort;
    buckets::Range* ranges;
    buckets::Summary* summary;
    uint32_t all_buckets = 0;
    buckets::Summary found{};  // on the host
};

template <class F>
struct Msm<F>::Layout {
    // What one of the two lanes needs for itself.
    struct Lane {
        uint32_t slots;  // first of its slots in the pool
        Pair* pairs;
        BatchAdder<F> adder;
    };

    Sorted sorted[2];  // the second one is filled while the first is summed, if there are several passes
    void* sort_temporary;
    size_t sort_temporary_bytes;
    Affine<F>* pool;  // the bucket sums, then the lanes' slots
    uint64_t pool_slots;
    Xyzz<F>* bit_sums;
    Lane lane[Lanes::count];
    uint32_t chunk;
    size_t bytes;
};

template <class F>
typename Msm<F>::Layout Msm<F>::lay_out(void* memory, int sets_at_once, uint32_t chunk) const
{
    const uint32_t all_buckets = (uint32_t)sets_at_once * windows_.buckets();
    uint64_t entries = 0;
    for (int s = 0; s < windows_.sets; s += sets_at_once) {
        uint64_t e = 0;
        for (int k = s; k < std::min(s + sets_at_once, windows_.sets); k++) e += (uint64_t)windows_.windows_of(k) * max_count_;
        entries = std::max(entries, e);
    }
    Layout l;
    Scratch scratch(memory);
    l.sort_temporary_bytes = sort_temporary_bytes(entries, msm_detail::ceil_log2((uint64_t)all_buckets + 1));
    l.sort_temporary = scratch.take<char>(l.sort_temporary_bytes);
    for (int k = 0; k < (sets_at_once < windows_.sets ? 2 : 1); k++) {
        Sorted& sorted = l.sorted[k];
        for (int i = 0; i < 2; i++) {
            sorted.sort.keys[i] = scratch.take<uint32_t>(entries);
            sorted.sort.values[i] = scratch.take<uint32_t>(entries);
        }
        sorted.ranges = scratch.take<buckets::Range>(all_buckets);
        sorted.summary = scratch.take<buckets::Summary>(1);
    }
    l.bit_sums = scratch.take<Xyzz<F>>((size_t)windows_.sets * windows_.bits);
    l.chunk = (uint32_t)std::min<uint64_t>(chunk, std::max<uint64_t>(4096, (uint64_t)1 << msm_detail::ceil_log2((entries + Lanes::count - 1) / Lanes::count)));
    // A lane folds rows or columns: a half of the buckets, then a quarter, and so on in turn.
    const uint32_t slots = std::max(l.chunk, all_buckets / 2 + all_buckets / 4 + 2);
    const uint32_t pairs = std::max(l.chunk / 2 + 1, all_buckets / 2 + 1);
    l.pool_slots = (uint64_t)all_buckets + (uint64_t)Lanes::count * slots;
    l.pool = scratch.take<Affine<F>>(l.pool_slots);
    for (int i = 0; i < Lanes::count; i++) {
        l.lane[i].slots = all_buckets + (uint32_t)i * slots;
        l.lane[i].pairs = scratch.take<Pair>(pairs);
        l.lane[i].adder.reserve(scratch, pairs, multiprocessors_);
    }
    l.bytes = scratch.used();
    return l;
}

template <class F>
Msm<F>::Msm(const Bases<F>& bases, uint32_t max_count, int window_bits, size_t budget_bytes, int multiprocessors)
    : bases_(bases), max_count_(std::max(max_count, 1u)), multiprocessors_(multiprocessors)
{
    if (bases.copies < 1 || (uint64_t)bases.count * bases.copies > Reference::pool)
        throw_argument("msm: bases times copies must be between 1 and 2^30");
    if (window_bits != 0 && (window_bits < 2 || window_bits > 26)) throw_argument("msm: window bits must be 0 or 2 to 26");
    if (bases.copies > 1) {
        if (window_bits != 0 && window_bits != bases.copy_bits) throw_argument("msm: the copies were made for other window bits");
        window_bits = bases.copy_bits;
    }
    windows_ = Windows::of(window_bits ? window_bits : msm_detail::choose_bits(max_count_, bases.copies), bases.copies);
    // The fewest and largest pieces that fit: all sets at once and long chunks first.
    for (int passes = 1;; passes++) {
        const int sets = (windows_.sets + passes - 1) / passes;
        const uint64_t entries = (uint64_t)sets * (uint64_t)windows_.windows_of(0) * max_count_;
        const bool possible = entries < (1ull << 30) && (uint64_t)sets * windows_.buckets() < (1ull << 28);
        if (!possible && sets == 1) throw_argument("msm: too many scalars for one bucket set");
        for (uint32_t chunk = 1u << 26; possible && chunk >= 1u << 16; chunk /= 2) {
            // A pass less is not worth short chunks.
            if (sets > 1 && chunk < 1u << 24 && chunk < entries / Lanes::count) break;
            const Layout l = lay_out(nullptr, sets, chunk);
            if (l.bytes > budget_bytes || l.pool_slots >= Reference::pool) continue;
            sets_at_once_ = sets;
            chunk_ = l.chunk;
            scratch_bytes_ = l.bytes;
            return;
        }
        if (sets == 1) {
            const Layout least = lay_out(nullptr, 1, 1u << 16);
            throw Error(Code::memory, 0, "msm: needs at least " + std::to_string(least.bytes) + " bytes of scratch, the budget is " +
                                             std::to_string(budget_bytes));
        }
    }
}

// Blocks until the entries of the sets from first_set on are sorted.
template <class F>
void Msm<F>::sort_entries(Layout& l, Sorted& sorted, const MsmInput& input, int first_set, StageTimes* times, cudaStream_t stream) const
{
    using namespace msm_detail;
    const Windows& w = windows_;
    const int end_set = std::min(first_set + sets_at_once_, w.sets);
    sorted.all_buckets = (uint32_t)(end_set - first_set) * w.buckets();
    uint64_t entries = 0;
    for (int s = first_set; s < end_set; s++) entries += (uint64_t)w.windows_of(s) * input.count;
    sorted.sort.current = 0;
    {
        Stage stage("msm.digits", times, stream);
        digits::Arguments a = {input.scalars, input.indices, input.count, bases_.count, input.montgomery, w, first_set, end_set,
                               sorted.sort.keys[0], sorted.sort.values[0]};
        digits::cut<<<blocks(input.count, digits::threads), digits::threads, 0, stream>>>(a);
        PM_LAUNCHED("digits");
    }
    {
        Stage stage("msm.sort", times, stream);
        sort_pairs(l.sort_temporary, l.sort_temporary_bytes, sorted.sort, entries, ceil_log2((uint64_t)sorted.all_buckets + 1), stream);
    }
    Stage stage("msm.ranges", times, stream);
    PM_CUDA(cudaMemsetAsync(sorted.ranges, 0, sorted.all_buckets * sizeof(buckets::Range), stream));
    PM_CUDA(cudaMemsetAsync(sorted.summary, 0, sizeof(buckets::Summary), stream));
    buckets::find_ranges<<<blocks(entries, 256), 256, 0, stream>>>(sorted.sort.keys[sorted.sort.current], (uint32_t)entries, sorted.all_buckets, sorted.ranges);
    PM_LAUNCHED("bucket ranges");
    buckets::summarize<<<std::min(blocks(sorted.all_buckets, 256), 1024u), 256, 0, stream>>>(sorted.ranges, sorted.all_buckets, sorted.summary);
    PM_LAUNCHED("bucket summary");
    PM_CUDA(cudaMemcpyAsync(&sorted.found, sorted.summary, sizeof sorted.found, cudaMemcpyDeviceToHost, stream));
    PM_CUDA(cudaStreamSynchronize(stream));
}

template <class F>
void Msm<F>::sum_buckets(const Layout& l, const Sorted& sorted, StageTimes* times, const Lanes& lanes) const
{
    using namespace msm_detail;
    const uint32_t* keys = sorted.sort.keys[sorted.sort.current];
    const uint32_t* values = sorted.sort.values[sorted.sort.current];
    const buckets::Summary& summary = sorted.found;
    Stage stage("msm.trees", times, lanes.main());
    const int most_levels = ceil_log2(std::max(summary.longest, 1u));
    lanes.fork();
    uint32_t first = 0;
    int before = 0;
    for (const ChunkShare& share : share_chunks(summary.used, l.chunk, most_levels, Lanes::count)) {
        const cudaStream_t stream = lanes.at(share.lane);
        const typename Layout::Lane& own = l.lane[share.lane];
        Affine<F>* pool = l.pool + own.slots;
        const uint32_t end = first + share.length;
        const buckets::Tree tree = buckets::Tree::over(first, end, std::min(most_levels, ceil_log2(std::max(share.length, 1u))));
        if (summary.longest > 1) {
            for (int level = 0; level <= tree.levels; level++) {
                const uint32_t nodes = tree.nodes(level);
                if (nodes == 0) continue;
                buckets::plan_round<<<blocks(nodes, 256), 256, 0, stream>>>(tree, level, keys, values, sorted.ranges, own.pairs, nodes);
                PM_LAUNCHED("tree round");
                own.adder.add(bases_.points, pool, own.pairs, nodes, tree.slots_before(level), stream);
            }
        }
        // Chunks are collected in order: a bucket may begin in the chunk before.
        if (first > 0) lanes.order(before, share.lane);
        buckets::collect<F><<<blocks(sorted.all_buckets, 128), 128, 0, stream>>>(tree, values, sorted.ranges, sorted.all_buckets, bases_.points, pool, l.pool);
        PM_LAUNCHED("bucket sums");
        first = end;
        before = share.lane;
    }
    lanes.join();
}

template <class F>
void Msm<F>::weigh_buckets(const Layout& l, int sets, Xyzz<F>* bit_sums, StageTimes* times, const Lanes& lanes) const
{
    using namespace msm_detail;
    Stage stage("msm.weigh", times, lanes.main());
    const int bits = windows_.bits - 1;
    const weigh::Shape shape = {sets, bits / 2, bits - bits / 2};
    const uint32_t all = (uint32_t)sets << bits;
    lanes.fork();
    uint32_t inputs[2] = {0, 0};  // of rows and of columns; both start as the buckets
    for (int round = 0; round < shape.high_bits; round++) {
        const uint32_t count = all >> (round + 1);
        for (int lane = 0; lane < 2; lane++) {
            if (lane == 0 && round >= shape.low_bits) continue;
            const typename Layout::Lane& own = l.lane[lane];
            const uint32_t out = own.slots + (round & 1 ? all / 2 : 0);
            if (lane == 0)
                weigh::plan_rows<<<blocks(count, 256), 256, 0, lanes.at(lane)>>>(count, inputs[lane], own.pairs);
            else
                weigh::plan_columns<<<blocks(count, 256), 256, 0, lanes.at(lane)>>>(count, inputs[lane], 1u << (bits - round - 1), own.pairs);
            PM_LAUNCHED("fold");
            own.adder.add(bases_.points, l.pool, own.pairs, count, out, lanes.at(lane));
            inputs[lane] = out;
        }
    }
    lanes.join();
    const dim3 grid((unsigned)(1 + bits), (unsigned)sets);
    weigh::bit_sums<F><<<grid, weigh::sum_threads, 0, lanes.main()>>>(shape, l.pool + inputs[0], l.pool + inputs[1], bit_sums);
    PM_LAUNCHED("bit sums");
}

template <class F>
Affine<F> Msm<F>::run(const MsmInput& input, void* scratch, StageTimes* times, const Lanes& lanes) const
{
    using namespace msm_detail;
    const cudaStream_t stream = lanes.main();
    if (input.count > max_count_) throw_argument("msm: more scalars than planned for");
    if (!input.indices && input.count > bases_.count) throw_argument("msm: more scalars than bases");
    if (input.count == 0) return Affine<F>::infinity();
    Layout l = lay_out(scratch, sets_at_once_, chunk_);
    const Windows& w = windows_;
    // While one pass is summed, the entries of the next are sorted.
    sort_entries(l, l.sorted[0], input, 0, times, stream);
    lanes.order(0, Lanes::ahead);
    for (int first = 0, pass = 0; first < w.sets; first += sets_at_once_, pass++) {
        const int end = std::min(first + sets_at_once_, w.sets);
        sum_buckets(l, l.sorted[pass & 1], times, lanes);
        weigh_buckets(l, end - first, l.bit_sums + (size_t)first * w.bits, times, lanes);
        if (end < w.sets) {
            sort_entries(l, l.sorted[1 - (pass & 1)], input, end, times, lanes.at(Lanes::ahead));
            // The sort after this one overwrites what this pass reads.
            lanes.order(0, Lanes::ahead);
        }
    }
    std::vector<Xyzz<F>> sums((size_t)w.sets * w.bits);
    PM_CUDA(cudaMemcpyAsync(sums.data(), l.bit_sums, sums.size() * sizeof sums[0], cudaMemcpyDeviceToHost, stream));
    PM_CUDA(cudaStreamSynchronize(stream));
    Xyzz<F> total = Xyzz<F>::infinity();
    for (int s = w.sets; s-- > 0;) {
        for (int k = 0; k < w.bits; k++) total = total.doubled();
        Xyzz<F> set = Xyzz<F>::infinity();
        for (int k = w.bits - 1; k >= 1; k--) {
            set = set.doubled();
            set.add(sums[(size_t)s * w.bits + k]);
        }
        set.add(sums[(size_t)s * w.bits]);
        total.add(set);
    }
    return total.to_affine();
}

}  // namespace pm
