// Moving Fr elements: 16 bytes an access, so that a warp's accesses coalesce.
#pragma once

#include "field/fr.h"

namespace pm::ntt {

// Half an element; the unit of shared memory, whose banks serve 16-byte accesses best when lanes are 16 bytes apart.
struct alignas(16) Half {
    uint32_t w[4];
};

PM_HD Fr join(const Half& low, const Half& high)
{
    Fr r;
    PM_UNROLL
    for (int i = 0; i < 4; i++) {
        r.limb[i] = low.w[i];
        r.limb[4 + i] = high.w[i];
    }
    return r;
}

PM_HD void split(const Fr& a, Half& low, Half& high)
{
    PM_UNROLL
    for (int i = 0; i < 4; i++) {
        low.w[i] = a.limb[i];
        high.w[i] = a.limb[4 + i];
    }
}

PM_HD Half load_half(const Half* p)
{
#if defined(__CUDA_ARCH__)
    const uint4 v = *reinterpret_cast<const uint4*>(p);
    return {{v.x, v.y, v.z, v.w}};
#else
    return *p;
#endif
}

PM_HD void store_half(Half* p, const Half& h)
{
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<uint4*>(p) = make_uint4(h.w[0], h.w[1], h.w[2], h.w[3]);
#else
    *p = h;
#endif
}

PM_HD Fr load(const Fr* p)
{
    const Half* h = reinterpret_cast<const Half*>(p);
    return join(load_half(h), load_half(h + 1));
}

PM_HD void store(Fr* p, const Fr& a)
{
    Half low, high;
    split(a, low, high);
    Half* h = reinterpret_cast<Half*>(p);
    store_half(h, low);
    store_half(h + 1, high);
}

// A load of what no kernel in flight writes.
PM_HD Fr load_constant(const Fr* p)
{
#if defined(__CUDA_ARCH__)
    const uint4 l = __ldg(reinterpret_cast<const uint4*>(p));
    const uint4 h = __ldg(reinterpret_cast<const uint4*>(p) + 1);
    return join({{l.x, l.y, l.z, l.w}}, {{h.x, h.y, h.z, h.w}});
#else
    return *p;
#endif
}

}  // namespace pm::ntt
