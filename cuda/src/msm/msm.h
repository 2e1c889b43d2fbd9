// Multi-scalar multiplication: sum of s_i P_i over fixed bases in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "core/lanes.h"
#include "core/scratch.h"
#include "core/stage.h"
#include "curve/xyzz.h"
#include "field/fr.h"
#include "msm/batch_add.h"
#include "msm/sort.h"
#include "msm/windows.h"

namespace pm {

// Fixed bases: `copies` tables of `count` points one after the other, copy i being the bases times
// 2^(i * copy_shift), as made by make_copies for the same Windows.
template <class F>
struct Bases {
    const Affine<F>* points;
    uint32_t count;
    int copies;
    int copy_bits;  // window bits the copies were made for; ignored for a single copy
};

struct MsmInput {
    const Fr* scalars;        // device
    const uint32_t* indices;  // device; base of each scalar, or null for scalar i times base i
    uint32_t count;
    bool montgomery;          // scalars in the Montgomery domain, or plain
};

template <class F>
class Msm {
public:
    // Windows and scratch for up to max_count scalars. Window bits 0 lets the sizes decide. The scratch
    // stays under budget_bytes by cutting the work into pieces, or an error says how much is needed.
    Msm(const Bases<F>& bases, uint32_t max_count, int window_bits, size_t budget_bytes, int multiprocessors);

    const Windows& windows() const { return windows_; }
    size_t scratch_bytes() const { return scratch_bytes_; }

    // Blocks until the sum is known. scratch: device, scratch_bytes() at an address divisible by 256.
    Affine<F> run(const MsmInput& input, void* scratch, StageTimes* times, const Lanes& lanes) const;

private:
    struct Layout;
    struct Sorted;
    Layout lay_out(void* scratch, int sets_at_once, uint32_t chunk) const;
    void sort_entries(Layout& l, Sorted& sorted, const MsmInput& input, int first_set, StageTimes* times, cudaStream_t stream) const;
    void sum_buckets(const Layout& l, const Sorted& sorted, StageTimes* times, const Lanes& lanes) const;
    void weigh_buckets(const Layout& l, int sets, Xyzz<F>* bit_sums, StageTimes* times, const Lanes& lanes) const;

    Bases<F> bases_;
    uint32_t max_count_;
    int multiprocessors_;
    Windows windows_;
    int sets_at_once_ = 0;
    uint32_t chunk_ = 0;
    size_t scratch_bytes_ = 0;
};

// The sum of the bases named by an index list, or of the first `count` if indices is null.
template <class F>
class PointSum {
public:
    PointSum(uint32_t max_count, int multiprocessors);
    size_t scratch_bytes() const { return scratch_bytes_; }

    // Adds the positions of the set bits. Blocks until the sum is known.
    Affine<F> sum_bits(const Affine<F>* points, const uint32_t* bits, uint32_t count, void* scratch, StageTimes* times, const Lanes& lanes) const;

private:
    struct Layout;
    Layout lay_out(void* scratch) const;
    void add_chunk(const Layout& l, int lane, const Affine<F>* points, const uint32_t* list, uint32_t count, Xyzz<F>* sums, cudaStream_t stream) const;
    uint32_t max_count_;
    int multiprocessors_;
    size_t scratch_bytes_ = 0;
};

// Copy i of the bases from copy i - 1: `shift` doublings of each point. Asynchronous; out may not overlap in.
template <class F>
void make_copy(const Affine<F>* in, Affine<F>* out, uint32_t count, int shift, cudaStream_t stream);

}  // namespace pm
