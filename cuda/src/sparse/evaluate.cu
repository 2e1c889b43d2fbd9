#include "sparse/launch.h"

namespace pm::sparse {

namespace {

constexpr unsigned block = 256;
constexpr unsigned warps = block / 32;

// A thread for each row of each instance. Where a block has many rows, the same rows of all instances
// follow each other, so that the matrix is read from memory once and from the cache for the other instances.
__global__ __launch_bounds__(block) void short_rows_kernel(const __grid_constant__ Matrix m, const __grid_constant__ Assignment z, Fr* out)
{
    uint32_t row, instance;
    if (m.rows >= block) {
        instance = blockIdx.x % m.repeat;
        row = blockIdx.x / m.repeat * block + threadIdx.x;
        if (row >= m.rows) return;
    } else {
        const uint64_t i = (uint64_t)blockIdx.x * block + threadIdx.x;
        if (i >= (uint64_t)m.rows * m.repeat) return;
        instance = (uint32_t)(i / m.rows);
        row = (uint32_t)(i % m.rows);
    }
    if (m.end[row] - first_term(m, row) > long_row) return;
    ntt::store(out + row_position(m, row, instance), row_sum(m, z, row, instance, 0, 1));
}

// A warp for each long row of each instance.
__global__ __launch_bounds__(block) void long_rows_kernel(const __grid_constant__ Matrix m, const __grid_constant__ Assignment z, Fr* out)
{
    const uint64_t i = (uint64_t)blockIdx.x * warps + threadIdx.x / 32;
    if (i >= (uint64_t)m.long_count * m.repeat) return;
    const uint32_t row = m.long_rows[i / m.repeat], instance = (uint32_t)(i % m.repeat), lane = threadIdx.x % 32;
    Fr sum = row_sum(m, z, row, instance, lane, 32);
#pragma unroll 1
    for (int offset = 16; offset > 0; offset /= 2) {
        Fr other;
        PM_UNROLL
        for (int k = 0; k < Fr::N; k++) other.limb[k] = __shfl_down_sync(0xffffffffu, sum.limb[k], (unsigned)offset);
        sum = sum + other;
    }
    if (lane == 0) ntt::store(out + row_position(m, row, instance), sum);
}

}  // namespace

void evaluate(const Matrix& m, const Assignment& z, Fr* out, cudaStream_t stream)
{
    if (m.rows == 0 || m.repeat == 0) return;
    const uint64_t blocks = m.rows >= block ? (uint64_t)((m.rows + block - 1) / block) * m.repeat : ((uint64_t)m.rows * m.repeat + block - 1) / block;
    short_rows_kernel<<<(unsigned)blocks, block, 0, stream>>>(m, z, out);
    PM_LAUNCHED("rows");
    if (m.long_count) {
        const uint64_t all = (uint64_t)m.long_count * m.repeat;
        long_rows_kernel<<<(unsigned)((all + warps - 1) / warps), block, 0, stream>>>(m, z, out);
        PM_LAUNCHED("long rows");
    }
}

}  // namespace pm::sparse
