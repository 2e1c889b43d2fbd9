// From the structs of the ABI to those of the kernels, with the checks that need no device.
#pragma once

#include <cstdint>

#include "poseidon/expand.h"
#include "poseidon/hashes.h"
#include "proofmill_cuda.h"
#include "sparse/rows.h"

namespace pm {

using poseidon::Hashes;
using poseidon::max_hashes;

inline const char* check(const pm_runs* r, const pm_poseidon* hashes, int32_t hash_count)
{
    if (!r || r->struct_size < sizeof *r) return "expand: struct_size too small";
    if (hash_count < 0 || hash_count > max_hashes || (hash_count > 0 && !hashes)) return "expand: at most 8 hashes";
    for (int i = 0; i < hash_count; i++) {
        const int w = hashes[i].width;
        if ((w != 3 && w != 5 && w != 9 && w != 12) || hashes[i].full_rounds < 4 || hashes[i].full_rounds % 2 != 0 || hashes[i].partial_rounds < 0)
            return "expand: no such hash";
    }
    return nullptr;
}

inline Hashes convert(const pm_poseidon* hashes, int32_t hash_count)
{
    Hashes h = {};
    for (int i = 0; i < hash_count; i++)
        h.of[i] = {static_cast<const Fr*>(hashes[i].constants), hashes[i].width, hashes[i].full_rounds, hashes[i].partial_rounds};
    return h;
}

static_assert(sizeof(pm_run) == sizeof(poseidon::Run), "runs cross the ABI unchanged");

inline poseidon::Runs convert(const pm_runs& r)
{
    poseidon::Runs b;
    b.plain = reinterpret_cast<const poseidon::Run*>(r.plain);
    b.hashes = reinterpret_cast<const poseidon::Run*>(r.hashes);
    b.plain_count = r.plain_count;
    b.hash_count = r.hash_count;
    b.repeat = r.repeat;
    b.aux_start = r.aux_start;
    b.aux_stride = r.aux_stride;
    b.word_start = r.word_start;
    b.words = r.words;
    b.element_start = r.element_start;
    b.elements = r.elements;
    return b;
}

inline const char* check(const pm_matrix* m)
{
    if (!m || m->struct_size < sizeof *m) return "evaluate: struct_size too small";
    if (m->rows > 0 && !m->end) return "evaluate: null matrix";
    return nullptr;
}

static_assert(sizeof(sparse::Column) == 12, "columns cross the ABI as three words");

inline sparse::Matrix convert(const pm_matrix& m)
{
    sparse::Matrix r;
    r.end = m.end;
    r.variables = m.variables;
    r.coefficients = m.coefficients;
    r.columns = reinterpret_cast<const sparse::Column*>(m.columns);
    r.tables = m.tables;
    r.long_rows = m.long_rows;
    r.long_count = m.long_count;
    r.rows = m.rows;
    r.repeat = m.repeat;
    r.row_start = m.row_start;
    r.aux_start = m.aux_start;
    r.aux_stride = m.aux_stride;
    r.input_start = m.input_start;
    r.input_stride = m.input_stride;
    return r;
}

}  // namespace pm
