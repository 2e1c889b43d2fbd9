// What the ABI's handles point to, and the border where failures become values.
#pragma once

#include <cstdio>
#include <exception>

#include "core/error.h"
#include "core/lanes.h"
#include "core/stage.h"
#include "proofmill_cuda.h"

struct pm_context {
    int device;
    int multiprocessors;
};

struct pm_stream {
    pm_context* context;
    cudaStream_t stream;
    pm::StageTimes times;
    pm::Lanes lanes;

    pm_stream(pm_context* c, cudaStream_t s) : context(c), stream(s), lanes(s) {}
};

namespace pm {

// Runs a call's body and turns what it throws into a code and a text.
template <class Body>
int32_t guard(pm_error* error, Body&& body) noexcept
{
    int32_t code = PM_OK, cuda = 0;
    const char* text = "";
    char buffer[sizeof error->text];
    try {
        body();
    } catch (const Error& e) {
        code = (int32_t)e.code;
        cuda = e.cuda;
        std::snprintf(buffer, sizeof buffer, "%s", e.what());
        text = buffer;
    } catch (const std::exception& e) {
        code = PM_ERROR_INTERNAL;
        std::snprintf(buffer, sizeof buffer, "%s", e.what());
        text = buffer;
    } catch (...) {
        code = PM_ERROR_INTERNAL;
        text = "unknown exception";
    }
    if (error) {
        error->code = code;
        error->cuda = cuda;
        std::snprintf(error->text, sizeof error->text, "%s", text);
    }
    return code;
}

// Makes the handle's device the calling thread's: goroutines move between threads.
inline void enter(const pm_context* context)
{
    if (!context) throw_argument("context: null");
    PM_CUDA(cudaSetDevice(context->device));
}

inline void enter(const pm_stream* stream)
{
    if (!stream) throw_argument("stream: null");
    enter(stream->context);
}

inline void need(bool condition, const char* text)
{
    if (!condition) throw_argument(text);
}

}  // namespace pm
