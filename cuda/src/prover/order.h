// Points in the order of the quotient's coefficients.
#pragma once

#include <cuda_runtime_api.h>

#include "core/error.h"
#include "curve/affine.h"

namespace pm {

// out[rev(first + i)] = in[i]. Asynchronous.
void reverse_points(const G1Affine* in, G1Affine* out, int log_n, uint32_t first, uint32_t count, cudaStream_t stream);

}  // namespace pm
