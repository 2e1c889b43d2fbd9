// Fr, the scalar field of BLS12-381: 255 bits, R = 2^256. Its two low limbs are 1 and 2^32 - 1, and
// -1/r mod 2^32 is 2^32 - 1: the quotient of a reduction row costs a negation, its first product an addition.
#pragma once

#include "field/montgomery.h"

namespace pm {

struct FrParams {
    static constexpr int N = 8;
    static constexpr int bits = 255;
    static constexpr uint32_t negated_inverse = 0xffffffffu;
    static constexpr uint64_t negated_inverse64 = 0xfffffffeffffffffull;
    static constexpr uint32_t inverse30 = 0x00000001u;  // 1 / r mod 2^30

    PM_FIELD_CONSTANT(modulus, 0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u, 0x09a1d805u, 0x3339d808u,
                      0x299d7d48u, 0x73eda753u)
    PM_FIELD_CONSTANT(one, 0xfffffffeu, 0x00000001u, 0x00034802u, 0x5884b7fau, 0xecbc4ff5u, 0x998c4fefu,
                      0xacc5056fu, 0x1824b159u)
    PM_FIELD_CONSTANT(r2, 0xf3f29c6du, 0xc999e990u, 0x87925c23u, 0x2b6cedcbu, 0x7254398fu, 0x05d31496u,
                      0x9f59ff11u, 0x0748d9d9u)
    PM_FIELD_CONSTANT(r3, 0x439b73afu, 0xc62c1807u, 0x8cf06990u, 0x1b3e0d18u, 0xc7b5f418u, 0x73d13c71u,
                      0xc8db33e9u, 0x6e2a5bb9u)
};

using Fr = Montgomery<FrParams>;
static_assert(sizeof(Fr) == 32, "an Fr element is 32 bytes in memory and across the ABI");

}  // namespace pm
