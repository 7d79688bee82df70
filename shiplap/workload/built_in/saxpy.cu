#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/saxpy.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_saxpy(float a) {
  return [a](const Launch& launch) {
    const std::uint64_t n = launch.items;
    require_operands(launch, "saxpy", {4 * n, 4 * n});
    if (n == 0) return;
    launch_saxpy(a, operand<const float>(launch, 0), operand<float>(launch, 1), n,
                 grid_of(launch, blocks_of_vectors(launch, n)), stream_of(launch));
  };
}

}  // namespace shiplap
