// Transforms on the host, with the code of the device's kernels.
#pragma once

#include <cstdlib>
#include <vector>

#include "ntt/quotient.h"
#include "ntt/stages.h"

namespace pm::ntt {

// Runs what the device's kernels run, one thread after the other between barriers.
struct HostExecutor {
    std::vector<Half> low = std::vector<Half>(tile), high = std::vector<Half>(tile);

    template <int S, bool PRODUCT>
    void tile_to_reversed(const PassArguments& a, uint32_t t)
    {
        const Shared s = {low.data(), high.data()};
        struct Thread {
            Pass<S> p;
            Fr x[8];
        };
        std::vector<Thread> all;
        for (uint32_t k = 0; k < (uint32_t)threads; k++) {
            all.push_back({Pass<S>(a, t, k), {}});
            all.back().p.template read_natural<PRODUCT>(all.back().x, a);
        }
        for (int step = 0; step < Pass<S>::steps; step++) {
            if (step > 0)
                for (auto& k : all) k.p.get(k.x, step, s);
            for (auto& k : all) {
                k.p.step_to_reversed(k.x, a, step);
                if (step + 1 < Pass<S>::steps) k.p.put(k.x, step, s);
            }
        }
        for (auto& k : all) k.p.write_reversed(k.x, a);
    }

    template <int S>
    void tile_from_reversed(const PassArguments& a, uint32_t t)
    {
        const Shared s = {low.data(), high.data()};
        struct Thread {
            Pass<S> p;
            Fr x[8];
        };
        std::vector<Thread> all;
        for (uint32_t k = 0; k < (uint32_t)threads; k++) {
            all.push_back({Pass<S>(a, t, k), {}});
            all.back().p.read_reversed(all.back().x, a);
        }
        for (int step = Pass<S>::steps - 1; step >= 0; step--) {
            if (step + 1 < Pass<S>::steps)
                for (auto& k : all) k.p.get(k.x, step, s);
            for (auto& k : all) {
                k.p.step_from_reversed(k.x, a, step);
                if (step > 0) k.p.put(k.x, step, s);
            }
        }
        for (auto& k : all) k.p.write_natural(k.x, a);
    }

    template <int S>
    void any(const PassArguments& a, bool to)
    {
        for (uint32_t t = 0; t < 1u << (a.log_n - tile_log); t++) {
            if (!to)
                tile_from_reversed<S>(a, t);
            else if (a.source2)
                tile_to_reversed<S, true>(a, t);
            else
                tile_to_reversed<S, false>(a, t);
        }
    }

    void pass(int bits, const PassArguments& a, bool to)
    {
        switch (bits) {
        case 6: any<6>(a, to); break;
        case 7: any<7>(a, to); break;
        case 8: any<8>(a, to); break;
        case 9: any<9>(a, to); break;
        default: std::abort();
        }
    }

    void pass_to_reversed(int bits, const PassArguments& a)
    {
        // The last pass's blocks are narrower than a tile; a negated read may not be in place.
        if (a.negate && a.source == a.target) std::abort();
        pass(bits, a, true);
    }
    void pass_from_reversed(int bits, const PassArguments& a) { pass(bits, a, false); }

    void gather(Fr* target, const Fr* a, const Fr* b, bool negate, int log_n)
    {
        for (uint64_t i = 0; i < (uint64_t)1 << log_n; i++) stages::gather(target, a, b, negate, log_n, i);
    }
    void stage_to_reversed(Fr* x, int log_n, int log_half, const Powers& root)
    {
        for (uint64_t k = 0; k < (uint64_t)1 << (log_n - 1); k++) stages::butterfly_to_reversed(x, log_n, log_half, root, k);
    }
    void stage_from_reversed(Fr* x, int log_n, int log_half, const Powers& root)
    {
        for (uint64_t k = 0; k < (uint64_t)1 << (log_n - 1); k++) stages::butterfly_from_reversed(x, log_n, log_half, root, k);
    }
    void finish(Fr* x, const Fr* subtract, const Fr& scale, bool shifted, const Powers& shift, bool has_first, const Fr& first, int log_n)
    {
        for (uint64_t i = 0; i < (uint64_t)1 << log_n; i++) stages::finish(x, subtract, scale, shifted, shift, has_first, first, log_n, i);
    }
    void fill(Fr* table, const Factors& f, const Powers& root, const Powers& shift)
    {
        for (uint64_t r = 0; r * fill_run < f.entries(); r++) ntt::fill(table, f, root, shift, r);
    }
    void fill_powers(Fr* table, const Powers& root)
    {
        for (uint32_t i = 0; i < 1u << largest_pass; i++) table[i] = root.at(i);
    }
};

}  // namespace pm::ntt
