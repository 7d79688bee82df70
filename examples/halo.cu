// A kernel that reads neighbouring rows: it smooths a field, which is cut into chunks of rows. The rows of a halo are
// copied once. The program itself allocates the field in pinned memory.
//   halo [DEVICE [ROWS [COLUMNS]]]
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "shiplap/shiplap.hpp"

namespace {

/// The smoothed value at a row, from the rows above and below. The first and the last row are their own neighbours.
SHIPLAP_HOST_DEVICE float smoothed(shiplap::View<const float> u, std::uint64_t rows, std::uint64_t columns,
                                   std::uint64_t row, std::uint64_t column) {
  const std::uint64_t above = row > 0 ? row - 1 : row;
  const std::uint64_t below = row + 1 < rows ? row + 1 : row;
  return 0.25f * u[above * columns + column] + 0.5f * u[row * columns + column] + 0.25f * u[below * columns + column];
}

#ifdef __CUDACC__
__global__ void smooth(shiplap::Chunk chunk, std::uint64_t rows, std::uint64_t columns, shiplap::View<const float> u,
                       shiplap::View<float> out) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t row = chunk.first + blockIdx.y;
  if (column < columns) out[row * columns + column] = smoothed(u, rows, columns, row, column);
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4096;
  const std::uint64_t columns = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 4096;
  const auto gpu = shiplap::open(device);
  shiplap::pinned_vector<float> u(*gpu, rows * columns);
  shiplap::pinned_vector<float> smoother(*gpu, rows * columns);
  for (std::uint64_t i = 0; i < u.size(); ++i) u[i] = static_cast<float>(i % 977);

  const auto node = shiplap::load_or_measure(*gpu);
  const auto job =
      shiplap::Job{rows, "halo"}
          .in("u", u, shiplap::halo(1, 1))
          .out("out", smoother)
#ifdef __CUDACC__
          .kernel([=](cudaStream_t stream, shiplap::Chunk chunk, auto u, auto out) {
            const dim3 grid(static_cast<unsigned>((columns + 255) / 256), static_cast<unsigned>(chunk.count));
            smooth<<<grid, 256, 0, stream>>>(chunk, rows, columns, u, out);
          })
#endif
          .host_kernel([=](shiplap::Chunk chunk, auto u, auto out) {
            for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
              for (std::uint64_t column = 0; column < columns; ++column)
                out[row * columns + column] = smoothed(u, rows, columns, row, column);
          });
  const auto plan = shiplap::plan(node, job);
  std::cout << plan.explain() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  const shiplap::View<const float> whole(u.data(), 0, u.size(), "u");
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t column = 0; column < columns; ++column) {
      const float expected = smoothed(whole, rows, columns, row, column);
      if (std::abs(smoother[row * columns + column] - expected) <= 1e-6f * std::abs(expected)) continue;
      std::cerr << "row " << row << ", column " << column << ": " << smoother[row * columns + column] << " instead of "
                << expected << '\n';
      return 2;
    }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
