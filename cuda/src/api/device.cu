// Devices, contexts, memory and streams of the ABI.
#include <cstring>

#include "api/handles.h"

using namespace pm;

int32_t pm_abi_version(void) { return PM_ABI_VERSION; }

int32_t pm_device_count(int32_t* count, pm_error* error)
{
    return guard(error, [&] {
        need(count != nullptr, "device count: null result");
        int n = 0;
        PM_CUDA(cudaGetDeviceCount(&n));
        *count = n;
    });
}

int32_t pm_device_get(int32_t device, pm_device* out, pm_error* error)
{
    return guard(error, [&] {
        need(out && out->struct_size >= sizeof *out, "device: struct_size too small");
        cudaDeviceProp p;
        PM_CUDA(cudaGetDeviceProperties(&p, device));
        out->compute_major = p.major;
        out->compute_minor = p.minor;
        out->multiprocessors = p.multiProcessorCount;
        out->memory_bytes = p.totalGlobalMem;
        out->ecc = p.ECCEnabled;
        std::memcpy(out->uuid, p.uuid.bytes, sizeof out->uuid);
        std::snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, p.name);
        PM_CUDA(cudaDriverGetVersion(&out->driver_version));
        PM_CUDA(cudaRuntimeGetVersion(&out->runtime_version));
    });
}

int32_t pm_context_create(int32_t device, pm_context** out, pm_error* error)
{
    return guard(error, [&] {
        need(out != nullptr, "context: null result");
        PM_CUDA(cudaSetDevice(device));
        // Waiting threads sleep: a prover's host has other work, and a proof takes most of a second.
        PM_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
        int multiprocessors = 0;
        PM_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        *out = new pm_context{device, multiprocessors};
    });
}

void pm_context_free(pm_context* context) { delete context; }

namespace {

__global__ void check_kernel(uint32_t* out) { out[threadIdx.x] = threadIdx.x * 2654435761u; }

}  // namespace

int32_t pm_context_check(pm_context* context, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        Stage stage("context.check", nullptr, nullptr);
        uint32_t* memory = nullptr;
        uint32_t host[32];
        PM_CUDA(cudaMalloc(&memory, sizeof host));
        check_kernel<<<1, 32>>>(memory);
        const cudaError_t launched = cudaGetLastError();
        const cudaError_t copied = cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
        (void)cudaFree(memory);
        PM_CUDA(launched);
        PM_CUDA(copied);
        for (uint32_t i = 0; i < 32; i++)
            if (host[i] != i * 2654435761u) throw Error(Code::device, 0, "context.check: the device computed a wrong value");
    });
}

int32_t pm_memory_get(pm_context* context, uint64_t* free_bytes, uint64_t* total_bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(free_bytes && total_bytes, "memory: null result");
        size_t f = 0, t = 0;
        PM_CUDA(cudaMemGetInfo(&f, &t));
        *free_bytes = f;
        *total_bytes = t;
    });
}

int32_t pm_device_alloc(pm_context* context, uint64_t bytes, void** out, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(out != nullptr, "device memory: null result");
        *out = nullptr;
        PM_CUDA(cudaMalloc(out, bytes ? bytes : 1));
    });
}

int32_t pm_device_release(pm_context* context, void* memory, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        PM_CUDA(cudaFree(memory));
    });
}

int32_t pm_host_alloc(pm_context* context, uint64_t bytes, void** out, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(out != nullptr, "pinned memory: null result");
        *out = nullptr;
        PM_CUDA(cudaHostAlloc(out, bytes ? bytes : 1, cudaHostAllocPortable));
    });
}

int32_t pm_host_release(pm_context* context, void* memory, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        if (memory) PM_CUDA(cudaFreeHost(memory));
    });
}

int32_t pm_stream_create(pm_context* context, pm_stream** out, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(out != nullptr, "stream: null result");
        cudaStream_t s = nullptr;
        PM_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        *out = new pm_stream(context, s);
    });
}

void pm_stream_free(pm_stream* stream)
{
    if (!stream) return;
    (void)cudaSetDevice(stream->context->device);
    const cudaStream_t main = stream->stream;
    delete stream;
    (void)cudaStreamDestroy(main);
}

int32_t pm_stream_wait(pm_stream* stream, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        PM_CUDA(cudaStreamSynchronize(stream->stream));
    });
}

int32_t pm_copy_to_device(pm_stream* stream, void* device, const void* host, uint64_t bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        Stage stage("copy.in", &stream->times, stream->stream);
        PM_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream->stream));
    });
}

int32_t pm_copy_to_host(pm_stream* stream, void* host, const void* device, uint64_t bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        Stage stage("copy.out", &stream->times, stream->stream);
        PM_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream->stream));
    });
}

int32_t pm_stream_stages(pm_stream* stream, pm_stage* out, int32_t capacity, int32_t* count, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need(count && (out || capacity <= 0), "stages: null result");
        PM_CUDA(cudaStreamSynchronize(stream->stream));
        const StageTimes& t = stream->times;
        *count = (int32_t)t.size();
        for (int32_t i = 0; i < *count && i < capacity; i++) {
            std::snprintf(out[i].name, sizeof out[i].name, "%s", t.name((size_t)i));
            out[i].milliseconds = t.milliseconds((size_t)i);
        }
        stream->times.clear();
    });
}
