// The expansion of a block's instances on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "core/error.h"
#include "poseidon/expand.h"
#include "poseidon/hashes.h"

namespace pm::poseidon {

// Asynchronous. All pointers, those in b and in hashes too, are device memory.
void expand(const Runs& b, const Hashes& hashes, const uint64_t* words, const Fr* elements, Fr* aux, cudaStream_t stream);

}  // namespace pm::poseidon
