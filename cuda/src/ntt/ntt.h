// Transforms over Fr on the device, up to 2^28 points.
#pragma once

#include <cuda_runtime_api.h>

#include "core/stage.h"
#include "ntt/quotient.h"

namespace pm::ntt {

// Launches the kernels of a transform.
class DeviceExecutor {
public:
    explicit DeviceExecutor(cudaStream_t stream) : stream_(stream) {}
    void pass_to_reversed(int bits, const PassArguments& a);
    void pass_from_reversed(int bits, const PassArguments& a);
    void gather(Fr* target, const Fr* a, const Fr* b, bool negate, int log_n);
    void stage_to_reversed(Fr* x, int log_n, int log_half, const Powers& root);
    void stage_from_reversed(Fr* x, int log_n, int log_half, const Powers& root);
    void finish(Fr* x, const Fr* subtract, const Fr& scale, bool shifted, const Powers& shift, bool has_first, const Fr& first, int log_n);
    void fill(Fr* table, const Factors& f, const Powers& root, const Powers& shift);
    void fill_powers(Fr* table, const Powers& root);

private:
    cudaStream_t stream_;
};

using DeviceTransforms = Transforms<DeviceExecutor>;

}  // namespace pm::ntt
