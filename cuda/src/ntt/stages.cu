// The kernels of small domains, and those that fill tables.
#include "ntt/ntt.h"
#include "ntt/stages.h"

namespace pm::ntt {

namespace {

constexpr unsigned block = 128;

unsigned blocks(uint64_t n) { return (unsigned)((n + block - 1) / block); }

__device__ uint64_t index() { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void gather_kernel(Fr* target, const Fr* a, const Fr* b, bool negate, int log_n)
{
    if (index() < (uint64_t)1 << log_n) stages::gather(target, a, b, negate, log_n, index());
}

__global__ void to_reversed_kernel(Fr* x, int log_n, int log_half, const __grid_constant__ Powers root)
{
    if (index() < (uint64_t)1 << (log_n - 1)) stages::butterfly_to_reversed(x, log_n, log_half, root, index());
}

__global__ void from_reversed_kernel(Fr* x, int log_n, int log_half, const __grid_constant__ Powers root)
{
    if (index() < (uint64_t)1 << (log_n - 1)) stages::butterfly_from_reversed(x, log_n, log_half, root, index());
}

__global__ void finish_kernel(Fr* x, const Fr* subtract, const __grid_constant__ Fr scale, bool shifted, const __grid_constant__ Powers shift,
                              bool has_first, const __grid_constant__ Fr first, int log_n)
{
    if (index() < (uint64_t)1 << log_n) stages::finish(x, subtract, scale, shifted, shift, has_first, first, log_n, index());
}

__global__ void fill_kernel(Fr* table, const __grid_constant__ Factors f, const __grid_constant__ Powers root, const __grid_constant__ Powers shift)
{
    if (index() * fill_run < f.entries()) fill(table, f, root, shift, index());
}

__global__ void powers_kernel(Fr* table, const __grid_constant__ Powers root)
{
    if (index() < 1u << largest_pass) store(table + index(), root.at(index()));
}

}  // namespace

void DeviceExecutor::gather(Fr* target, const Fr* a, const Fr* b, bool negate, int log_n)
{
    gather_kernel<<<blocks((uint64_t)1 << log_n), block, 0, stream_>>>(target, a, b, negate, log_n);
    PM_LAUNCHED("transform input");
}

void DeviceExecutor::stage_to_reversed(Fr* x, int log_n, int log_half, const Powers& root)
{
    to_reversed_kernel<<<blocks((uint64_t)1 << (log_n - 1)), block, 0, stream_>>>(x, log_n, log_half, root);
    PM_LAUNCHED("transform stage");
}

void DeviceExecutor::stage_from_reversed(Fr* x, int log_n, int log_half, const Powers& root)
{
    from_reversed_kernel<<<blocks((uint64_t)1 << (log_n - 1)), block, 0, stream_>>>(x, log_n, log_half, root);
    PM_LAUNCHED("transform stage");
}

void DeviceExecutor::finish(Fr* x, const Fr* subtract, const Fr& scale, bool shifted, const Powers& shift, bool has_first, const Fr& first, int log_n)
{
    finish_kernel<<<blocks((uint64_t)1 << log_n), block, 0, stream_>>>(x, subtract, scale, shifted, shift, has_first, first, log_n);
    PM_LAUNCHED("transform factors");
}

void DeviceExecutor::fill(Fr* table, const Factors& f, const Powers& root, const Powers& shift)
{
    fill_kernel<<<blocks((f.entries() + fill_run - 1) / fill_run), block, 0, stream_>>>(table, f, root, shift);
    PM_LAUNCHED("factors");
}

void DeviceExecutor::fill_powers(Fr* table, const Powers& root)
{
    powers_kernel<<<blocks(1u << largest_pass), block, 0, stream_>>>(table, root);
    PM_LAUNCHED("roots");
}

}  // namespace pm::ntt
