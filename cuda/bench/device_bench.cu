// Rates of the arithmetic and times of the sums on one card. One JSON object a line.
//
//   device_bench [part...]     parts: rates add msm1 msm2 bits; all without arguments
//                              g1,LOG_N,BITS,COPIES or g2,...: one MSM
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "curve/generator.h"
#include "meter.h"
#include "msm/batch_add.h"
#include "msm/msm.h"
#include "points.h"

using namespace pm;
using namespace pm::test;

static int multiprocessors;

static const Lanes& lanes()
{
    static const Lanes l(nullptr);
    return l;
}
static bench::Meter meter;

struct Timing {
    double first_ms, median_ms;
    int runs;
    bench::Meter::Reading reading;
};

// One warm-up, then runs for `seconds` of host time; the median of single runs by events.
static Timing measure(double seconds, const std::function<void()>& f)
{
    cudaEvent_t a, b;
    PM_CUDA(cudaEventCreate(&a));
    PM_CUDA(cudaEventCreate(&b));
    f();
    PM_CUDA(cudaDeviceSynchronize());
    std::vector<float> times;
    meter.start();
    const auto start = std::chrono::steady_clock::now();
    do {
        PM_CUDA(cudaEventRecord(a));
        f();
        PM_CUDA(cudaEventRecord(b));
        PM_CUDA(cudaEventSynchronize(b));
        float ms;
        PM_CUDA(cudaEventElapsedTime(&ms, a, b));
        times.push_back(ms);
    } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds || times.size() < 3);
    Timing t{times[0], 0, (int)times.size(), meter.stop()};
    // Sustained: only the second half, when the power limit has settled.
    std::vector<float> late(times.begin() + (long)times.size() / 2, times.end());
    std::sort(late.begin(), late.end());
    t.median_ms = late[late.size() / 2];
    PM_CUDA(cudaEventDestroy(a));
    PM_CUDA(cudaEventDestroy(b));
    return t;
}

static void report(const std::string& name, const Timing& t, double work, const char* unit, const std::string& more = "")
{
    std::printf("{\"name\":\"%s\",\"first_ms\":%.4f,\"sustained_ms\":%.4f,\"runs\":%d,\"rate\":%.4g,\"unit\":\"%s\",\"sm_mhz\":%.0f,\"mem_mhz\":%.0f,\"watts\":%.0f,\"watts_max\":%.0f%s}\n",
                name.c_str(), t.first_ms, t.median_ms, t.runs, work / (t.median_ms * 1e-3), unit, t.reading.sm_mhz, t.reading.memory_mhz, t.reading.watts,
                t.reading.watts_max, more.c_str());
    std::fflush(stdout);
}

template <class F, int op, int rounds>
__global__ __launch_bounds__(256) void rate_kernel(F* values)
{
    F a = values[threadIdx.x], b = values[threadIdx.x + 256];
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        if (op == 0) { a = a * b; b = b * a; }
        if (op == 1) { a = a.squared(); b = b.squared(); }
        if (op == 2) { a = a + b; b = b + a; }
        if (op == 3) { a = inverse(a); b = inverse(b); }
    }
    values[threadIdx.x + 512 + (blockIdx.x % 8) * 256] = a + b;
}

template <class F, int op, int rounds>
static void rate(const char* name, double seconds)
{
    std::vector<F> v(4096);
    for (F& x : v) {
        x = F::one().doubled() + F::one();
        for (int i = (int)(&x - v.data()) % 97; i >= 0; i--) x = x.squared() + F::one();
    }
    Device<F> d(v);
    const int blocks = multiprocessors * 16;
    const Timing t = measure(seconds, [&] { rate_kernel<F, op, rounds><<<blocks, 256>>>(d.get()); });
    PM_LAUNCHED("rate");
    report(name, t, 2.0 * rounds * blocks * 256, "1/s");
}

static __global__ void plan_pairs(Pair* pairs, uint32_t count, uint32_t mask, bool random, uint32_t pool)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t left = 2 * i, right = 2 * i + 1;
    if (random) {
        left = (left * 2654435761u) & mask;
        right = (right * 2654435761u) & mask;
    }
    pairs[i] = {left | pool, right | pool};
}

template <class F>
static void bench_add(const char* group, int log_n, double seconds)
{
    std::mt19937_64 g(1);
    const uint32_t n = 1u << log_n, count = n / 4;
    const Logarithms logs(g, log_n);
    Device<Affine<F>> bases(n), pool(count);
    make_table(bases.get(), logs, 0, multiprocessors);
    Device<Pair> pairs(count);
    BatchAdder<F> adder;
    Scratch size;
    adder.reserve(size, count, multiprocessors);
    Device<char> memory(size.used());
    Scratch scratch(memory.get());
    adder.reserve(scratch, count, multiprocessors);
    for (bool random : {false, true}) {
        for (uint32_t m : {count, count / 32, count / 256}) {
            plan_pairs<<<(m + 255) / 256, 256>>>(pairs.get(), m, n - 1, random, 0);
            const Timing t = measure(m == count ? seconds : 0.1, [&] { adder.add(bases.get(), pool.get(), pairs.get(), m, 0, nullptr); });
            report(std::string(group) + " batch add " + (random ? "random" : "contiguous") + " " + std::to_string(m), t, m, "additions/s");
        }
    }
}

template <class F>
static void bench_msm(const char* group, int log_n, int bits, int copies, double seconds)
{
    std::mt19937_64 g(2);
    const uint32_t n = 1u << log_n;
    const Logarithms logs(g, log_n);
    const Windows w = Windows::of(bits ? bits : 16, copies);
    Device<Affine<F>> bases((size_t)n * copies);
    for (int c = 0; c < copies; c++) make_table(bases.get() + (size_t)c * n, logs, c * w.copy_shift(), multiprocessors);
    Device<Fr> scalars(n);
    fill_scalars(scalars.get(), n, 3);
    const Msm<F> msm({bases.get(), n, copies, w.bits}, n, bits, (size_t)44 << 30, multiprocessors);
    Device<char> scratch(msm.scratch_bytes());
    StageTimes times;
    Affine<F> result;
    const auto once = [&] {
        times.clear();
        result = msm.run({scalars.get(), nullptr, n, false}, scratch.get(), &times, lanes());
    };
    const Timing t = measure(seconds, once);
    const bool right = result == power(generator<F>(), dot(scalars.get(), nullptr, n, logs));
    std::map<std::string, double> stages;
    for (size_t i = 0; i < times.size(); i++) stages[times.name(i)] += times.milliseconds(i);
    std::string more = std::string(",\"correct\":") + (right ? "true" : "false") + ",\"bits\":" + std::to_string(msm.windows().bits) + ",\"windows\":" +
                       std::to_string(msm.windows().count) + ",\"sets\":" + std::to_string(msm.windows().sets) + ",\"copies\":" + std::to_string(copies) +
                       ",\"scratch_gb\":" + std::to_string((double)msm.scratch_bytes() / 1e9);
    for (const auto& s : stages) more += ",\"" + s.first + "\":" + std::to_string(s.second);
    report(std::string(group) + " msm 2^" + std::to_string(log_n), t, n, "points/s", more);
}

template <class F>
static void bench_bits(const char* group, uint32_t n, double seconds)
{
    std::mt19937_64 g(4);
    int log_n = 0;
    while ((1ull << log_n) < n) log_n++;
    const Logarithms logs(g, log_n);
    Device<Affine<F>> bases((size_t)1 << log_n);
    make_table(bases.get(), logs, 0, multiprocessors);
    Device<uint32_t> bits((n + 31) / 32);
    fill_bits(bits.get(), (n + 31) / 32, (uint32_t)(0.495 * 4294967296.0), 5);
    const PointSum<F> sum(n, multiprocessors);
    Device<char> scratch(sum.scratch_bytes());
    StageTimes times;
    const Timing t = measure(seconds, [&] {
        times.clear();
        sum.sum_bits(bases.get(), bits.get(), n, scratch.get(), &times, lanes());
    });
    std::string more = ",\"scratch_gb\":" + std::to_string((double)sum.scratch_bytes() / 1e9);
    for (size_t i = 0; i < times.size(); i++) more += std::string(",\"") + times.name(i) + "\":" + std::to_string(times.milliseconds(i));
    report(std::string(group) + " bits " + std::to_string(n), t, n, "bits/s", more);
}

int main(int argc, char** argv)
{
    const auto wanted = [&](const char* part) {
        if (argc < 2) return true;
        for (int i = 1; i < argc; i++)
            if (!std::strcmp(argv[i], part)) return true;
        return false;
    };
    const char* s = std::getenv("PROOFMILL_SECONDS");
    const double seconds = s ? std::atof(s) : 2.0;
    try {
        cudaDeviceProp p;
        int driver = 0, runtime = 0;
        PM_CUDA(cudaGetDeviceProperties(&p, 0));
        PM_CUDA(cudaDriverGetVersion(&driver));
        PM_CUDA(cudaRuntimeGetVersion(&runtime));
        multiprocessors = p.multiProcessorCount;
        std::printf("{\"device\":\"%s\",\"multiprocessors\":%d,\"driver\":%d,\"runtime\":%d}\n", p.name, p.multiProcessorCount, driver, runtime);
        if (wanted("rates")) {
            rate<Fp, 0, 500>("Fp multiplication", 0.3);
            rate<Fp, 1, 500>("Fp square", 0.3);
            rate<Fp, 2, 5000>("Fp addition", 0.3);
            rate<Fp, 3, 4>("Fp inverse", 0.3);
            rate<Fr, 0, 1000>("Fr multiplication", 0.3);
            rate<Fr, 1, 1000>("Fr square", 0.3);
            rate<Fr, 2, 5000>("Fr addition", 0.3);
        }
        if (wanted("add")) {
            bench_add<Fp>("G1", 26, seconds);
            bench_add<Fp2>("G2", 24, seconds);
        }
        if (wanted("msm1")) {
            bench_msm<Fp>("G1", 22, 0, 1, seconds);
            bench_msm<Fp>("G1", 24, 0, 1, seconds);
            bench_msm<Fp>("G1", 26, 0, 1, seconds);
            bench_msm<Fp>("G1", 27, 0, 1, seconds);
            bench_msm<Fp>("G1", 27, 24, 4, seconds);
        }
        if (wanted("msm2")) bench_msm<Fp2>("G2", 25, 0, 1, seconds);
        for (int i = 1; i < argc; i++) {
            int group = 0, log_n = 0, bits = 0, copies = 1;
            if (std::sscanf(argv[i], "g%d,%d,%d,%d", &group, &log_n, &bits, &copies) < 2) continue;
            if (group == 1) bench_msm<Fp>("G1", log_n, bits, copies, seconds);
            if (group == 2) bench_msm<Fp2>("G2", log_n, bits, copies, seconds);
        }
        if (wanted("bits")) {
            bench_bits<Fp>("G1", 130169893, seconds);
            bench_bits<Fp2>("G2", 33112281, seconds);
        }
    } catch (const std::exception& e) {
        std::printf("{\"error\":\"%s\"}\n", e.what());
        return 1;
    }
    return 0;
}
