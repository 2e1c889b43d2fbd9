// Points with known discrete logarithms, as many as wanted, made on the device.
#pragma once

#include <random>
#include <vector>

#include "core/error.h"
#include "curve/scalar.h"
#include "msm/batch_add.h"

namespace pm::test {

template <class T>
class Device {
public:
    explicit Device(size_t n) : n_(n) { PM_CUDA(cudaMalloc(&p_, (n ? n : 1) * sizeof(T))); }
    explicit Device(const std::vector<T>& v) : Device(v.size()) { PM_CUDA(cudaMemcpy(p_, v.data(), n_ * sizeof(T), cudaMemcpyHostToDevice)); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { cudaFree(p_); }
    T* get() const { return p_; }
    size_t size() const { return n_; }
    std::vector<T> host() const
    {
        std::vector<T> v(n_);
        PM_CUDA(cudaMemcpy(v.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }

private:
    T* p_ = nullptr;
    size_t n_;
};

// P_i = e_i G with e_i = start + sum over the bits j of i of step_j.
struct Logarithms {
    Fr start;
    std::vector<Fr> step;

    Logarithms(std::mt19937_64& g, int bits) : start(random(g))
    {
        for (int i = 0; i < bits; i++) step.push_back(random(g));
    }

    Fr of(uint64_t i) const
    {
        Fr e = start;
        for (size_t j = 0; j < step.size(); j++)
            if (i >> j & 1) e = e + step[j];
        return e;
    }

    static Fr random(std::mt19937_64& g)
    {
        Fr r;
        for (int i = 0; i < 8; i++) r.limb[i] = (uint32_t)g();
        r.limb[7] &= 0x3fffffff;
        return r;
    }
};

// e G for e in the Montgomery domain.
template <class F>
Affine<F> power(const Affine<F>& base, const Fr& e)
{
    const Fr plain = e.to_plain();
    return multiply(base, plain.limb, 8).to_affine();
}

// Fills table[0, 2^bits) with 2^shift P_i, by doubling up: every half is the half before plus one point.
template <class F>
void make_table(Affine<F>* table, const Logarithms& logs, int shift, int multiprocessors);

// sum of s_i e_i over i < count, s_i plain. indices may be null.
Fr dot(const Fr* scalars, const uint32_t* indices, uint32_t count, const Logarithms& logs);

// Plain scalars below r from a counter and a seed.
void fill_scalars(Fr* scalars, uint32_t count, uint64_t seed);

// Packed bits; each is one with probability ones / 2^32.
void fill_bits(uint32_t* bits, uint32_t words, uint32_t ones, uint64_t seed);

}  // namespace pm::test
