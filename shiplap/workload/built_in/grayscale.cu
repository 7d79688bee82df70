#include "shiplap/workload/built_in/grayscale.cuh"
#include "shiplap/workload/built_in/grayscale.hpp"
#include "shiplap/workload/built_in/launching.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_grayscale(const GrayscaleShape& shape) {
  return [shape](const Launch& launch) {
    const std::uint64_t pixels = launch.items * shape.pixels;
    if (shape.keeps_gray)
      require_operands(launch, "grayscale", {3 * pixels, launch.items * 1024, pixels});
    else
      require_operands(launch, "grayscale", {3 * pixels, launch.items * 1024});
    if (launch.items == 0) return;
    launch_grayscale(operand<const std::uint8_t>(launch, 0), operand<std::uint32_t>(launch, 1),
                     shape.keeps_gray ? operand<std::uint8_t>(launch, 2) : nullptr, launch.items, shape.pixels,
                     grid_of(launch, launch.items), stream_of(launch));
  };
}

}  // namespace shiplap
