// Multi-scalar multiplications and sums of points of the ABI.
#include <memory>

#include "api/handles.h"
#include "msm/msm.h"

using namespace pm;

struct pm_msm {
    pm_context* context;
    std::unique_ptr<Msm<Fp>> g1;
    std::unique_ptr<Msm<Fp2>> g2;
};

struct pm_sum {
    pm_context* context;
    std::unique_ptr<PointSum<Fp>> g1;
    std::unique_ptr<PointSum<Fp2>> g2;
};

namespace {

template <class F>
std::unique_ptr<Msm<F>> plan(const pm_context* context, const pm_msm_config& c, uint64_t* scratch_bytes)
{
    const Bases<F> bases = {static_cast<const Affine<F>*>(c.bases), c.base_count, c.copies, c.window_bits};
    auto msm = std::make_unique<Msm<F>>(bases, c.max_scalars, c.window_bits, c.budget_bytes, context->multiprocessors);
    *scratch_bytes = msm->scratch_bytes();
    return msm;
}

bool aligned(const void* scratch) { return scratch && reinterpret_cast<uintptr_t>(scratch) % Scratch::alignment == 0; }

}  // namespace

int32_t pm_msm_copy_shift(int32_t window_bits, int32_t copies)
{
    if (window_bits < 2 || window_bits > 26 || copies < 1) return 0;
    return Windows::of(window_bits, copies).copy_shift();
}

int32_t pm_msm_create(pm_context* context, const pm_msm_config* config, pm_msm** out, uint64_t* scratch_bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(config && out && scratch_bytes, "msm: null argument");
        need(config->struct_size >= sizeof *config, "msm: struct_size too small");
        need(config->group == PM_G1 || config->group == PM_G2, "msm: unknown group");
        need(config->bases || config->base_count == 0, "msm: null bases");
        need(config->copies <= 1 || config->window_bits != 0, "msm: copies need their window bits");
        auto msm = std::make_unique<pm_msm>();
        msm->context = context;
        if (config->group == PM_G1)
            msm->g1 = plan<Fp>(context, *config, scratch_bytes);
        else
            msm->g2 = plan<Fp2>(context, *config, scratch_bytes);
        *out = msm.release();
    });
}

void pm_msm_free(pm_msm* msm) { delete msm; }

int32_t pm_msm_run(pm_msm* msm, pm_stream* stream, const void* scalars, const uint32_t* indices, uint32_t count, int32_t montgomery,
                   void* scratch, void* result, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need(msm && result && (scalars || count == 0), "msm: null argument");
        need(aligned(scratch), "msm: scratch is null or not divisible by 256");
        const MsmInput input = {static_cast<const Fr*>(scalars), indices, count, montgomery != 0};
        if (msm->g1)
            *static_cast<G1Affine*>(result) = msm->g1->run(input, scratch, &stream->times, stream->lanes);
        else
            *static_cast<G2Affine*>(result) = msm->g2->run(input, scratch, &stream->times, stream->lanes);
    });
}

int32_t pm_bases_multiply(pm_stream* stream, int32_t group, const void* in, void* out, uint32_t count, int32_t shift, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need((in && out) || count == 0, "bases: null argument");
        need(group == PM_G1 || group == PM_G2, "bases: unknown group");
        need(shift >= 0, "bases: negative shift");
        Stage stage("bases.multiply", &stream->times, stream->stream);
        if (group == PM_G1)
            make_copy(static_cast<const G1Affine*>(in), static_cast<G1Affine*>(out), count, shift, stream->stream);
        else
            make_copy(static_cast<const G2Affine*>(in), static_cast<G2Affine*>(out), count, shift, stream->stream);
    });
}

int32_t pm_sum_create(pm_context* context, int32_t group, uint32_t max_count, pm_sum** out, uint64_t* scratch_bytes, pm_error* error)
{
    return guard(error, [&] {
        enter(context);
        need(out && scratch_bytes, "sum: null argument");
        need(group == PM_G1 || group == PM_G2, "sum: unknown group");
        auto sum = std::make_unique<pm_sum>();
        sum->context = context;
        if (group == PM_G1) {
            sum->g1 = std::make_unique<PointSum<Fp>>(max_count, context->multiprocessors);
            *scratch_bytes = sum->g1->scratch_bytes();
        } else {
            sum->g2 = std::make_unique<PointSum<Fp2>>(max_count, context->multiprocessors);
            *scratch_bytes = sum->g2->scratch_bytes();
        }
        *out = sum.release();
    });
}

void pm_sum_free(pm_sum* sum) { delete sum; }

int32_t pm_sum_run(pm_sum* sum, pm_stream* stream, const void* points, const uint32_t* bits, uint32_t count, void* scratch, void* result, pm_error* error)
{
    return guard(error, [&] {
        enter(stream);
        need(sum && result && ((points && bits) || count == 0), "sum: null argument");
        need(aligned(scratch), "sum: scratch is null or not divisible by 256");
        if (sum->g1)
            *static_cast<G1Affine*>(result) = sum->g1->sum_bits(static_cast<const G1Affine*>(points), bits, count, scratch, &stream->times, stream->lanes);
        else
            *static_cast<G2Affine*>(result) = sum->g2->sum_bits(static_cast<const G2Affine*>(points), bits, count, scratch, &stream->times, stream->lanes);
    });
}
