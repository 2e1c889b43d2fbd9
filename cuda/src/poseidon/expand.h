// From the compact witness to all auxiliary values: what one thread does.
#pragma once

#include "poseidon/hash.h"
#include "poseidon/insertion.h"

namespace pm::poseidon {

// Operations, numbered as in the blocks' segments.
enum Operation : uint32_t { op_bits = 0, op_elements = 1, op_hash = 2, op_merkle_step = 3, op_merkle_step_given_index = 4 };

// A run of an instance's variables that one operation makes.
struct Run {
    uint32_t operation;
    uint32_t instance;   // of the hash, in the list of instances
    uint32_t variable;   // the first one, counted within the block's instance
    uint32_t bit;        // the first bit read, in the instance's words
    uint32_t element;    // the first element read, in the instance's elements
    uint32_t count;      // of variables, for bits and elements
};

// The runs of a block, and where its instances lie.
struct Runs {
    const Run* plain;    // bits and elements
    const Run* hashes;
    uint32_t plain_count, hash_count;
    uint32_t repeat;
    uint32_t aux_start, aux_stride;
    uint64_t word_start, words;        // of 64 bits; of instance 0, of one instance
    uint64_t element_start, elements;  // likewise
};

// One variable of a run of bits or elements.
PM_HD void expand_plain(const Runs& b, const Run& r, uint32_t instance, uint32_t k, const uint64_t* words, const Fr* elements, Fr* aux)
{
    Fr* out = aux + b.aux_start + (uint64_t)instance * b.aux_stride + r.variable + k;
    if (r.operation == op_bits) {
        const uint32_t bit = r.bit + k;
        const uint64_t word = words[b.word_start + instance * b.words + bit / 64];
        ntt::store(out, (word >> (bit % 64) & 1) != 0 ? Fr::one() : Fr::zero());
    } else {
        ntt::store(out, ntt::load(elements + b.element_start + instance * b.elements + r.element + k));
    }
}

// A run that is a hash, or a step of a Merkle path.
PM_HD void expand_hash(const Runs& b, const Run& r, const Instance* instances, uint32_t instance, const uint64_t* words, const Fr* elements, Fr* aux)
{
    const Instance p = instances[r.instance];
    Fr* out = aux + b.aux_start + (uint64_t)instance * b.aux_stride + r.variable;
    const Fr* in = elements + b.element_start + instance * b.elements + r.element;
    if (r.operation == op_hash) {
        trace(p, [&](int i) { return ntt::load(in + i); }, out);
        return;
    }
    const Insertion program = insertion(p.width - 1);
    uint32_t index = 0;
    for (int k = 0; k < program.bits; k++) {
        const uint32_t bit = r.bit + (uint32_t)k;
        index |= (uint32_t)(words[b.word_start + instance * b.words + bit / 64] >> (bit % 64) & 1) << k;
    }
    if (r.operation == op_merkle_step) {
        for (int k = 0; k < program.bits; k++) ntt::store(out + k, (index >> k & 1) != 0 ? Fr::one() : Fr::zero());
        out += program.bits;
        for (int k = 1; k < program.size; k++) ntt::store(out + k - 1, ntt::load(in + k));
        out += program.size - 1;
    }
    const Fr* picks = insert(program, index, in, out);
    out += insertion_variables(program);
    trace(p, [&](int i) { return ntt::load(insertion_value(program, program.out[i], in, picks)); }, out);
}

}  // namespace pm::poseidon
