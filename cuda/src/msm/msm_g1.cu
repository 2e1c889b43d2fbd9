#include "msm/msm.cuh"
#include "msm/sum.cuh"

namespace pm {
template class Msm<Fp>;
template class PointSum<Fp>;
template void make_copy<Fp>(const Affine<Fp>*, Affine<Fp>*, uint32_t, int, cudaStream_t);
}  // namespace pm
