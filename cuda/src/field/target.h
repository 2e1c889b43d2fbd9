// What differs between the two targets of the field and curve code: the device, and a host
// compiler alone, with which CI tests the same source without a card.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#if defined(__CUDA_ARCH__)
#define PM_HD __host__ __device__ __forceinline__
#else
#define PM_HD __host__ __device__ inline
#endif
#define PM_HD_NOINLINE __host__ __device__ __noinline__
#define PM_UNROLL _Pragma("unroll")
#else
#define PM_HD inline
#define PM_HD_NOINLINE inline
#define PM_UNROLL
#endif

// A constant of a field as a function of the limb: the array is local, so device code may use it,
// and after unrolling each limb is an immediate operand.
#define PM_FIELD_CONSTANT(name, ...)               \
    static PM_HD constexpr uint32_t name(int i)    \
    {                                              \
        constexpr uint32_t words[] = {__VA_ARGS__}; \
        return words[i];                           \
    }
