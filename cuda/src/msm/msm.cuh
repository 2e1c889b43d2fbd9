// The host side of Msm.
#pragma once

#include <algorithm>

#include "msm/buckets.cuh"
#include "msm/digits.cuh"
#include "msm/msm.h"
#include "msm/weigh.cuh"

namespace pm {

namespace msm_detail {

inline int ceil_log2(uint64_t v)
{
    int l = 0;
    while ((1ull << l) < v) l++;
    return l;
}

inline uint32_t blocks(uint64_t threads, uint32_t per_block)
{
    return (uint32_t)((threads + per_block - 1) / per_block);
}

struct ChunkShare {
    int lane;
    uint32_t length;
};

// Cuts the sorted entries into chunks for the lanes in turn. The first chunks get shorter from lane to
// lane, and the last ones make up for it, so that the lanes are not in the same phase: a chunk's first
// round waits for memory most. At least one chunk, perhaps empty.
inline std::vector<ChunkShare> share_chunks(uint32_t entries, uint32_t longest_chunk, int levels)
{
    constexpr int lanes = Lanes::count;
    if (entries <= std::min(1u << 20, longest_chunk)) return {{0, entries}};
    // A chunk's slots are counted in multiples of its longest node; with huge buckets only whole chunks fit.
    const bool huge = (1ull << levels) > longest_chunk / 8;
    const uint32_t unit = huge ? longest_chunk : 1u << levels;
    const uint32_t most = longest_chunk / unit * unit;
    const uint32_t turns = (uint32_t)((entries + (uint64_t)lanes * most - 1) / ((uint64_t)lanes * most));
    const uint64_t length = ((uint64_t)entries + lanes * turns - 1) / (lanes * turns);
    std::vector<ChunkShare> shares;
    uint32_t left = entries;
    const auto give = [&](int lane, uint64_t wanted) {
        const uint32_t n = (uint32_t)std::min<uint64_t>({left, most, (wanted + unit - 1) / unit * unit});
        if (n > 0) shares.push_back({lane, n});
        left -= n;
    };
    for (uint32_t turn = 0; turn <= turns || left > 0; turn++)
        for (int lane = 0; lane < lanes; lane++)
            give(lane, turn == 0 ? length * (uint64_t)(lanes - lane) / lanes : turn == turns ? length * (uint64_t)lane / lanes : length);
    return shares;
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

template <class F>
struct Msm<F>::Layout {
    // What one of the two lanes needs for itself.
    struct Lane {
        uint32_t slots;  // first of its slots in the pool
        Pair* pairs[2];  // of a round and of the next
        BatchAdder<F> adder;
    };

    SortBuffers sort;
    void* sort_temporary;
    size_t sort_temporary_bytes;
    buckets::Range* ranges;
    buckets::Summary* summary;
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
    for (int i = 0; i < 2; i++) {
        l.sort.keys[i] = scratch.take<uint32_t>(entries);
        l.sort.values[i] = scratch.take<uint32_t>(entries);
    }
    l.sort_temporary_bytes = sort_temporary_bytes(entries, msm_detail::ceil_log2((uint64_t)all_buckets + 1));
    l.sort_temporary = scratch.take<char>(l.sort_temporary_bytes);
    l.ranges = scratch.take<buckets::Range>(all_buckets);
    l.summary = scratch.take<buckets::Summary>(1);
    l.bit_sums = scratch.take<Xyzz<F>>((size_t)windows_.sets * windows_.bits);
    l.chunk = (uint32_t)std::min<uint64_t>(chunk, std::max<uint64_t>(4096, (uint64_t)1 << msm_detail::ceil_log2((entries + Lanes::count - 1) / Lanes::count)));
    // A lane folds rows or columns: a half of the buckets, then a quarter, and so on in turn.
    const uint32_t slots = std::max(l.chunk, all_buckets / 2 + all_buckets / 4 + 2);
    const uint32_t pairs = std::max(l.chunk / 2 + 1, all_buckets / 2 + 1);
    l.pool_slots = (uint64_t)all_buckets + (uint64_t)Lanes::count * slots;
    l.pool = scratch.take<Affine<F>>(l.pool_slots);
    for (int i = 0; i < Lanes::count; i++) {
        l.lane[i].slots = all_buckets + (uint32_t)i * slots;
        l.lane[i].pairs[0] = scratch.take<Pair>(pairs);
        l.lane[i].pairs[1] = scratch.take<Pair>(pairs);
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

template <class F>
void Msm<F>::plan_round(const Layout& l, const buckets::Tree& tree, int level, const Round& round, cudaStream_t stream) const
{
    if (round.count == 0) return;
    const int sorted = l.sort.current;
    buckets::plan_round<<<msm_detail::blocks(round.count, 256), 256, 0, stream>>>(tree, level, l.sort.keys[sorted], l.sort.values[sorted], l.ranges,
                                                                                const_cast<Pair*>(round.pairs), round.count);
    PM_LAUNCHED("tree round");
}

template <class F>
void Msm<F>::sum_buckets(const Layout& l, uint32_t entries, uint32_t all_buckets, StageTimes* times, const Lanes& lanes) const
{
    using namespace msm_detail;
    const cudaStream_t main = lanes.main();
    const uint32_t* keys = l.sort.keys[l.sort.current];
    const uint32_t* values = l.sort.values[l.sort.current];
    buckets::Summary summary;
    {
        Stage stage("msm.ranges", times, main);
        PM_CUDA(cudaMemsetAsync(l.ranges, 0, all_buckets * sizeof(buckets::Range), main));
        PM_CUDA(cudaMemsetAsync(l.summary, 0, sizeof summary, main));
        buckets::find_ranges<<<blocks(entries, 256), 256, 0, main>>>(keys, entries, all_buckets, l.ranges);
        PM_LAUNCHED("bucket ranges");
        buckets::summarize<<<std::min(blocks(all_buckets, 256), 1024u), 256, 0, main>>>(l.ranges, all_buckets, l.summary);
        PM_LAUNCHED("bucket summary");
        PM_CUDA(cudaMemcpyAsync(&summary, l.summary, sizeof summary, cudaMemcpyDeviceToHost, main));
        PM_CUDA(cudaStreamSynchronize(main));
    }
    Stage stage("msm.trees", times, main);
    const int most_levels = ceil_log2(std::max(summary.longest, 1u));
    lanes.fork();
    uint32_t first = 0;
    int before = 0;
    for (const ChunkShare& share : share_chunks(summary.used, l.chunk, most_levels)) {
        const cudaStream_t stream = lanes.at(share.lane);
        const typename Layout::Lane& own = l.lane[share.lane];
        Affine<F>* pool = l.pool + own.slots;
        const uint32_t end = first + share.length;
        const buckets::Tree tree = buckets::Tree::over(first, end, std::min(most_levels, ceil_log2(std::max(share.length, 1u))));
        if (summary.longest > 1) {
            Round round = {own.pairs[0], tree.nodes(0), 0}, next;
            plan_round(l, tree, 0, round, stream);
            typename BatchAdder<F>::Progress progress;
            for (int level = 0; level <= tree.levels; level++, round = next) {
                if (level < tree.levels) {
                    next = {own.pairs[(level + 1) & 1], tree.nodes(level + 1), tree.slots_before(level + 1)};
                    plan_round(l, tree, level + 1, next, stream);
                }
                // The last round's pairs are no neighbours.
                own.adder.add(bases_.points, pool, round, level + 1 < tree.levels ? &next : nullptr, progress, stream);
            }
        }
        // Chunks are collected in order: a bucket may begin in the chunk before.
        if (first > 0) lanes.order(before, share.lane);
        buckets::collect<F><<<blocks(all_buckets, 128), 128, 0, stream>>>(tree, values, l.ranges, all_buckets, bases_.points, pool, l.pool);
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
    uint32_t vectors[2];
    for (int lane = 0; lane < 2; lane++) {
        const bool columns = lane == 1;
        const cudaStream_t stream = lanes.at(lane);
        const typename Layout::Lane& own = l.lane[lane];
        const int rounds = columns ? shape.high_bits : shape.low_bits;
        typename BatchAdder<F>::Progress progress;
        vectors[lane] = 0;
        // Rounds write in turn to a part of half the buckets' size and to one behind it.
        const auto plan = [&](int r) {
            const Round round = {own.pairs[r & 1], all >> (r + 1), own.slots + (r & 1 ? all / 2 : 0)};
            if (r == 0 && columns)
                weigh::plan_columns<<<blocks(round.count, 256), 256, 0, stream>>>(round.count, shape, own.pairs[0]);
            else
                weigh::plan_neighbours<<<blocks(round.count, 256), 256, 0, stream>>>(round.count, r == 0 ? 0 : own.slots + (r & 1 ? 0 : all / 2), own.pairs[r & 1]);
            PM_LAUNCHED("fold");
            return round;
        };
        Round round{}, next{};
        if (rounds > 0) round = plan(0);
        for (int r = 0; r < rounds; r++, round = next) {
            const bool more = r + 1 < rounds;
            if (more) next = plan(r + 1);
            own.adder.add(bases_.points, l.pool, round, more ? &next : nullptr, progress, stream);
            vectors[lane] = round.output;
        }
    }
    lanes.join();
    const dim3 grid((unsigned)(1 + bits), (unsigned)sets);
    weigh::bit_sums<F><<<grid, weigh::sum_threads, 0, lanes.main()>>>(shape, l.pool + vectors[0], l.pool + vectors[1], bit_sums);
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
    for (int first = 0; first < w.sets; first += sets_at_once_) {
        const int end = std::min(first + sets_at_once_, w.sets);
        const uint32_t all_buckets = (uint32_t)(end - first) * w.buckets();
        uint64_t entries = 0;
        for (int s = first; s < end; s++) entries += (uint64_t)w.windows_of(s) * input.count;
        l.sort.current = 0;
        {
            Stage stage("msm.digits", times, stream);
            digits::Arguments a = {input.scalars, input.indices, input.count, bases_.count, input.montgomery, w, first, end,
                                   l.sort.keys[0], l.sort.values[0]};
            digits::cut<<<blocks(input.count, digits::threads), digits::threads, 0, stream>>>(a);
            PM_LAUNCHED("digits");
        }
        {
            Stage stage("msm.sort", times, stream);
            sort_pairs(l.sort_temporary, l.sort_temporary_bytes, l.sort, entries, ceil_log2((uint64_t)all_buckets + 1), stream);
        }
        sum_buckets(l, (uint32_t)entries, all_buckets, times, lanes);
        weigh_buckets(l, end - first, l.bit_sums + (size_t)first * w.bits, times, lanes);
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
