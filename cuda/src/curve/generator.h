// The standard generators of G1 and G2, in the Montgomery domain.
#pragma once

#include "curve/affine.h"

namespace pm {

inline Fp fp_from_hex(const char* hex)
{
    Fp r = Fp::zero();
    for (; *hex; hex++) {
        const uint32_t digit = (uint32_t)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        for (int i = Fp::N - 1; i > 0; i--) r.limb[i] = r.limb[i] << 4 | r.limb[i - 1] >> 28;
        r.limb[0] = r.limb[0] << 4 | digit;
    }
    return Fp::from_plain(r);
}

inline G1Affine g1_generator()
{
    return {fp_from_hex("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"),
            fp_from_hex("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1")};
}

inline G2Affine g2_generator()
{
    return {{fp_from_hex("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"),
             fp_from_hex("13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e")},
            {fp_from_hex("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801"),
             fp_from_hex("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be")}};
}

template <class F>
Affine<F> generator();
template <>
inline G1Affine generator<Fp>()
{
    return g1_generator();
}
template <>
inline G2Affine generator<Fp2>()
{
    return g2_generator();
}

}  // namespace pm
