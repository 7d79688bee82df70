#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/ocean.hpp"
#include "shiplap/workload/built_in/pop_buoydiff.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_pop_buoydiff(const OceanShape& shape) {
  return [shape](const Launch& launch) {
    const std::uint64_t level = 8 * shape.points;
    const bool last = launch.first_item + launch.items == shape.levels;
    const std::uint64_t read = (launch.items + (launch.first_item > 0 ? 1 : 0)) * level;
    const std::uint64_t local = launch.items - (launch.first_item == 0 ? 1 : 0) + (last ? 1 : 0);
    require_operands(launch, "pop-buoydiff",
                     {read, read, sizeof(LevelTerms) * shape.levels, level, level, 4 * shape.points,
                      launch.items * level, local * level});
    if (launch.items == 0) return;
    const BuoydiffArrays piece{.temperature = operand<const double>(launch, 0),
                               .salinity = operand<const double>(launch, 1),
                               .terms = operand<const LevelTerms>(launch, 2),
                               .surface_temperature = operand<const double>(launch, 3),
                               .surface_salinity = operand<const double>(launch, 4),
                               .bottom = operand<const std::int32_t>(launch, 5),
                               .to_surface = operand<double>(launch, 6),
                               .local = operand<double>(launch, 7)};
    const std::uint64_t blocks = (shape.points + 2 * threads - 1) / (2 * threads);
    launch_pop_buoydiff(piece, launch.first_item, launch.items, shape.levels, shape.points,
                        grid_of(launch, launch.items * blocks), stream_of(launch));
  };
}

}  // namespace shiplap
