// Reading and writing points in device memory, 16 bytes at a time.
#pragma once

#include "curve/affine.h"
#include "msm/reference.h"

namespace pm {

template <class T>
__device__ __forceinline__ T load_global(const T* p)
{
    static_assert(sizeof(T) % 16 == 0, "16-byte parts");
    T r;
    const uint4* from = reinterpret_cast<const uint4*>(p);
    uint4* to = reinterpret_cast<uint4*>(&r);
    PM_UNROLL
    for (int i = 0; i < (int)(sizeof(T) / 16); i++) to[i] = from[i];
    return r;
}

template <class T>
__device__ __forceinline__ void store_global(T* p, const T& v)
{
    const uint4* from = reinterpret_cast<const uint4*>(&v);
    uint4* to = reinterpret_cast<uint4*>(p);
    PM_UNROLL
    for (int i = 0; i < (int)(sizeof(T) / 16); i++) to[i] = from[i];
}

template <class F>
__device__ __forceinline__ const Affine<F>* locate(const Affine<F>* bases, const Affine<F>* pool, uint32_t reference)
{
    return (reference & Reference::pool ? pool : bases) + (reference & Reference::index);
}

template <class F>
__device__ __forceinline__ Affine<F> load_point(const Affine<F>* bases, const Affine<F>* pool, uint32_t reference)
{
    if (reference == Reference::none) return Affine<F>::infinity();
    Affine<F> p = load_global(locate(bases, pool, reference));
    p.y.negate_if((reference & Reference::negative) != 0);
    return p;
}

}  // namespace pm
