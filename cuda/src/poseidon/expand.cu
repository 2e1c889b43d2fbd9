#include "poseidon/launch.h"

namespace pm::poseidon {

namespace {

constexpr unsigned plain_block = 256;
constexpr unsigned hash_block = 64;

// A warp for each run of each instance.
__global__ __launch_bounds__(plain_block) void expand_plain_kernel(const __grid_constant__ Runs b, const uint64_t* words, const Fr* elements, Fr* aux)
{
    const uint64_t warp = ((uint64_t)blockIdx.x * plain_block + threadIdx.x) / 32;
    if (warp >= (uint64_t)b.plain_count * b.repeat) return;
    const uint32_t instance = (uint32_t)(warp / b.plain_count);
    const Run r = b.plain[warp % b.plain_count];
    for (uint32_t k = threadIdx.x % 32; k < r.count; k += 32) expand_plain(b, r, instance, k, words, elements, aux);
}

// A thread for each hash of each instance. Neighbours have the same run, or runs sorted by the hash.
__global__ __launch_bounds__(hash_block) void expand_hash_kernel(const __grid_constant__ Runs b, const __grid_constant__ Hashes hashes, const uint64_t* words,
                                                                 const Fr* elements, Fr* aux)
{
    const uint64_t i = (uint64_t)blockIdx.x * hash_block + threadIdx.x;
    if (i >= (uint64_t)b.hash_count * b.repeat) return;
    expand_hash(b, b.hashes[i / b.repeat], hashes.of, (uint32_t)(i % b.repeat), words, elements, aux);
}

}  // namespace

void expand(const Runs& b, const Hashes& hashes, const uint64_t* words, const Fr* elements, Fr* aux, cudaStream_t stream)
{
    const uint64_t warps = (uint64_t)b.plain_count * b.repeat;
    if (warps) {
        expand_plain_kernel<<<(unsigned)((warps * 32 + plain_block - 1) / plain_block), plain_block, 0, stream>>>(b, words, elements, aux);
        PM_LAUNCHED("bits and elements");
    }
    const uint64_t all = (uint64_t)b.hash_count * b.repeat;
    if (all) {
        expand_hash_kernel<<<(unsigned)((all + hash_block - 1) / hash_block), hash_block, 0, stream>>>(b, hashes, words, elements, aux);
        PM_LAUNCHED("hashes");
    }
}

}  // namespace pm::poseidon
