// Many independent affine additions that share their inversions: 5 products and a square each,
// where mixed xyzz additions take 8 and 2.
#pragma once

#include <cuda_runtime_api.h>

#include "core/scratch.h"
#include "curve/affine.h"
#include "msm/reference.h"

namespace pm {

// One list of pairs whose sums go to the pool slots output, output + 1, ...
struct Round {
    const Pair* pairs;
    uint32_t count;
    uint32_t output;
};

// Adds lists of pairs. Thread t of T owns the pairs t, t + T, ...: it multiplies their denominators up
// and keeps each prefix product (forward step); the T totals are inverted, again in groups; then each
// thread walks its pairs in the opposite order (backward step).
//
// Where the sums of a round are the operands of the next, two neighbours to a pair, the backward step
// forms the next round's products while the sums are in registers, so that the next round needs no
// forward step of its own, and reads no point twice.
template <class F>
class BatchAdder {
public:
    // What one round hands to the next.
    struct Progress {
        bool ready = false;       // the forward step of the coming round is done
        bool descending = false;  // in which order
        int buffer = 0;
        uint32_t chains = 0;
    };

    // capacity: the most pairs of one round; a round that takes the sums of another in has half as many.
    void reserve(Scratch& scratch, uint32_t capacity, int multiprocessors);

    // Adds a round. next may be null; otherwise its pairs must be in place already (on this stream), and
    // wherever pair i of next names slots 2i or 2i + 1 of this round's output these must be its left and
    // right operands. It must then be the next round given, with the same progress. Asynchronous.
    // No sum of a round may be an operand of the same round.
    void add(const Affine<F>* bases, Affine<F>* pool, const Round& round, const Round* next, Progress& progress, cudaStream_t stream) const;

private:
    uint32_t capacity_[2] = {0, 0}, max_chains_ = 0;
    uint4* prefixes_[2] = {};  // 16-byte parts, part-major, so that a warp's accesses are contiguous
    F* totals_[2] = {};
    F* total_prefixes_ = nullptr;
};

extern template class BatchAdder<Fp>;
extern template class BatchAdder<Fp2>;

}  // namespace pm
