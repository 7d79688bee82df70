#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/scalar_add.hpp"
#include "shiplap/workload/built_in/scalar_add_ratio.cuh"
#include "shiplap/workload/built_in/scalar_add_uneven.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_scalar_add(const ScalarAddShape& shape) {
  if (shape.items == 0 || shape.inputs < shape.items || shape.outputs < shape.items)
    throw Error("scalar-add needs at least one input and one output an item");
  return [shape](const Launch& launch) {
    const auto of = [&](std::uint64_t elements) {
      if (shape.even()) return elements / shape.items * launch.items;
      const std::uint64_t end = launch.first_item + launch.items;
      return elements * end / shape.items - elements * launch.first_item / shape.items;
    };
    const std::uint64_t inputs = of(shape.inputs);
    const std::uint64_t outputs = of(shape.outputs);
    require_operands(launch, "scalar-add", {4 * inputs, 4 * outputs});
    if (launch.items == 0) return;
    const Addition addition{shape.scalar, shape.iterations};
    const auto* in = operand<const std::uint32_t>(launch, 0);
    auto* out = operand<std::uint32_t>(launch, 1);
    cudaStream_t stream = stream_of(launch);
    const std::uint64_t blocks = (outputs + threads - 1) / threads;
    if (shape.inputs == shape.items && shape.outputs == shape.items) {
      launch_one_to_one(in, out, outputs, addition, grid_of(launch, blocks_of_vectors(launch, outputs)), stream);
    } else if (!shape.even()) {
      scalar_add_uneven<<<grid_of(launch, blocks), threads, 0, stream>>>(
          in, out, {shape.inputs, shape.outputs, shape.items}, launch.first_item, launch.items, addition);
    } else if (std::max(inputs, outputs) <= largest_grid) {
      scalar_add_ratio<std::uint32_t><<<grid_of(launch, blocks), threads, 0, stream>>>(
          in, out, static_cast<std::uint32_t>(outputs), static_cast<std::uint32_t>(shape.inputs / shape.items),
          static_cast<std::uint32_t>(shape.outputs / shape.items), addition);
    } else {
      scalar_add_ratio<std::uint64_t><<<grid_of(launch, blocks), threads, 0, stream>>>(
          in, out, outputs, shape.inputs / shape.items, shape.outputs / shape.items, addition);
    }
  };
}

}  // namespace shiplap
