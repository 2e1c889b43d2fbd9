// Kernels of BatchAdder.
#pragma once

#include <algorithm>

#include "core/error.h"
#include "field/inverse.h"
#include "msm/access.cuh"
#include "msm/batch_add.h"

namespace pm {

namespace batch_add {

// There are as many chains as blocks fit at once, because blocks that wait for room keep the kernels of
// other streams waiting, too. Sixteen warps a multiprocessor keep the multipliers of G1 busy.
template <class F>
struct Policy {
    static constexpr int threads = 128;
    static constexpr int blocks = sizeof(F) == 48 ? 4 : 2;  // a multiprocessor
    static constexpr int registers = sizeof(F) == 48 ? 128 : 255;
};

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

template <class F>
__global__ __launch_bounds__(Policy<F>::threads) __maxnreg__(Policy<F>::registers) void forward(
    const Affine<F>* __restrict__ bases, const Affine<F>* __restrict__ pool, const Pair* __restrict__ pairs, uint32_t count,
    uint32_t chains, uint32_t capacity, uint4* __restrict__ prefixes, F* __restrict__ totals)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= chains) return;
    const Pair none = {Reference::none, Reference::none};
    F product = F::one();
    // Pairs are read two steps ahead, their x one step ahead.
    Pair pair = pairs[t];
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
            store_prefix(prefixes, capacity, i, product);
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

template <class F>
__global__ __launch_bounds__(Policy<F>::threads) __maxnreg__(Policy<F>::registers) void backward(
    const Affine<F>* __restrict__ bases, Affine<F>* pool, const Pair* __restrict__ pairs, uint32_t count, uint32_t chains,
    uint32_t capacity, const uint4* __restrict__ prefixes, const F* __restrict__ inverses, uint32_t output)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= chains) return;
    F rest = load_global(inverses + t);
    uint32_t i = t + (count - 1 - t) / chains * chains;
    Pair pair = pairs[i];
    for (;;) {
        const bool more = i != t;
        const Pair next = more ? pairs[i - chains] : pair;
        if (pair.left != Reference::none) {
            const Affine<F>* l = locate(bases, pool, pair.left);
            if (pair.right == Reference::none) {
                store_global(pool + output + i, load_point(bases, pool, pair.left));
            } else {
                const Affine<F>* r = locate(bases, pool, pair.right);
                const F left_x = load_global(&l->x), right_x = load_global(&r->x);
                F left_y = load_global(&l->y), right_y = load_global(&r->y);
                const F prefix = load_prefix<F>(prefixes, capacity, i);
                const F d = F::difference_unreduced(right_x, left_x);
                const F inverse = F::product_unreduced(rest, prefix);
                Affine<F> sum;
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
                store_global(pool + output + i, sum);
            }
        }
        if (!more) break;
        i -= chains;
        pair = next;
    }
}

}  // namespace batch_add

template <class F>
void BatchAdder<F>::reserve(Scratch& scratch, uint32_t capacity, int multiprocessors)
{
    capacity_ = capacity;
    max_chains_ = (uint32_t)(multiprocessors * batch_add::Policy<F>::blocks * batch_add::Policy<F>::threads);
    if (max_chains_ > capacity) max_chains_ = capacity;
    prefixes_ = scratch.take<uint4>((size_t)capacity * (sizeof(F) / 16));
    totals_ = scratch.take<F>(max_chains_);
    total_prefixes_ = scratch.take<F>(max_chains_);
}

template <class F>
void BatchAdder<F>::add(const Affine<F>* bases, Affine<F>* pool, const Pair* pairs, uint32_t count, uint32_t output, cudaStream_t stream) const
{
    using namespace batch_add;
    if (count == 0) return;
    if (count > capacity_) throw Error(Code::internal, 0, "batch addition: more pairs than reserved");
    constexpr int threads = Policy<F>::threads;
    // Chains of eight pairs at least, unless that leaves the device idle.
    uint32_t chains = (count + 7) / 8;
    if (chains < 8192) chains = count < 8192 ? count : 8192;
    if (chains > max_chains_) chains = max_chains_;
    const uint32_t blocks = (chains + threads - 1) / threads;
    forward<F><<<blocks, threads, 0, stream>>>(bases, pool, pairs, count, chains, capacity_, prefixes_, totals_);
    PM_LAUNCHED("forward products");
    const uint32_t stride = (chains + group - 1) / group;
    invert<F><<<(stride + 31) / 32, 32, 0, stream>>>(totals_, total_prefixes_, chains, stride);
    PM_LAUNCHED("inversions");
    backward<F><<<blocks, threads, 0, stream>>>(bases, pool, pairs, count, chains, capacity_, prefixes_, totals_, output);
    PM_LAUNCHED("backward sums");
}

}  // namespace pm
