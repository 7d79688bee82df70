#include "shiplap/workload/built_in/arccos.cuh"
#include "shiplap/workload/built_in/arccos.hpp"
#include "shiplap/workload/built_in/launching.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_arccos(const ArccosShape& shape) {
  return [shape](const Launch& launch) {
    const std::uint64_t n = launch.items;
    require_operands(launch, "arccos", {4 * n, 4 * n});
    if (n == 0) return;
    launch_arccos(operand<const float>(launch, 0), operand<float>(launch, 1), n, shape.calls, shape.promoted,
                  grid_of(launch, blocks_of_vectors(launch, n)), stream_of(launch));
  };
}

}  // namespace shiplap
