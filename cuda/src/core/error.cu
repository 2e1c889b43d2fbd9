#include "core/error.h"

#include <cstring>

namespace pm {

const char*& current_stage()
{
    static thread_local const char* stage = "";
    return stage;
}

static const char* base_name(const char* path)
{
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void throw_cuda(cudaError_t e, const char* expression, const char* file, int line)
{
    std::string text = *current_stage() ? std::string(current_stage()) + ": " : "";
    text += std::string(expression) + " at " + base_name(file) + ":" + std::to_string(line) + ": " +
            cudaGetErrorName(e) + ": " + cudaGetErrorString(e);
    // An allocation that did not fit leaves the context usable; clear it so that no later call reports it.
    const bool fits_not = e == cudaErrorMemoryAllocation;
    if (fits_not) (void)cudaGetLastError();
    throw Error(fits_not ? Code::memory : Code::device, (int32_t)e, text);
}

void throw_argument(const std::string& text)
{
    const std::string stage = *current_stage() ? std::string(current_stage()) + ": " : "";
    throw Error(Code::argument, 0, stage + text);
}

}  // namespace pm
