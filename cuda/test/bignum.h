// Unsigned integers of any size, written to be obvious: the reference of the field tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace pm::test {

struct Bignum {
    std::vector<uint32_t> w;  // little-endian, may have leading zeros

    static Bignum from(const uint32_t* p, int n) { return {std::vector<uint32_t>(p, p + n)}; }

    int compare(const Bignum& b) const
    {
        for (size_t i = std::max(w.size(), b.w.size()); i-- > 0;) {
            uint32_t x = i < w.size() ? w[i] : 0, y = i < b.w.size() ? b.w[i] : 0;
            if (x != y) return x < y ? -1 : 1;
        }
        return 0;
    }

    Bignum plus(const Bignum& b) const
    {
        Bignum r;
        uint64_t c = 0;
        for (size_t i = 0; i < std::max(w.size(), b.w.size()) + 1; i++) {
            c += (uint64_t)(i < w.size() ? w[i] : 0) + (i < b.w.size() ? b.w[i] : 0);
            r.w.push_back((uint32_t)c);
            c >>= 32;
        }
        return r;
    }

    // Needs *this >= b.
    Bignum minus(const Bignum& b) const
    {
        Bignum r;
        int64_t c = 0;
        for (size_t i = 0; i < w.size(); i++) {
            c += (int64_t)w[i] - (int64_t)(i < b.w.size() ? b.w[i] : 0);
            r.w.push_back((uint32_t)c);
            c >>= 32;
        }
        return r;
    }

    Bignum times(const Bignum& b) const
    {
        Bignum r;
        r.w.assign(w.size() + b.w.size(), 0);
        for (size_t i = 0; i < w.size(); i++) {
            uint64_t c = 0;
            for (size_t j = 0; j < b.w.size(); j++) {
                c += (uint64_t)w[i] * b.w[j] + r.w[i + j];
                r.w[i + j] = (uint32_t)c;
                c >>= 32;
            }
            r.w[i + b.w.size()] = (uint32_t)c;
        }
        return r;
    }

    // Bit by bit.
    Bignum mod(const Bignum& m) const
    {
        Bignum r;
        r.w.assign(m.w.size() + 1, 0);
        for (size_t i = 32 * w.size(); i-- > 0;) {
            uint32_t c = (w[i / 32] >> (i % 32)) & 1;
            for (auto& x : r.w) {
                uint32_t top = x >> 31;
                x = x << 1 | c;
                c = top;
            }
            if (r.compare(m) >= 0) r = r.minus(m);
        }
        r.w.resize(m.w.size());
        return r;
    }
};

}  // namespace pm::test
