// The order of additions and the cutting into chunks and digits, on integers instead of points.
#include <algorithm>
#include <vector>

#include "bignum.h"
#include "check.h"
#include "field/fr.h"
#include "msm/chunks.h"
#include "msm/tree.h"
#include "msm/windows.h"

using namespace pm;
using namespace pm::test;

// Runs the rounds of each chunk as the device does, and compares every bucket with its plain sum.
static void test_tree(std::mt19937_64& g, uint32_t entries, uint32_t bucket_count, int skew, uint32_t longest_chunk)
{
    std::vector<uint32_t> keys(entries), values(entries);
    std::vector<uint64_t> bases(entries), want(bucket_count, 0), got(bucket_count, 0);
    for (uint32_t i = 0; i < entries; i++) {
        keys[i] = (uint32_t)(g() % bucket_count);
        for (int k = 0; k < skew; k++) keys[i] = std::min(keys[i], (uint32_t)(g() % bucket_count));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<buckets::Range> ranges(bucket_count, {0, 0});
    uint32_t longest = 0;
    for (uint32_t i = 0; i < entries; i++) {
        values[i] = i;
        bases[i] = g();
        want[keys[i]] += bases[i];
        if (i == 0 || keys[i - 1] != keys[i]) ranges[keys[i]].start = i;
        ranges[keys[i]].end = i + 1;
        longest = std::max(longest, i + 1 - ranges[keys[i]].start);
    }
    const int levels = msm_detail::ceil_log2(std::max(longest, 1u));
    uint32_t first = 0;
    long additions = 0, chunks = 0;
    for (const auto& share : msm_detail::share_chunks(entries, longest_chunk, levels, 3)) {
        CHECK(share.length <= longest_chunk, "a chunk of %u entries", share.length);
        const uint32_t end = first + share.length;
        chunks++;
        const auto tree = buckets::Tree::over(first, end, std::min(levels, msm_detail::ceil_log2(std::max(share.length, 1u))));
        CHECK(tree.span <= longest_chunk || entries <= longest_chunk, "the slots of a chunk");
        std::vector<uint64_t> pool((size_t)tree.span + 1);
        std::vector<bool> written((size_t)tree.span + 1, false);
        const auto value = [&](uint32_t reference) {
            if (!(reference & Reference::pool)) return bases[reference];
            const uint32_t slot = reference & Reference::index;
            CHECK(slot < tree.span && written[slot], "slot %u is read before it is written", slot);
            return slot < tree.span ? pool[slot] : 0;
        };
        for (int level = 0; longest > 1 && level <= tree.levels; level++) {
            std::vector<std::pair<uint32_t, uint64_t>> sums;  // a round reads only what earlier rounds wrote
            for (uint32_t i = 0; i < tree.nodes(level); i++) {
                const Pair p = buckets::pair_of_node(tree, level, i, keys.data(), values.data(), ranges.data());
                if (p.left == Reference::none) continue;
                sums.push_back({tree.slots_before(level) + i, value(p.left) + value(p.right)});
            }
            for (const auto& s : sums) {
                CHECK(s.first < tree.span && !written[s.first], "slot %u is written twice", s.first);
                pool[s.first] = s.second;
                written[s.first] = true;
                additions++;
            }
        }
        for (uint32_t b = 0; b < bucket_count; b++) {
            const uint32_t from = std::max(ranges[b].start, first), to = std::min(ranges[b].end, end);
            if (from < to) got[b] += value(buckets::partial_sum(tree, values.data(), from - first, to - first));
        }
        first = end;
    }
    CHECK(first == entries, "all entries are in a chunk");
    long used = 0;
    for (uint32_t b = 0; b < bucket_count; b++) {
        CHECK(got[b] == want[b], "bucket %u of %u, %u entries", b, bucket_count, entries);
        used += ranges[b].start < ranges[b].end;
    }
    // Additions: one an entry, less the first of each bucket in each chunk it touches.
    CHECK(additions <= (long)entries - used && additions >= (long)entries - used - chunks, "%ld additions", additions);
}

// Half a window added to each window: digits without carries, as the device cuts them.
static void test_windows(std::mt19937_64& g)
{
    for (int bits = 2; bits <= 26; bits++) {
        const Windows w = Windows::of(bits, 1);
        CHECK(w.bits * w.count <= 10 * 32 - 32, "digits of %d bits fit the device's words", bits);
        for (int k = 0; k < 200; k++) {
            Fr s = random_element<Fr>(g), negative = s.negated();
            if (k == 0) {
                // The largest value that is not replaced by its negative: (r - 1) / 2.
                for (int i = 0; i < 8; i++) s.limb[i] = FrParams::modulus(i) >> 1 | (i < 7 ? FrParams::modulus(i + 1) << 31 : 0);
                negative = s.negated();
            }
            if (Bignum::from(negative.limb, 8).compare(Bignum::from(s.limb, 8)) < 0) s = negative;
            Bignum biased = Bignum::from(s.limb, 8), sum, minus;
            biased.w.resize(10, 0);
            sum.w.assign(10, 0);
            minus.w.assign(10, 0);
            Bignum bias;
            bias.w.assign(10, 0);
            for (int j = 0; j < w.count; j++) bias.w[(j * bits + bits - 1) / 32] |= 1u << ((j * bits + bits - 1) % 32);
            biased = biased.plus(bias);
            Bignum above;
            above.w.assign(11, 0);
            above.w[w.bits * w.count / 32] = 1u << (w.bits * w.count % 32);
            CHECK(biased.compare(above) < 0, "%d bits: no window above the last", bits);
            for (int j = 0; j < w.count; j++) {
                uint32_t raw = 0;
                for (int i = 0; i < bits; i++) raw |= (biased.w[(j * bits + i) / 32] >> ((j * bits + i) % 32) & 1) << i;
                const int64_t digit = (int64_t)raw - (1 << (bits - 1));
                CHECK(digit >= -(int64_t)w.buckets() && digit < (int64_t)w.buckets(), "digit");
                Bignum power, size;
                power.w.assign(10, 0);
                power.w[j * bits / 32] = 1u << (j * bits % 32);
                size.w = {(uint32_t)(digit < 0 ? -digit : digit)};
                (digit < 0 ? minus : sum) = (digit < 0 ? minus : sum).plus(power.times(size));
            }
            CHECK(sum.compare(minus.plus(Bignum::from(s.limb, 8))) == 0, "%d bits: digits make the scalar", bits);
        }
    }
}

int main()
{
    std::mt19937_64 g(seed());
    for (uint32_t entries : {1u, 2u, 3u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u, 4095u, 4096u, 4097u, 20000u})
        for (uint32_t bucket_count : {1u, 2u, 7u, 100u, 5000u})
            for (int skew : {0, 3})
                for (uint32_t longest_chunk : {64u, 1024u, 1u << 20}) test_tree(g, entries, bucket_count, skew, longest_chunk);
    test_windows(g);
    return finish("tree");
}
