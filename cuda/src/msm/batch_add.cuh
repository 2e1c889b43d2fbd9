// Kernels of BatchAdder.
#pragma once

#include <algorithm>

#include "core/error.h"
#include "field/inverse.h"
#include "msm/access.cuh"
#include "msm/batch_add.h"

namespace pm {

namespace batch_add {

// Chains are as many as backward blocks fit at once. They get all registers of a multiprocessor.
template <class F>
struct Policy {
    static constexpr bool fuse = sizeof(F) == 48;  // a G2 addition has no registers left
    static constexpr int threads = 128;
    static constexpr int blocks = sizeof(F) == 48 ? 3 : 2;  // a multiprocessor
    static constexpr int registers = sizeof(F) == 48 ? 168 : 255;
};

// Shorter chains spend too much on inversions.
constexpr uint32_t least_chain = 8;
// Totals that share one inversion in the second level.
constexpr uint32_t group = 8;

// Differences are unreduced: zero appears as the modulus.
__device__ __forceinline__ bool zero_limb(const Fp& a) { return a.limb[0] == FpParams::modulus(0); }
__device__ __forceinline__ bool zero_limb(const Fp2& a) { return a.c0.limb[0] == 0; }

__device__ __forceinline__ uint32_t first_limb(const Fp& a) { return a.limb[0]; }
__device__ __forceinline__ uint32_t first_limb(const Fp2& a) { return a.c0.limb[0]; }

// Whether a pair may need another denominator than the difference of x: decided on single words,
// so a false alarm (once in 2^30) is possible and harmless.
template <class F>
__device__ __forceinline__ bool unusual(const F& left_x, const F& right_x, const F& difference)
{
    return first_limb(left_x) == 0 || first_limb(right_x) == 0 || zero_limb(difference);
}

template <class F>
__device__ __noinline__ F unusual_denominator(const Affine<F>* bases, const Affine<F>* pool, Pair pair)
{
    const Affine<F> left = load_point(bases, pool, pair.left);
    const Affine<F> right = load_point(bases, pool, pair.right);
    return denominator(classify(left, right), left, right);
}

template <class F>
__device__ __noinline__ Affine<F> unusual_sum(const Affine<F>* bases, const Affine<F>* pool, Pair pair, const F& inverse)
{
    const Affine<F> left = load_point(bases, pool, pair.left);
    const Affine<F> right = load_point(bases, pool, pair.right);
    return add_with_inverse(classify(left, right), left, right, inverse);
}

template <class F>
__device__ __forceinline__ void store_prefix(uint4* prefixes, uint32_t capacity, uint32_t i, const F& v)
{
    const uint4* from = reinterpret_cast<const uint4*>(&v);
    PM_UNROLL
    for (int k = 0; k < (int)(sizeof(F) / 16); k++) prefixes[(size_t)k * capacity + i] = from[k];
}

template <class F>
__device__ __forceinline__ F load_prefix(const uint4* prefixes, uint32_t capacity, uint32_t i)
{
    F v;
    uint4* to = reinterpret_cast<uint4*>(&v);
    PM_UNROLL
    for (int k = 0; k < (int)(sizeof(F) / 16); k++) to[k] = prefixes[(size_t)k * capacity + i];
    return v;
}

// Part of the prefixes of one round.
struct Prefixes {
    uint4* parts;
    uint32_t capacity;
};

template <class F>
__global__ __launch_bounds__(Policy<F>::threads) __maxnreg__(Policy<F>::registers) void forward(
    const Affine<F>* __restrict__ bases, const Affine<F>* __restrict__ pool, const Pair* __restrict__ pairs, uint32_t count,
    uint32_t chains, Prefixes prefixes, F* __restrict__ totals)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    F product = F::one();
    const Pair none = {Reference::none, Reference::none};
    // Pairs are read two steps ahead, their x one step ahead.
    Pair pair = t < count ? pairs[t] : none;
    Pair next = t + chains < count ? pairs[t + chains] : none;
    F left = F::one(), right = F::one();
    if (pair.right != Reference::none) {
        left = load_global(&locate(bases, pool, pair.left)->x);
        right = load_global(&locate(bases, pool, pair.right)->x);
    }
    for (uint32_t i = t; i < count; i += chains) {
        const Pair after = i + 2 * (uint64_t)chains < count ? pairs[i + 2 * chains] : none;
        F next_left = left, next_right = right;
        if (next.right != Reference::none) {
            next_left = load_global(&locate(bases, pool, next.left)->x);
            next_right = load_global(&locate(bases, pool, next.right)->x);
        }
        if (pair.right != Reference::none) {
            store_prefix(prefixes.parts, prefixes.capacity, i, product);
            F d = F::difference_unreduced(right, left);
            if (unusual(left, right, d)) d = unusual_denominator(bases, pool, pair);
            product = F::product_unreduced(product, d);
        }
        pair = next;
        next = after;
        left = next_left;
        right = next_right;
    }
    store_global(totals + t, product);
}

// Replaces each total by its inverse. Totals of a group lie one stride apart.
template <class F>
__global__ __launch_bounds__(32) void invert(F* __restrict__ totals, F* __restrict__ prefixes, uint32_t count, uint32_t stride)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= stride) return;
    F product = F::one();
    uint32_t last = t;
    for (uint32_t i = t; i < count; i += stride) {
        store_global(prefixes + i, product);
        product = product * load_global(totals + i);
        last = i;
    }
    product.reduce_once();
    F rest = inverse(product);
    for (uint32_t i = last;; i -= stride) {
        const F v = load_global(totals + i);
        store_global(totals + i, rest * load_global(prefixes + i));
        if (i == t) break;
        rest = rest * v;
    }
}

// A word of an element, and its exchange with the neighbouring lane.
__device__ __forceinline__ Fp exchange(const Fp& a)
{
    Fp r;
    PM_UNROLL
    for (int i = 0; i < Fp::N; i++) r.limb[i] = __shfl_xor_sync(0xffffffffu, a.limb[i], 1);
    return r;
}

__device__ __forceinline__ Fp2 exchange(const Fp2& a) { return {exchange(a.c0), exchange(a.c1)}; }

template <class F>
struct Next {
    const Pair* pairs;
    uint32_t count;
    Prefixes prefixes;
    F* totals;
};

// Walks the chains, and with `fused` forms the products of the next round.
//
// Two neighbouring lanes hold the operands of one next pair, so in two steps of the walk a warp finds 32
// next pairs: the even lane takes the one of the even step, the odd lane that of the odd step, and each
// sends its neighbour the x that the other needs. Lane t = 2a + b thus takes the next pairs
// a + b T/2 + q T, which is exactly chain a + b T/2 of the next round, in this round's order of steps.
template <class F, bool fused>
__global__ __launch_bounds__(Policy<F>::threads) __maxnreg__(Policy<F>::registers) void backward(
    const Affine<F>* __restrict__ bases, Affine<F>* pool, const Pair* __restrict__ pairs, uint32_t count, uint32_t chains,
    bool descending, Prefixes prefixes, const F* __restrict__ inverses, uint32_t output, Next<F> next)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    const Pair none = {Reference::none, Reference::none};
    // The same number of steps for all threads, and an even one.
    const uint32_t steps = ((count + chains - 1) / chains + 1) / 2 * 2;
    const uint32_t next_chain = t / 2 + t % 2 * (chains / 2);
    F rest = load_global(inverses + t);
    F next_product, mine, other;
    if (fused) next_product = F::one();
    uint32_t k = descending ? steps - 1 : 0;
    Pair pair = t + k * chains < count ? pairs[t + k * chains] : none;
#pragma unroll 1
    for (uint32_t m = 0; m < steps; m++) {
        const uint32_t i = t + k * chains;
        const uint32_t next_k = descending ? k - 1 : k + 1;
        const Pair ahead = m + 1 < steps && t + next_k * chains < count ? pairs[t + next_k * chains] : none;
        Affine<F> sum;
        if (pair.left != Reference::none) {
            if (pair.right == Reference::none) {
                sum = load_point(bases, pool, pair.left);
            } else {
                const Affine<F>* l = locate(bases, pool, pair.left);
                const Affine<F>* r = locate(bases, pool, pair.right);
                const F left_x = load_global(&l->x), right_x = load_global(&r->x);
                F left_y = load_global(&l->y), right_y = load_global(&r->y);
                const F prefix = load_prefix<F>(prefixes.parts, prefixes.capacity, i);
                const F d = F::difference_unreduced(right_x, left_x);
                const F inverse = F::product_unreduced(rest, prefix);
                if (unusual(left_x, right_x, d)) {
                    rest = F::product_unreduced(rest, unusual_denominator(bases, pool, pair));
                    sum = unusual_sum(bases, pool, pair, inverse);
                } else {
                    rest = F::product_unreduced(rest, d);
                    if ((pair.left | pair.right) & Reference::negative) {
                        left_y.negate_unreduced_if((pair.left & Reference::negative) != 0);
                        right_y.negate_unreduced_if((pair.right & Reference::negative) != 0);
                    }
                    const F slope = F::product_unreduced(F::difference_unreduced(right_y, left_y), inverse);
                    sum.x = slope.squared() - left_x - right_x;
                    sum.y = slope * F::difference_unreduced(left_x, sum.x) - left_y;
                }
            }
            store_global(pool + output + i, sum);
        }
        if (fused) {
            if ((k ^ t) & 1)
                other = sum.x;
            else
                mine = sum.x;
            if (m & 1) {
                __syncwarp();  // the neighbour's sum is in memory, too
                other = exchange(other);
                const uint32_t j = next_chain + k / 2 * chains;
                const Pair p = j < next.count ? next.pairs[j] : none;
                if (p.right != Reference::none) {
                    F left = t & 1 ? other : mine, right = t & 1 ? mine : other;
                    const uint32_t slot = Reference::pool | (output + 2 * j);
                    if (p.left != slot) left = load_global(&locate(bases, static_cast<const Affine<F>*>(pool), p.left)->x);
                    if (p.right != slot + 1) right = load_global(&locate(bases, static_cast<const Affine<F>*>(pool), p.right)->x);
                    store_prefix(next.prefixes.parts, next.prefixes.capacity, j, next_product);
                    F d = F::difference_unreduced(right, left);
                    if (unusual(left, right, d)) d = unusual_denominator(bases, static_cast<const Affine<F>*>(pool), p);
                    next_product = F::product_unreduced(next_product, d);
                }
            }
        }
        k = next_k;
        pair = ahead;
    }
    if (fused) store_global(next.totals + next_chain, next_product);
}

}  // namespace batch_add

template <class F>
void BatchAdder<F>::reserve(Scratch& scratch, uint32_t capacity, int multiprocessors)
{
    using P = batch_add::Policy<F>;
    const uint32_t resident = (uint32_t)(multiprocessors * P::blocks * P::threads);
    max_chains_ = std::min(resident, (capacity + P::threads - 1) / P::threads * P::threads);
    capacity_[0] = capacity;
    capacity_[1] = P::fuse ? capacity / 2 + 1 : 0;
    for (int i = 0; i < 2; i++) {
        prefixes_[i] = scratch.take<uint4>((size_t)capacity_[i] * (sizeof(F) / 16));
        totals_[i] = scratch.take<F>(max_chains_);
    }
    total_prefixes_ = scratch.take<F>(max_chains_);
}

template <class F>
void BatchAdder<F>::add(const Affine<F>* bases, Affine<F>* pool, const Round& round, const Round* next, Progress& progress, cudaStream_t stream) const
{
    using namespace batch_add;
    constexpr uint32_t threads = Policy<F>::threads;
    if (round.count == 0) return;
    if (!progress.ready) {
        // Long chains, unless that leaves the device idle.
        uint32_t chains = std::max((round.count + least_chain - 1) / least_chain, std::min(round.count, 8192u));
        chains = std::min((chains + threads - 1) / threads * threads, max_chains_);
        progress = {true, true, 0, chains};
        if (round.count > capacity_[0]) throw Error(Code::internal, 0, "batch addition: more pairs than reserved");
        forward<F><<<chains / threads, threads, 0, stream>>>(bases, pool, round.pairs, round.count, chains, {prefixes_[0], capacity_[0]}, totals_[0]);
        PM_LAUNCHED("forward products");
    }
    const uint32_t chains = progress.chains;
    const int now = progress.buffer, then = 1 - now;
    const uint32_t stride = (chains + group - 1) / group;
    invert<F><<<(stride + 31) / 32, 32, 0, stream>>>(totals_[now], total_prefixes_, chains, stride);
    PM_LAUNCHED("inversions");
    const bool fused = Policy<F>::fuse && next && next->count >= least_chain * chains && next->count <= capacity_[then];
    const Prefixes prefixes = {prefixes_[now], capacity_[now]};
    if constexpr (Policy<F>::fuse) {
        if (fused) {
            const Next<F> following = {next->pairs, next->count, {prefixes_[then], capacity_[then]}, totals_[then]};
            backward<F, true><<<chains / threads, threads, 0, stream>>>(bases, pool, round.pairs, round.count, chains, progress.descending, prefixes,
                                                                       totals_[now], round.output, following);
        }
    }
    if (!fused)
        backward<F, false><<<chains / threads, threads, 0, stream>>>(bases, pool, round.pairs, round.count, chains, progress.descending, prefixes,
                                                                    totals_[now], round.output, Next<F>{});
    PM_LAUNCHED("backward sums");
    progress = {fused, !progress.descending, then, chains};
}

}  // namespace pm
