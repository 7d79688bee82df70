#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/matmul.cuh"
#include "shiplap/workload/built_in/matmul.hpp"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_matmul(const MatmulShape& shape) {
  if (std::max(shape.n, shape.p) > largest_grid)
    throw Error("matmul takes at most 2^31 - 1 columns and inner elements");
  if (shape.tile != 128 && shape.tile != 64 && shape.tile != 32) throw Error("matmul has tiles of 128, 64 and 32");
  return [shape](const Launch& launch) {
    const std::uint64_t m = launch.items;
    require_operands(launch, "matmul", {4 * m * shape.p, 4 * shape.p * shape.n, 4 * m * shape.n});
    if (m == 0) return;
    const auto tiles = [&](std::uint64_t elements) { return (elements + shape.tile - 1) / shape.tile; };
    const auto launch_tiles = shape.tile == 128  ? launch_matmul<128>
                              : shape.tile == 64 ? launch_matmul<64>
                                                 : launch_matmul<32>;
    launch_tiles(operand<const float>(launch, 0), operand<const float>(launch, 1), operand<float>(launch, 2), m,
                 static_cast<std::uint32_t>(shape.n), static_cast<std::uint32_t>(shape.p),
                 grid_of(launch, tiles(m) * tiles(shape.n)), stream_of(launch));
  };
}

}  // namespace shiplap
