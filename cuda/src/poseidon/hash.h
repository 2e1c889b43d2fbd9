// The variables of the circuit of one Poseidon hash, in Filecoin's optimised form: compressed round
// constants, a sparse matrix for each partial round.
#pragma once

#include "ntt/element.h"

namespace pm::poseidon {

constexpr int max_width = 12;

// The constants of one instance, one after the other: the domain tag behind the first S-box and its
// round constant; the round constants in the order of use (width before the first S-boxes, width behind the
// S-boxes of each full round but the last, one behind that of each partial round); the MDS matrix by rows;
// the pre-sparse matrix by rows; for each partial round the first column (width) and the rest of the first row (width - 1).
struct Instance {
    const Fr* constants;
    int32_t width, full_rounds, partial_rounds;

    PM_HD const Fr* keys() const { return constants + 1; }
    PM_HD const Fr* mds() const { return keys() + width * full_rounds + partial_rounds; }
    PM_HD const Fr* pre_sparse() const { return mds() + width * width; }
    PM_HD const Fr* sparse() const { return pre_sparse() + width * width; }
    PM_HD uint32_t elements() const { return (uint32_t)(1 + width * full_rounds + partial_rounds + 2 * width * width + partial_rounds * (2 * width - 1)); }
    PM_HD uint32_t variables() const { return (uint32_t)(3 * (width - 1) + 4 * (width * (full_rounds - 1) + partial_rounds) + 1); }
};

static PM_HD_NOINLINE Fr multiply(const Fr& a, const Fr& b) { return a * b; }

// Replaces x by x^5 + key and writes x^2, x^4 and the result; returns what follows them.
PM_HD Fr* s_box_first(Fr& x, const Fr& key, Fr* out)
{
    const Fr x2 = multiply(x, x);
    const Fr x4 = multiply(x2, x2);
    x = multiply(x, x4) + key;
    ntt::store(out, x2);
    ntt::store(out + 1, x4);
    ntt::store(out + 2, x);
    return out + 3;
}

// The same, with x itself first: a variable in all rounds but the first.
PM_HD Fr* s_box(Fr& x, const Fr& key, Fr* out)
{
    ntt::store(out, x);
    return s_box_first(x, key, out + 1);
}

// state[j] becomes the sum of state[i] * m[i][j].
PM_HD void mix(Fr* state, const Fr* m, int width)
{
    Fr next[max_width];
    for (int j = 0; j < width; j++) {
        Fr sum = Fr::zero();
        for (int i = 0; i < width; i++) sum = sum + multiply(state[i], ntt::load_constant(m + i * width + j));
        next[j] = sum;
    }
    for (int j = 0; j < width; j++) state[j] = next[j];
}

// Writes variables() elements: for each S-box its input (but not in the first round), x^2, x^4 and
// x^5 plus the round constant; last the digest. preimage(i) is element i of width - 1.
template <class Preimage>
PM_HD void trace(const Instance& p, const Preimage& preimage, Fr* out)
{
    Fr state[max_width];
    const int width = p.width, half = p.full_rounds / 2;
    const Fr* keys = p.keys();
    state[0] = ntt::load_constant(p.constants);
    for (int i = 1; i < width; i++) {
        state[i] = preimage(i - 1) + ntt::load_constant(keys + i);
        out = s_box_first(state[i], ntt::load_constant(keys + width + i), out);
    }
    keys += 2 * width;
    mix(state, p.mds(), width);
    for (int round = 1; round < half; round++) {
        for (int i = 0; i < width; i++) out = s_box(state[i], ntt::load_constant(keys + i), out);
        keys += width;
        mix(state, round + 1 < half ? p.mds() : p.pre_sparse(), width);
    }
    const Fr* sparse = p.sparse();
    for (int round = 0; round < p.partial_rounds; round++, sparse += 2 * width - 1) {
        out = s_box(state[0], ntt::load_constant(keys++), out);
        const Fr y = state[0];
        Fr sum = multiply(y, ntt::load_constant(sparse));
        for (int j = 1; j < width; j++) {
            sum = sum + multiply(state[j], ntt::load_constant(sparse + j));
            state[j] = state[j] + multiply(y, ntt::load_constant(sparse + width + j - 1));
        }
        state[0] = sum;
    }
    for (int round = 0; round + 1 < half; round++) {
        for (int i = 0; i < width; i++) out = s_box(state[i], ntt::load_constant(keys + i), out);
        keys += width;
        mix(state, p.mds(), width);
    }
    Fr digest = Fr::zero();
    for (int i = 0; i < width; i++) {
        out = s_box(state[i], Fr::zero(), out);
        digest = digest + multiply(state[i], ntt::load_constant(p.mds() + i * width + 1));
    }
    ntt::store(out, digest);
}

}  // namespace pm::poseidon
