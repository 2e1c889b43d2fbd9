// The kernels of the passes.
#include "ntt/ntt.h"

namespace pm::ntt {

namespace {

template <int S, bool PRODUCT>
__global__ __launch_bounds__(threads, 512 / threads) void to_reversed(const __grid_constant__ PassArguments a)
{
    extern __shared__ Half memory[];
    const Shared s = {memory, memory + tile};
    const Pass<S> pass(a, blockIdx.x, threadIdx.x);
    Fr x[8];
    pass.template read_natural<PRODUCT>(x, a);
#pragma unroll 1
    for (int step = 0; step < Pass<S>::steps; step++) {
        pass.step_to_reversed(x, a, step);
        if (step + 1 == Pass<S>::steps) break;
        // A thread overwrites only what it alone has read since the last barrier.
        pass.put(x, step, s);
        __syncthreads();
        pass.get(x, step + 1, s);
    }
    pass.write_reversed(x, a);
}

template <int S>
__global__ __launch_bounds__(threads, 512 / threads) void from_reversed(const __grid_constant__ PassArguments a)
{
    extern __shared__ Half memory[];
    const Shared s = {memory, memory + tile};
    const Pass<S> pass(a, blockIdx.x, threadIdx.x);
    Fr x[8];
    pass.read_reversed(x, a);
#pragma unroll 1
    for (int step = Pass<S>::steps - 1; step >= 0; step--) {
        pass.step_from_reversed(x, a, step);
        if (step == 0) break;
        pass.put(x, step, s);
        __syncthreads();
        pass.get(x, step - 1, s);
    }
    pass.write_natural(x, a);
}

template <class Kernel>
void launch(Kernel kernel, const PassArguments& a, cudaStream_t stream)
{
    PM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
    kernel<<<1u << (a.log_n - tile_log), threads, shared_bytes, stream>>>(a);
    PM_LAUNCHED("transform pass");
}

template <int S>
void launch_to_reversed(const PassArguments& a, cudaStream_t stream)
{
    if (a.source2)
        launch(to_reversed<S, true>, a, stream);
    else
        launch(to_reversed<S, false>, a, stream);
}

}  // namespace

void DeviceExecutor::pass_to_reversed(int bits, const PassArguments& a)
{
    switch (bits) {
    case 6: return launch_to_reversed<6>(a, stream_);
    case 7: return launch_to_reversed<7>(a, stream_);
    case 8: return launch_to_reversed<8>(a, stream_);
    case 9: return launch_to_reversed<9>(a, stream_);
    default: throw Error(Code::internal, 0, "transform: pass of an unknown size");
    }
}

void DeviceExecutor::pass_from_reversed(int bits, const PassArguments& a)
{
    switch (bits) {
    case 6: return launch(from_reversed<6>, a, stream_);
    case 7: return launch(from_reversed<7>, a, stream_);
    case 8: return launch(from_reversed<8>, a, stream_);
    case 9: return launch(from_reversed<9>, a, stream_);
    default: throw Error(Code::internal, 0, "transform: pass of an unknown size");
    }
}

}  // namespace pm::ntt
