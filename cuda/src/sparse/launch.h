// Sparse products and the sorting of values, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "core/error.h"
#include "sparse/rows.h"

namespace pm::sparse {

// out[row] = row times assignment for all rows of all instances of a block. Asynchronous.
void evaluate(const Matrix& m, const Assignment& z, Fr* out, cudaStream_t stream);

// What the values of a list of points are: which are one, and those that are neither zero nor one.
struct Selection {
    uint32_t* ones;     // a bit for each point, lowest of a word first; whole words are written
    uint32_t* indices;  // the points of the other values, in no fixed order
    Fr* scalars;        // those values
    uint32_t* count;    // how many there are, also beyond capacity
    uint32_t capacity;
};

// variables[p] is the variable of point p (aux_flag set for an auxiliary one); null: point p is auxiliary variable p. Asynchronous.
void select(const uint32_t* variables, uint32_t count, const Fr* inputs, const Fr* aux, const Selection& out, cudaStream_t stream);

}  // namespace pm::sparse
