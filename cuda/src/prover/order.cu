#include "prover/order.h"

#include "msm/access.cuh"

namespace pm {

namespace {

__global__ __launch_bounds__(256) void reverse_kernel(const G1Affine* in, G1Affine* out, int log_n, uint32_t first, uint32_t count)
{
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    const uint32_t to = log_n == 0 ? 0 : __brev(first + i) >> (32 - log_n);
    store_global(out + to, load_global(in + i));
}

}  // namespace

void reverse_points(const G1Affine* in, G1Affine* out, int log_n, uint32_t first, uint32_t count, cudaStream_t stream)
{
    if (count == 0) return;
    reverse_kernel<<<(count + 255) / 256, 256, 0, stream>>>(in, out, log_n, first, count);
    PM_LAUNCHED("order of points");
}

}  // namespace pm
