// Failures inside the library are exceptions that carry a code and a text; the C ABI turns them
// into values at its border (core/guard.h). A text names the stage, the expression, the place and
// CUDA's own words.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace pm {

enum class Code : int32_t {
    ok = 0,
    argument = 1,  // the caller's mistake: nothing was started
    memory = 2,    // the device or the scratch space given is too small
    device = 3,    // a CUDA call or kernel failed: the context cannot be used any more
    internal = 4,  // a defect of the library
};

struct Error : std::runtime_error {
    Code code;
    int32_t cuda;
    Error(Code c, int32_t cuda_code, const std::string& text) : std::runtime_error(text), code(c), cuda(cuda_code) {}
};

// The name of the running stage, for error texts; set by Stage (core/stage.h).
const char*& current_stage();

[[noreturn]] void throw_cuda(cudaError_t e, const char* expression, const char* file, int line);
[[noreturn]] void throw_argument(const std::string& text);

}  // namespace pm

#define PM_CUDA(expression)                                                                          \
    do {                                                                                             \
        const cudaError_t pm_result_ = (expression);                                                 \
        if (pm_result_ != cudaSuccess) ::pm::throw_cuda(pm_result_, #expression, __FILE__, __LINE__); \
    } while (0)

// After a kernel launch.
#define PM_LAUNCHED(kernel)                                                                          \
    do {                                                                                             \
        const cudaError_t pm_result_ = cudaGetLastError();                                           \
        if (pm_result_ != cudaSuccess) ::pm::throw_cuda(pm_result_, kernel, __FILE__, __LINE__);      \
    } while (0)
