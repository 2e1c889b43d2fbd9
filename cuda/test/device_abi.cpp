// The C ABI as a program sees it that loads the library at run time: plans, sums, errors by value, no leak.
#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "check.h"
#include "curve/generator.h"
#include "curve/scalar.h"
#include "proofmill_cuda.h"

using namespace pm;
using namespace pm::test;

static void* library;

template <class T>
static T load(const char* name)
{
    void* p = dlsym(library, name);
    if (!p) {
        std::printf("%s: missing\n", name);
        std::exit(1);
    }
    return reinterpret_cast<T>(p);
}

#define CALL(name) load<decltype(&name)>(#name)
#define OK(expression) CHECK((expression) == PM_OK, "%s", error.text)

int main(int argc, char** argv)
{
    if (argc != 2 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) {
        std::printf("usage: device_abi LIBRARY (%s)\n", argc == 2 ? dlerror() : "no library given");
        return 1;
    }
    std::mt19937_64 g(seed());
    pm_error error;
    CHECK(CALL(pm_abi_version)() == PM_ABI_VERSION, "version");
    int32_t devices = 0;
    OK(CALL(pm_device_count)(&devices, &error));
    pm_device device = {};
    CHECK(CALL(pm_device_get)(0, &device, &error) == PM_ERROR_ARGUMENT, "struct_size 0 must be refused");
    device.struct_size = sizeof device;
    OK(CALL(pm_device_get)(0, &device, &error));
    std::printf("%s, compute %d.%d, driver %d\n", device.name, device.compute_major, device.compute_minor, device.driver_version);

    pm_context* context = nullptr;
    pm_stream* stream = nullptr;
    OK(CALL(pm_context_create)(0, &context, &error));
    OK(CALL(pm_context_check)(context, &error));
    OK(CALL(pm_stream_create)(context, &stream, &error));
    CHECK(CALL(pm_stream_create)(nullptr, &stream, &error) == PM_ERROR_ARGUMENT && std::strlen(error.text) > 0, "null context");

    uint64_t free_before = 0, total = 0;
    const auto once = [&](uint64_t* free_bytes) {
        const uint32_t n = 100;
        std::vector<G1Affine> points;
        std::vector<Fr> scalars;
        Fr want = Fr::zero(), want_bits = Fr::zero();
        uint32_t bits[4] = {};
        for (uint32_t i = 0; i < n; i++) {
            const Fr e = random_element<Fr>(g), s = random_element<Fr>(g), plain = e.to_plain();
            points.push_back(multiply(g1_generator(), plain.limb, 8).to_affine());
            scalars.push_back(s);
            want = want + e * s;
            if (g() & 1) {
                bits[i / 32] |= 1u << (i % 32);
                want_bits = want_bits + e;
            }
        }
        void *dp = nullptr, *ds = nullptr, *db = nullptr, *scratch = nullptr, *sum_scratch = nullptr;
        OK(CALL(pm_device_alloc)(context, n * 96, &dp, &error));
        OK(CALL(pm_device_alloc)(context, n * 32, &ds, &error));
        OK(CALL(pm_device_alloc)(context, sizeof bits, &db, &error));
        OK(CALL(pm_copy_to_device)(stream, dp, points.data(), n * 96, &error));
        OK(CALL(pm_copy_to_device)(stream, ds, scalars.data(), n * 32, &error));
        OK(CALL(pm_copy_to_device)(stream, db, bits, sizeof bits, &error));
        pm_msm_config config = {};
        config.struct_size = sizeof config;
        config.group = PM_G1;
        config.bases = dp;
        config.base_count = n;
        config.copies = 1;
        config.max_scalars = n;
        config.budget_bytes = 1 << 10;
        pm_msm* msm = nullptr;
        uint64_t bytes = 0;
        CHECK(CALL(pm_msm_create)(context, &config, &msm, &bytes, &error) == PM_ERROR_MEMORY, "a tiny budget must be refused");
        config.budget_bytes = 1ull << 30;
        OK(CALL(pm_msm_create)(context, &config, &msm, &bytes, &error));
        OK(CALL(pm_device_alloc)(context, bytes, &scratch, &error));
        G1Affine got;
        OK(CALL(pm_msm_run)(msm, stream, ds, nullptr, n, 1, scratch, &got, &error));
        const Fr plain = want.to_plain();
        CHECK(got == multiply(g1_generator(), plain.limb, 8).to_affine(), "msm");
        CHECK(CALL(pm_msm_run)(msm, stream, ds, nullptr, n + 1, 1, scratch, &got, &error) == PM_ERROR_ARGUMENT, "too many scalars");
        pm_sum* sum = nullptr;
        OK(CALL(pm_sum_create)(context, PM_G1, n, &sum, &bytes, &error));
        OK(CALL(pm_device_alloc)(context, bytes, &sum_scratch, &error));
        OK(CALL(pm_sum_run)(sum, stream, dp, static_cast<uint32_t*>(db), n, sum_scratch, &got, &error));
        const Fr plain_bits = want_bits.to_plain();
        CHECK(got == multiply(g1_generator(), plain_bits.limb, 8).to_affine(), "sum of bits");
        pm_stage stages[64];
        int32_t count = 0;
        OK(CALL(pm_stream_stages)(stream, stages, 64, &count, &error));
        CHECK(count >= 6, "%d stages", count);
        CALL(pm_msm_free)(msm);
        CALL(pm_sum_free)(sum);
        for (void* p : {dp, ds, db, scratch, sum_scratch}) OK(CALL(pm_device_release)(context, p, &error));
        OK(CALL(pm_memory_get)(context, free_bytes, &total, &error));
    };
    once(&free_before);
    for (int i = 0; i < 20; i++) {
        uint64_t free_after = 0;
        once(&free_after);
        CHECK(free_after == free_before, "free memory changed from %llu to %llu", (unsigned long long)free_before, (unsigned long long)free_after);
    }
    void* huge = nullptr;
    CHECK(CALL(pm_device_alloc)(context, 1ull << 50, &huge, &error) == PM_ERROR_MEMORY, "too large an allocation");
    OK(CALL(pm_context_check)(context, &error));
    CALL(pm_stream_free)(stream);
    CALL(pm_context_free)(context);
    return finish("device abi");
}
