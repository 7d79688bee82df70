#include "bench/endurance/gpu.hpp"

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include <string>

#include "shiplap/core/error.hpp"
#endif

namespace endurance {

#ifdef __CUDACC__
std::uint64_t used_on_gpu() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? total - free : 0;
}

void wait_for_gpu() {
  if (const cudaError_t error = cudaStreamSynchronize(nullptr); error != cudaSuccess)
    throw shiplap::Error(std::string("waiting for the GPU failed: ") + cudaGetErrorString(error));
}
#else
std::uint64_t used_on_gpu() { return 0; }
void wait_for_gpu() {}
#endif

}  // namespace endurance
