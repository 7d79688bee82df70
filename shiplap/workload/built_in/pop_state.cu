#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/ocean.hpp"
#include "shiplap/workload/built_in/pop_state.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_pop_state(const OceanShape& shape, unsigned outputs) {
  return [shape, outputs](const Launch& launch) {
    const std::uint64_t field = 8 * launch.items * shape.points;
    const std::uint64_t terms = sizeof(LevelTerms) * shape.levels;
    if (outputs == 1)
      require_operands(launch, "pop-state", {field, field, terms, field});
    else
      require_operands(launch, "pop-state", {field, field, terms, field, field, field});
    if (launch.items == 0) return;
    const std::uint64_t tiles = (shape.points + 2 * threads - 1) / (2 * threads);
    launch_pop_state(operand<const double>(launch, 0), operand<const double>(launch, 1),
                     operand<const LevelTerms>(launch, 2), operand<double>(launch, 3),
                     outputs == 1 ? nullptr : operand<double>(launch, 4),
                     outputs == 1 ? nullptr : operand<double>(launch, 5), launch.first_item, launch.items, shape.points,
                     grid_of(launch, launch.items * tiles), stream_of(launch));
  };
}

}  // namespace shiplap
