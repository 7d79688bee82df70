#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/scalar_add.hpp"
#include "shiplap/workload/built_in/scalar_add_ratio.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_scalar_add(const ScalarAddShape& shape) {
  if (shape.in_per_item == 0 || shape.out_per_item == 0)
    throw Error("scalar-add needs at least one input and one output an item");
  return [shape](const Launch& launch) {
    const std::uint64_t inputs = launch.items * shape.in_per_item;
    const std::uint64_t outputs = launch.items * shape.out_per_item;
    require_operands(launch, "scalar-add", {4 * inputs, 4 * outputs});
    if (launch.items == 0) return;
    const Addition addition{shape.scalar, shape.iterations};
    const auto* in = operand<const std::uint32_t>(launch, 0);
    auto* out = operand<std::uint32_t>(launch, 1);
    cudaStream_t stream = stream_of(launch);
    if (shape.in_per_item == 1 && shape.out_per_item == 1) {
      launch_one_to_one(in, out, outputs, addition, grid_of(launch, blocks_of_vectors(launch, outputs)), stream);
    } else if (std::max(inputs, outputs) <= largest_grid) {
      scalar_add_ratio<std::uint32_t><<<grid_of(launch, (outputs + threads - 1) / threads), threads, 0, stream>>>(
          in, out, static_cast<std::uint32_t>(outputs), static_cast<std::uint32_t>(shape.in_per_item),
          static_cast<std::uint32_t>(shape.out_per_item), addition);
    } else {
      scalar_add_ratio<std::uint64_t><<<grid_of(launch, (outputs + threads - 1) / threads), threads, 0, stream>>>(
          in, out, outputs, shape.in_per_item, shape.out_per_item, addition);
    }
  };
}

}  // namespace shiplap
