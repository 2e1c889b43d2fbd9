// The hash instances of a circuit, passed to kernels by value.
#pragma once

#include "poseidon/hash.h"

namespace pm::poseidon {

constexpr int max_hashes = 8;

struct Hashes {
    Instance of[max_hashes];
};

}  // namespace pm::poseidon
