// The table of a build without CUDA. It is empty, so workloads have host functions only.
#include "shiplap/workload/cuda_kernels.hpp"

namespace shiplap {

const CudaKernels& cuda_kernels() {
  static constexpr CudaKernels none;
  return none;
}

}  // namespace shiplap
