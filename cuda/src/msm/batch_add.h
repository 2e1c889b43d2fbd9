// Many independent affine additions that share their inversions: 5 products and a square each,
// where mixed xyzz additions take 8 and 2.
#pragma once

#include <cuda_runtime_api.h>

#include "core/scratch.h"
#include "curve/affine.h"
#include "msm/reference.h"

namespace pm {

// Adds lists of pairs. Thread t of T owns the pairs t, t + T, ...: it multiplies their denominators up
// and keeps each prefix product; the T totals are inverted, again in groups; then each thread walks
// its pairs backwards. Sums of pair i go to pool slot output + i.
template <class F>
class BatchAdder {
public:
    // capacity: the most pairs of one call.
    void reserve(Scratch& scratch, uint32_t capacity, int multiprocessors);

    // Asynchronous. No sum of this call may be an operand of it, except that a pair may overwrite its own operand.
    void add(const Affine<F>* bases, Affine<F>* pool, const Pair* pairs, uint32_t count, uint32_t output, cudaStream_t stream) const;

private:
    uint32_t capacity_ = 0, max_chains_ = 0;
    uint4* prefixes_ = nullptr;  // 16-byte parts, part-major, so that a warp's accesses are contiguous
    F* totals_ = nullptr;
    F* total_prefixes_ = nullptr;
};

extern template class BatchAdder<Fp>;
extern template class BatchAdder<Fp2>;

}  // namespace pm
