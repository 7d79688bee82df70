#include "shiplap/workload/built_in/convolution.cuh"
#include "shiplap/workload/built_in/convolution.hpp"
#include "shiplap/workload/built_in/launching.cuh"

namespace shiplap {

using namespace kernels;

static_assert(tile_width == convolution_tile_width && tile_height == convolution_tile_height &&
              convolution_threads == convolution_block_threads);

KernelFunction cuda_convolution(const ConvolutionShape& shape) {
  if (shape.filter == 0 || shape.filter > largest_filter) throw Error("convolution has filters of 1 to 64");
  return [shape](const Launch& launch) {
    const std::uint64_t height = launch.items;
    if (height == 0) return;
    const std::uint64_t halo = shape.filter - 1;
    require_operands(
        launch, "convolution",
        {4 * (height + halo) * (shape.width + halo), 4 * shape.filter * shape.filter, 4 * height * shape.width});
    const std::uint64_t tiles =
        (height + tile_height - 1) / tile_height * ((shape.width + tile_width - 1) / tile_width);
    launch_convolution(operand<const float>(launch, 0), operand<const float>(launch, 1), operand<float>(launch, 2),
                       height, shape.width, static_cast<unsigned>(shape.filter), grid_of(launch, tiles),
                       stream_of(launch));
  };
}

}  // namespace shiplap
