#include "msm/msm.cuh"
#include "msm/sum.cuh"

namespace pm {
template class Msm<Fp2>;
template class PointSum<Fp2>;
template void make_copy<Fp2>(const Affine<Fp2>*, Affine<Fp2>*, uint32_t, int, cudaStream_t);
}  // namespace pm
