// The assignment's values and the transforms of the ABI.
#include "api/handles.h"
#include "ntt/ntt.h"
#include "poseidon/launch.h"
#include "prover/convert.h"
#include "prover/order.h"
#include "sparse/launch.h"

using namespace pm;

struct pm_domain {
    pm_context* context;
    int log_n;
};

namespace {

void need_ok(const char* complaint)
{
    if (complaint) throw_argument(complaint);
}

void enter_domain(const pm_domain* domain, const pm_stream* stream, const void* tables)
{
    need(domain != nullptr, "domain: null");
    enter(stream);
    need(tables || ntt::DeviceTransforms::table_elements(domain->log_n) == 0, "domain: null tables");
}

}  // namespace

int32_t pm_expand(pm_stream* stream, const pm_runs* runs, const pm_poseidon* hashes, int32_t hash_count, const uint64_t* words,
                  const void* elements, void* aux, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need_ok(check(runs, hashes, hash_count));
        Stage stage("expand", &stream->times, stream->stream);
        poseidon::expand(convert(*runs), convert(hashes, hash_count), words, static_cast<const Fr*>(elements), static_cast<Fr*>(aux), stream->stream);
    });
}

int32_t pm_long_row(void) { return (int32_t)sparse::long_row; }

int32_t pm_evaluate(pm_stream* stream, const pm_matrix* matrix, const void* coefficients, const void* inputs, const void* aux, void* out,
                    pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need_ok(check(matrix));
        Stage stage("evaluate", &stream->times, stream->stream);
        sparse::evaluate(convert(*matrix), {static_cast<const Fr*>(coefficients), static_cast<const Fr*>(inputs), static_cast<const Fr*>(aux)},
                         static_cast<Fr*>(out), stream->stream);
    });
}

int32_t pm_select(pm_stream* stream, const uint32_t* variables, uint32_t count, const void* inputs, const void* aux, uint32_t* ones,
                  uint32_t* indices, void* scalars, uint32_t* found, uint32_t capacity, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need(found != nullptr, "select: null result");
        Stage stage("select", &stream->times, stream->stream);
        sparse::select(variables, count, static_cast<const Fr*>(inputs), static_cast<const Fr*>(aux),
                       {ones, indices, static_cast<Fr*>(scalars), found, capacity}, stream->stream);
    });
}

int32_t pm_clear(pm_stream* stream, void* device, uint64_t bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        PM_CUDA(cudaMemsetAsync(device, 0, bytes, stream->stream));
    });
}

int32_t pm_domain_create(pm_context* context, int32_t log_n, pm_domain** out, uint64_t* table_bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(out && table_bytes, "domain: null result");
        need(log_n >= 0 && log_n <= ntt::largest_log, "domain: 2^0 to 2^28 points");
        *table_bytes = ntt::DeviceTransforms::table_elements(log_n) * sizeof(Fr);
        *out = new pm_domain{context, log_n};
    });
}

void pm_domain_free(pm_domain* domain) { delete domain; }

int32_t pm_domain_fill(pm_domain* domain, pm_stream* stream, void* tables, pm_error* error)
{
    return guard(error, [&] {
        enter_domain(domain, stream, tables);
        Stage stage("domain", &stream->times, stream->stream);
        ntt::DeviceExecutor run(stream->stream);
        ntt::DeviceTransforms(domain->log_n, static_cast<const Fr*>(tables), run).fill_tables(static_cast<Fr*>(tables));
    });
}

int32_t pm_transform(pm_domain* domain, pm_stream* stream, const void* tables, int32_t reversed, void* x, pm_error* error)
{
    return guard(error, [&] {
        enter_domain(domain, stream, tables);
        need(x != nullptr, "transform: null data");
        Stage stage("transform", &stream->times, stream->stream);
        ntt::DeviceExecutor run(stream->stream);
        ntt::DeviceTransforms t(domain->log_n, static_cast<const Fr*>(tables), run);
        Fr* data = static_cast<Fr*>(x);
        if (reversed)
            t.to_reversed(ntt::Kind::plain, data, nullptr, false, nullptr, data);
        else
            t.from_reversed(data);
    });
}

int32_t pm_quotient(pm_domain* domain, pm_stream* stream, const void* tables, void* a, void* b, void* c, pm_error* error)
{
    return guard(error, [&] {
        enter_domain(domain, stream, tables);
        need(a && b && c, "quotient: null data");
        Stage stage("transforms", &stream->times, stream->stream);
        ntt::DeviceExecutor run(stream->stream);
        ntt::DeviceTransforms(domain->log_n, static_cast<const Fr*>(tables), run)
            .quotient(static_cast<Fr*>(a), static_cast<Fr*>(b), static_cast<Fr*>(c));
    });
}

int32_t pm_points_reverse(pm_stream* stream, const void* in, void* out, int32_t log_n, uint32_t first, uint32_t count, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need(log_n >= 0 && log_n <= ntt::largest_log && (uint64_t)first + count <= (uint64_t)1 << log_n, "points: beyond the domain");
        reverse_points(static_cast<const G1Affine*>(in), static_cast<G1Affine*>(out), log_n, first, count, stream->stream);
    });
}
