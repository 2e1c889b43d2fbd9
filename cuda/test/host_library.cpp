// The C ABI on the host: "device" memory is ordinary memory, a stream does its work at once, and each
// kernel is a loop over its threads' code. Slow and obvious, for tests of the callers and of the kernels'
// arithmetic on machines without a card.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "curve/xyzz.h"
#include "host_executor.h"
#include "prover/convert.h"
#include "proofmill_cuda.h"

using namespace pm;

struct pm_context {
    int device;
};
struct pm_stream {
    std::vector<pm_stage> stages;
};
struct pm_msm {
    pm_msm_config config;
};
struct pm_sum {
    int32_t group;
};
struct pm_domain {
    int log_n;
};

namespace {

constexpr uint64_t memory_bytes = 4ull << 30;

int32_t fail(pm_error* error, int32_t code, const char* text)
{
    if (error) {
        error->code = code;
        error->cuda = 0;
        std::snprintf(error->text, sizeof error->text, "%s", text);
    }
    return code;
}

int32_t ok(pm_error* error) { return fail(error, PM_OK, ""); }

struct Timer {
    pm_stream* stream;
    const char* name;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    Timer(pm_stream* s, const char* n) : stream(s), name(n) {}
    ~Timer()
    {
        pm_stage s = {};
        std::snprintf(s.name, sizeof s.name, "%s", name);
        s.milliseconds = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count();
        stream->stages.push_back(s);
    }
};

// Windows of unsigned digits: window i * sets + s goes to the buckets of set s with the point of copy i.
template <class F>
Affine<F> msm(const pm_msm_config& c, const Fr* scalars, const uint32_t* indices, uint32_t count, bool montgomery)
{
    const Affine<F>* bases = static_cast<const Affine<F>*>(c.bases);
    const int bits = c.window_bits ? c.window_bits : 10;
    const int sets = pm_msm_copy_shift(bits, c.copies) / bits;
    std::vector<Fr> plain(scalars, scalars + count);
    if (montgomery)
        for (auto& s : plain) s = s.to_plain();
    Xyzz<F> total = Xyzz<F>::infinity();
    for (int set = sets - 1; set >= 0; set--) {
        for (int k = 0; k < bits; k++) total = total.doubled();
        std::vector<Xyzz<F>> buckets((size_t)1 << bits, Xyzz<F>::infinity());
        for (int copy = 0; copy < c.copies; copy++) {
            const int low = (copy * sets + set) * bits;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t digit = 0;
                for (int k = 0; k < bits && low + k < 256; k++) digit |= (plain[i].limb[(low + k) / 32] >> ((low + k) % 32) & 1) << k;
                if (digit) buckets[digit].add(bases[(size_t)copy * c.base_count + (indices ? indices[i] : i)]);
            }
        }
        Xyzz<F> run = Xyzz<F>::infinity(), sum = run;
        for (size_t d = buckets.size() - 1; d > 0; d--) {
            run.add(buckets[d]);
            sum.add(run);
        }
        total.add(sum);
    }
    return total.to_affine();
}

template <class F>
void multiply(const void* in, void* out, uint32_t count, int32_t shift)
{
    for (uint32_t i = 0; i < count; i++) {
        Xyzz<F> p = Xyzz<F>::from(static_cast<const Affine<F>*>(in)[i]);
        for (int32_t k = 0; k < shift; k++) p = p.doubled();
        static_cast<Affine<F>*>(out)[i] = p.to_affine();
    }
}

template <class F>
Affine<F> sum_bits(const Affine<F>* points, const uint32_t* bits, uint32_t count)
{
    Xyzz<F> total = Xyzz<F>::infinity();
    for (uint32_t i = 0; i < count; i++)
        if (bits[i / 32] >> (i % 32) & 1) total.add(points[i]);
    return total.to_affine();
}

}  // namespace

extern "C" {

int32_t pm_abi_version(void) { return PM_ABI_VERSION; }

int32_t pm_device_count(int32_t* count, pm_error* error)
{
    *count = 1;
    return ok(error);
}

int32_t pm_device_get(int32_t, pm_device* out, pm_error* error)
{
    if (out->struct_size < sizeof *out) return fail(error, PM_ERROR_ARGUMENT, "device: struct_size too small");
    *out = {};
    out->struct_size = sizeof *out;
    out->multiprocessors = 1;
    out->memory_bytes = memory_bytes;
    std::memcpy(out->uuid, "host-emulation--", sizeof out->uuid);
    std::snprintf(out->name, sizeof out->name, "host");
    return ok(error);
}

int32_t pm_context_create(int32_t device, pm_context** out, pm_error* error)
{
    *out = new pm_context{device};
    return ok(error);
}
void pm_context_free(pm_context* context) { delete context; }
int32_t pm_context_check(pm_context*, pm_error* error) { return ok(error); }

int32_t pm_memory_get(pm_context*, uint64_t* free_bytes, uint64_t* total_bytes, pm_error* error)
{
    *free_bytes = *total_bytes = memory_bytes;
    return ok(error);
}

int32_t pm_device_alloc(pm_context*, uint64_t bytes, void** out, pm_error* error)
{
    *out = nullptr;
    if (bytes > memory_bytes) return fail(error, PM_ERROR_MEMORY, "out of memory");
    // Poisoned, so that a read of what nothing wrote shows.
    *out = ::operator new(bytes ? bytes : 1, std::align_val_t{256});
    std::memset(*out, 0xa5, bytes);
    return ok(error);
}
int32_t pm_device_release(pm_context*, void* memory, pm_error* error)
{
    ::operator delete(memory, std::align_val_t{256});
    return ok(error);
}
int32_t pm_host_alloc(pm_context* c, uint64_t bytes, void** out, pm_error* error) { return pm_device_alloc(c, bytes, out, error); }
int32_t pm_host_release(pm_context* c, void* memory, pm_error* error) { return pm_device_release(c, memory, error); }

int32_t pm_stream_create(pm_context*, pm_stream** out, pm_error* error)
{
    *out = new pm_stream;
    return ok(error);
}
void pm_stream_free(pm_stream* stream) { delete stream; }
int32_t pm_stream_wait(pm_stream*, pm_error* error) { return ok(error); }

int32_t pm_copy_to_device(pm_stream* s, void* device, const void* host, uint64_t bytes, pm_error* error)
{
    Timer t(s, "copy.in");
    std::memcpy(device, host, bytes);
    return ok(error);
}
int32_t pm_copy_to_host(pm_stream* s, void* host, const void* device, uint64_t bytes, pm_error* error)
{
    Timer t(s, "copy.out");
    std::memcpy(host, device, bytes);
    return ok(error);
}
int32_t pm_clear(pm_stream*, void* device, uint64_t bytes, pm_error* error)
{
    std::memset(device, 0, bytes);
    return ok(error);
}

int32_t pm_stream_stages(pm_stream* s, pm_stage* out, int32_t capacity, int32_t* count, pm_error* error)
{
    *count = (int32_t)s->stages.size();
    for (int32_t i = 0; i < *count && i < capacity; i++) out[i] = s->stages[(size_t)i];
    s->stages.clear();
    return ok(error);
}

int32_t pm_msm_copy_shift(int32_t window_bits, int32_t copies)
{
    const int windows = (255 + window_bits - 1) / window_bits;
    return window_bits * ((windows + copies - 1) / copies);
}
int32_t pm_msm_create(pm_context*, const pm_msm_config* config, pm_msm** out, uint64_t* scratch_bytes, pm_error* error)
{
    if (config->copies > 1 && config->window_bits == 0) return fail(error, PM_ERROR_ARGUMENT, "msm: copies need their window bits");
    *out = new pm_msm{*config};
    *scratch_bytes = 256;
    return ok(error);
}
void pm_msm_free(pm_msm* m) { delete m; }
int32_t pm_msm_run(pm_msm* m, pm_stream* s, const void* scalars, const uint32_t* indices, uint32_t count, int32_t montgomery, void*,
                   void* result, pm_error* error)
{
    if (count > m->config.max_scalars) return fail(error, PM_ERROR_ARGUMENT, "msm: more scalars than planned for");
    if (!indices && count > m->config.base_count) return fail(error, PM_ERROR_ARGUMENT, "msm: more scalars than bases");
    Timer t(s, "msm");
    const Fr* v = static_cast<const Fr*>(scalars);
    if (m->config.group == PM_G1)
        *static_cast<G1Affine*>(result) = msm<Fp>(m->config, v, indices, count, montgomery != 0);
    else
        *static_cast<G2Affine*>(result) = msm<Fp2>(m->config, v, indices, count, montgomery != 0);
    return ok(error);
}

int32_t pm_sum_create(pm_context*, int32_t group, uint32_t, pm_sum** out, uint64_t* scratch_bytes, pm_error* error)
{
    *out = new pm_sum{group};
    *scratch_bytes = 256;
    return ok(error);
}
void pm_sum_free(pm_sum* sum) { delete sum; }
int32_t pm_sum_run(pm_sum* sum, pm_stream* s, const void* points, const uint32_t* bits, uint32_t count, void*, void* result, pm_error* error)
{
    Timer t(s, "sum");
    if (sum->group == PM_G1)
        *static_cast<G1Affine*>(result) = sum_bits(static_cast<const G1Affine*>(points), bits, count);
    else
        *static_cast<G2Affine*>(result) = sum_bits(static_cast<const G2Affine*>(points), bits, count);
    return ok(error);
}

int32_t pm_bases_multiply(pm_stream* s, int32_t group, const void* in, void* out, uint32_t count, int32_t shift, pm_error* error)
{
    Timer t(s, "bases.multiply");
    if (group == PM_G1)
        multiply<Fp>(in, out, count, shift);
    else
        multiply<Fp2>(in, out, count, shift);
    return ok(error);
}

int32_t pm_expand(pm_stream* s, const pm_runs* runs, const pm_poseidon* hashes, int32_t hash_count, const uint64_t* words,
                  const void* elements, void* aux, pm_error* error)
{
    if (const char* complaint = check(runs, hashes, hash_count)) return fail(error, PM_ERROR_ARGUMENT, complaint);
    Timer t(s, "expand");
    const poseidon::Runs b = convert(*runs);
    const Hashes h = convert(hashes, hash_count);
    const Fr* e = static_cast<const Fr*>(elements);
    Fr* out = static_cast<Fr*>(aux);
    for (uint32_t i = 0; i < b.repeat; i++) {
        for (uint32_t r = 0; r < b.plain_count; r++)
            for (uint32_t k = 0; k < b.plain[r].count; k++) poseidon::expand_plain(b, b.plain[r], i, k, words, e, out);
        for (uint32_t r = 0; r < b.hash_count; r++) poseidon::expand_hash(b, b.hashes[r], h.of, i, words, e, out);
    }
    return ok(error);
}

int32_t pm_long_row(void) { return (int32_t)sparse::long_row; }

int32_t pm_evaluate(pm_stream* s, const pm_matrix* matrix, const void* coefficients, const void* inputs, const void* aux, void* out,
                    pm_error* error)
{
    if (const char* complaint = check(matrix)) return fail(error, PM_ERROR_ARGUMENT, complaint);
    Timer t(s, "evaluate");
    const sparse::Matrix m = convert(*matrix);
    const sparse::Assignment z = {static_cast<const Fr*>(coefficients), static_cast<const Fr*>(inputs), static_cast<const Fr*>(aux)};
    Fr* o = static_cast<Fr*>(out);
    for (uint32_t i = 0; i < m.repeat; i++) {
        for (uint32_t r = 0; r < m.rows; r++)
            if (m.end[r] - sparse::first_term(m, r) <= sparse::long_row) o[sparse::row_position(m, r, i)] = sparse::row_sum(m, z, r, i, 0, 1);
        for (uint32_t l = 0; l < m.long_count; l++) {
            Fr sum = Fr::zero();
            for (uint32_t lane = 0; lane < 32; lane++) sum = sum + sparse::row_sum(m, z, m.long_rows[l], i, lane, 32);
            o[sparse::row_position(m, m.long_rows[l], i)] = sum;
        }
    }
    return ok(error);
}

int32_t pm_select(pm_stream* s, const uint32_t* variables, uint32_t count, const void* inputs, const void* aux, uint32_t* ones,
                  uint32_t* indices, void* scalars, uint32_t* found, uint32_t capacity, pm_error* error)
{
    Timer t(s, "select");
    *found = 0;
    std::memset(ones, 0, (count + 31) / 32 * 4);
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t v = variables ? variables[p] : p | sparse::aux_flag;
        const Fr x = static_cast<const Fr*>(v & sparse::aux_flag ? aux : inputs)[v & ~sparse::aux_flag];
        if (x == Fr::one()) {
            ones[p / 32] |= 1u << (p % 32);
        } else if (!x.is_zero()) {
            if (*found < capacity) {
                indices[*found] = p;
                static_cast<Fr*>(scalars)[*found] = x;
            }
            ++*found;
        }
    }
    return ok(error);
}

int32_t pm_domain_create(pm_context*, int32_t log_n, pm_domain** out, uint64_t* table_bytes, pm_error* error)
{
    if (log_n < 0 || log_n > ntt::largest_log) return fail(error, PM_ERROR_ARGUMENT, "domain: 2^0 to 2^28 points");
    *table_bytes = ntt::Transforms<ntt::HostExecutor>::table_elements(log_n) * sizeof(Fr);
    *out = new pm_domain{log_n};
    return ok(error);
}
void pm_domain_free(pm_domain* domain) { delete domain; }

int32_t pm_domain_fill(pm_domain* d, pm_stream* s, void* tables, pm_error* error)
{
    Timer t(s, "domain");
    ntt::HostExecutor run;
    ntt::Transforms<ntt::HostExecutor>(d->log_n, static_cast<const Fr*>(tables), run).fill_tables(static_cast<Fr*>(tables));
    return ok(error);
}

int32_t pm_transform(pm_domain* d, pm_stream* s, const void* tables, int32_t reversed, void* x, pm_error* error)
{
    Timer t(s, "transform");
    ntt::HostExecutor run;
    ntt::Transforms<ntt::HostExecutor> transforms(d->log_n, static_cast<const Fr*>(tables), run);
    Fr* data = static_cast<Fr*>(x);
    if (reversed)
        transforms.to_reversed(ntt::Kind::plain, data, nullptr, false, nullptr, data);
    else
        transforms.from_reversed(data);
    return ok(error);
}

int32_t pm_quotient(pm_domain* d, pm_stream* s, const void* tables, void* a, void* b, void* c, pm_error* error)
{
    Timer t(s, "transforms");
    ntt::HostExecutor run;
    ntt::Transforms<ntt::HostExecutor>(d->log_n, static_cast<const Fr*>(tables), run)
        .quotient(static_cast<Fr*>(a), static_cast<Fr*>(b), static_cast<Fr*>(c));
    return ok(error);
}

int32_t pm_points_reverse(pm_stream*, const void* in, void* out, int32_t log_n, uint32_t first, uint32_t count, pm_error* error)
{
    for (uint32_t i = 0; i < count; i++)
        static_cast<G1Affine*>(out)[ntt::stages::reversed(first + i, log_n)] = static_cast<const G1Affine*>(in)[i];
    return ok(error);
}

}  // extern "C"
