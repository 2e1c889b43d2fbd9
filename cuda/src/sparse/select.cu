#include "sparse/launch.h"

namespace pm::sparse {

namespace {

constexpr unsigned block = 256;

__global__ __launch_bounds__(block) void select_kernel(const uint32_t* __restrict__ variables, uint32_t count, const Fr* __restrict__ inputs,
                                                       const Fr* __restrict__ aux, const Selection out)
{
    const uint32_t p = blockIdx.x * block + threadIdx.x;
    const uint32_t lane = threadIdx.x % 32;
    if (p - lane >= count) return;  // whole warps only
    Fr x = Fr::zero();
    if (p < count) {
        const uint32_t v = variables ? variables[p] : p | aux_flag;
        x = ntt::load((v & aux_flag ? aux : inputs) + (v & ~aux_flag));
    }
    const bool one = x == Fr::one();
    const bool other = !one && !x.is_zero();
    const uint32_t ones = __ballot_sync(0xffffffffu, one);
    const uint32_t others = __ballot_sync(0xffffffffu, other);
    uint32_t at = 0;
    if (lane == 0) {
        out.ones[p / 32] = ones;
        if (others) at = atomicAdd(out.count, __popc(others));
    }
    at = __shfl_sync(0xffffffffu, at, 0) + __popc(others & ((1u << lane) - 1));
    if (other && at < out.capacity) {
        out.indices[at] = p;
        ntt::store(out.scalars + at, x);
    }
}

}  // namespace

void select(const uint32_t* variables, uint32_t count, const Fr* inputs, const Fr* aux, const Selection& out, cudaStream_t stream)
{
    PM_CUDA(cudaMemsetAsync(out.count, 0, sizeof *out.count, stream));
    if (count == 0) return;
    select_kernel<<<(count + block - 1) / block, block, 0, stream>>>(variables, count, inputs, aux, out);
    PM_LAUNCHED("selection");
}

}  // namespace pm::sparse
