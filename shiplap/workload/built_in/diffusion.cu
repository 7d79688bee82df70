#include <utility>

#include "shiplap/workload/built_in/diffusion.cuh"
#include "shiplap/workload/built_in/diffusion.hpp"
#include "shiplap/workload/built_in/launching.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_diffusion(const DiffusionShape& shape) {
  return [shape](const Launch& launch) {
    if (launch.items == 0) return;
    const std::uint64_t tiles = tiles_of_level(shape.nx, shape.ny);
    const std::uint64_t level = std::uint64_t{8} * shape.nx * shape.ny;
    if (shape.split_by_steps) {
      require_operands(launch, "diffusion", {shape.nz * level, shape.nz * level});
      launch_diffusion_in_place(operand<double>(launch, 0), operand<double>(launch, 1), shape.nz, shape.nx, shape.ny,
                                shape.alpha, launch.items, grid_of(launch, shape.nz * tiles), stream_of(launch));
      return;
    }
    const std::uint64_t piece = launch.items * level;
    if (shape.steps == 1)
      require_operands(launch, "diffusion", {piece, piece});
    else if (shape.steps == 2)
      require_operands(launch, "diffusion", {piece, piece, piece});
    else
      require_operands(launch, "diffusion", {piece, piece, piece, piece});
    launch_diffusion(operand<const double>(launch, 0), operand<double>(launch, 1),
                     shape.steps > 1 ? operand<double>(launch, 2) : nullptr,
                     shape.steps > 2 ? operand<double>(launch, 3) : nullptr, launch.items, shape.nx, shape.ny,
                     shape.alpha, shape.steps, grid_of(launch, launch.items * tiles), stream_of(launch));
  };
}

}  // namespace shiplap
