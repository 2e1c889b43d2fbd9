#include "points.h"

#include "curve/generator.h"

namespace pm::test {

static __global__ void plan_double_up(Pair* pairs, uint32_t count, uint32_t step)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) pairs[i] = {Reference::pool | i, step};
}

template <class F>
void make_table(Affine<F>* table, const Logarithms& logs, int shift, int multiprocessors)
{
    Fr scale = Fr::one();
    for (int i = 0; i < shift; i++) scale = scale.doubled();
    const Affine<F> g = generator<F>();
    std::vector<Affine<F>> steps;
    for (const Fr& s : logs.step) steps.push_back(power(g, s * scale));
    const Affine<F> start = power(g, logs.start * scale);
    PM_CUDA(cudaMemcpy(table, &start, sizeof start, cudaMemcpyHostToDevice));
    if (steps.empty()) return;
    const uint32_t most = 1u << (steps.size() - 1);
    Device<Affine<F>> bases(steps);
    Device<Pair> pairs(most);
    BatchAdder<F> adder;
    Scratch count;
    adder.reserve(count, most, multiprocessors);
    Device<char> memory(count.used());
    Scratch scratch(memory.get());
    adder.reserve(scratch, most, multiprocessors);
    for (size_t j = 0; j < steps.size(); j++) {
        const uint32_t n = 1u << j;
        plan_double_up<<<(n + 255) / 256, 256>>>(pairs.get(), n, (uint32_t)j);
        adder.add(bases.get(), table, pairs.get(), n, n, nullptr);
    }
    PM_CUDA(cudaDeviceSynchronize());
}

template void make_table<Fp>(Affine<Fp>*, const Logarithms&, int, int);
template void make_table<Fp2>(Affine<Fp2>*, const Logarithms&, int, int);

constexpr int half_bits = 14;

static __global__ __launch_bounds__(256) void dot_kernel(const Fr* scalars, const uint32_t* indices, uint32_t count, const Fr* low, const Fr* high, Fr* sums)
{
    __shared__ Fr part[256];
    Fr sum = Fr::zero();
    for (uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
        const uint32_t i = indices ? indices[k] : k;
        sum = sum + Fr::from_plain(scalars[k]) * (low[i & ((1 << half_bits) - 1)] + high[i >> half_bits]);
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 256; i++) sum = sum + part[i];
        sums[blockIdx.x] = sum;
    }
}

Fr dot(const Fr* scalars, const uint32_t* indices, uint32_t count, const Logarithms& logs)
{
    std::vector<Fr> low(1 << half_bits), high(1 << half_bits, Fr::zero());
    for (size_t i = 0; i < low.size(); i++) low[i] = logs.of(i & ((1ull << logs.step.size()) - 1));
    for (size_t i = 0; i < high.size(); i++) high[i] = logs.of((uint64_t)i << half_bits) - logs.start;
    Device<Fr> dl(low), dh(high), ds(256);
    dot_kernel<<<256, 256>>>(scalars, indices, count, dl.get(), dh.get(), ds.get());
    PM_LAUNCHED("dot");
    Fr sum = Fr::zero();
    for (const Fr& s : ds.host()) sum = sum + s;
    return sum;
}

__host__ __device__ static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static __global__ void scalars_kernel(Fr* scalars, uint32_t count, uint64_t seed)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Fr s;
    for (int k = 0; k < 4; k++) {
        const uint64_t v = mix(seed ^ ((uint64_t)i * 4 + k));
        s.limb[2 * k] = (uint32_t)v;
        s.limb[2 * k + 1] = (uint32_t)(v >> 32);
    }
    s.limb[7] &= 0x7fffffff;
    s.reduce_once();
    scalars[i] = s;
}

void fill_scalars(Fr* scalars, uint32_t count, uint64_t seed)
{
    scalars_kernel<<<(count + 255) / 256, 256>>>(scalars, count, seed);
    PM_LAUNCHED("scalars");
    PM_CUDA(cudaDeviceSynchronize());
}

static __global__ void bits_kernel(uint32_t* bits, uint32_t words, uint32_t ones, uint64_t seed)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    uint32_t w = 0;
    for (int k = 0; k < 32; k++) w |= (uint32_t)((uint32_t)mix(seed ^ ((uint64_t)i * 32 + k)) < ones) << k;
    bits[i] = w;
}

void fill_bits(uint32_t* bits, uint32_t words, uint32_t ones, uint64_t seed)
{
    bits_kernel<<<(words + 255) / 256, 256>>>(bits, words, ones, seed);
    PM_LAUNCHED("bits");
    PM_CUDA(cudaDeviceSynchronize());
}

}  // namespace pm::test
