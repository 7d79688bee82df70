// The table of a build with CUDA.
#include "shiplap/workload/cuda_kernels.hpp"

namespace shiplap {

const CudaKernels& cuda_kernels() {
  static constexpr CudaKernels table{.arccos = cuda_arccos,
                                     .convolution = cuda_convolution,
                                     .diffusion = cuda_diffusion,
                                     .grayscale = cuda_grayscale,
                                     .histogram = cuda_histogram,
                                     .matmul = cuda_matmul,
                                     .pop_buoydiff = cuda_pop_buoydiff,
                                     .pop_state = cuda_pop_state,
                                     .saxpy = cuda_saxpy,
                                     .scalar_add = cuda_scalar_add,
                                     .spmv = cuda_spmv,
                                     .stated = cuda_stated};
  return table;
}

}  // namespace shiplap
