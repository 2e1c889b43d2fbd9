// Fp, the base field of BLS12-381: 381 bits, R = 2^384.
#pragma once

#include "field/montgomery.h"

namespace pm {

struct FpParams {
    static constexpr int N = 12;
    static constexpr int bits = 381;
    static constexpr uint32_t negated_inverse = 0xfffcfffdu;
    static constexpr uint64_t negated_inverse64 = 0x89f3fffcfffcfffdull;
    static constexpr uint32_t inverse30 = 0x00030003u;  // 1 / p mod 2^30

    PM_FIELD_CONSTANT(modulus, 0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u,
                      0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau)
    PM_FIELD_CONSTANT(one, 0x0002fffdu, 0x76090000u, 0xc40c0002u, 0xebf4000bu, 0x53c758bau, 0x5f489857u,
                      0x70525745u, 0x77ce5853u, 0xa256ec6du, 0x5c071a97u, 0xfa80e493u, 0x15f65ec3u)
    PM_FIELD_CONSTANT(r2, 0x1c341746u, 0xf4df1f34u, 0x09d104f1u, 0x0a76e6a6u, 0x4c95b6d5u, 0x8de5476cu,
                      0x939d83c0u, 0x67eb88a9u, 0xb519952du, 0x9a793e85u, 0x92cae3aau, 0x11988fe5u)
    PM_FIELD_CONSTANT(r3, 0xd94ca1e0u, 0xed48ac6bu, 0x03a7adf8u, 0x315f831eu, 0x615e29ddu, 0x9a53352au,
                      0x921e1761u, 0x34c04e5eu, 0x65724728u, 0x2512d435u, 0x91755d4du, 0x0aa63460u)
};

using Fp = Montgomery<FpParams>;
static_assert(sizeof(Fp) == 48, "an Fp element is 48 bytes in memory and across the ABI");

}  // namespace pm
