#include "msm/batch_add.cuh"

namespace pm {
template class BatchAdder<Fp2>;
}
