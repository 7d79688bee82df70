// The kernels of diffusion. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include <algorithm>

#include "shiplap/workload/built_in/diffusion_point.cuh"
#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

constexpr unsigned tile_columns = 64;
constexpr unsigned strip_rows = 16;  // rows that a thread computes
constexpr unsigned tile_rows = threads / tile_columns * strip_rows;

__host__ __device__ inline std::uint64_t tiles_of_level(std::uint32_t nx, std::uint32_t ny) {
  return std::uint64_t{(nx + tile_columns - 1) / tile_columns} * ((ny + tile_rows - 1) / tile_rows);
}

/// Computes one time step of whole levels, which are periodic. A thread goes down a strip of one column and keeps the
/// values that the next rows need, so that each point takes five loads.
__global__ void __launch_bounds__(threads)
    diffusion_step(const double* __restrict__ in, double* __restrict__ out, std::uint64_t levels, std::uint32_t nx,
                   std::uint32_t ny, double alpha) {
  const std::uint64_t tiles = tiles_of_level(nx, ny);
  const std::uint32_t across = (nx + tile_columns - 1) / tile_columns;
  for (std::uint64_t tile = blockIdx.x; tile < levels * tiles; tile += gridDim.x) {
    const auto in_level = static_cast<std::uint32_t>(tile % tiles);
    const std::uint32_t x = in_level % across * tile_columns + threadIdx.x % tile_columns;
    const std::uint32_t first_row = in_level / across * tile_rows + threadIdx.x / tile_columns * strip_rows;
    if (x >= nx || first_row >= ny) continue;
    const double* plane = in + tile / tiles * nx * ny;
    double* result = out + tile / tiles * nx * ny;
    const std::uint32_t west = (x + 2 * nx - 1) % nx, far_west = (x + 2 * nx - 2) % nx;
    const std::uint32_t east = (x + 1) % nx, far_east = (x + 2) % nx;
    // Values of the five rows around the current one in the thread's column, and of three rows in the columns beside
    // it.
    double centre[5], beside_west[3], beside_east[3];
    const double* behind_last = plane + std::uint64_t{nx} * ny;
    const auto below = [&](const double* row) { return row + nx == behind_last ? plane : row + nx; };
    const double* row = plane + std::uint64_t{(first_row + 2 * ny - 2) % ny} * nx;
    for (int d = 0; d < 4; ++d, row = below(row)) {
      centre[d + 1] = row[x];
      if (d == 1 || d == 2) beside_west[d] = row[west], beside_east[d] = row[east];
    }
    const double* here = plane + std::uint64_t{first_row} * nx;
    const double* next = below(here);
    const std::uint32_t end = min(first_row + strip_rows, ny);
#pragma unroll 4
    for (std::uint32_t y = first_row; y < end; ++y) {
      for (int d = 0; d < 4; ++d) centre[d] = centre[d + 1];
      for (int d = 0; d < 2; ++d) beside_west[d] = beside_west[d + 1], beside_east[d] = beside_east[d + 1];
      centre[4] = row[x];
      beside_west[2] = next[west];
      beside_east[2] = next[east];
      const Neighbours n{.beside = (beside_west[1] + beside_east[1]) + (centre[1] + centre[3]),
                         .corners = (beside_west[0] + beside_east[0]) + (beside_west[2] + beside_east[2]),
                         .two_away = (here[far_west] + here[far_east]) + (centre[0] + centre[4])};
      result[std::uint64_t{y} * nx + x] = diffused(centre[2], n, alpha);
      here = next;
      next = row;
      row = below(row);
    }
  }
}

/// Computes `steps` steps of `levels` levels from `in` to `out`. Two steps or more need `a`, three or more need `b`.
inline void launch_diffusion(const double* in, double* out, double* a, double* b, std::uint64_t levels,
                             std::uint32_t nx, std::uint32_t ny, double alpha, std::uint32_t steps, unsigned blocks,
                             cudaStream_t stream) {
  const double* from = in;
  for (std::uint32_t step = 0; step < steps; ++step) {
    double* to = step + 1 == steps ? out : step % 2 == 0 ? a : b;
    diffusion_step<<<blocks, threads, 0, stream>>>(from, to, levels, nx, ny, alpha);
    from = to;
  }
}

/// Computes `steps` steps of `levels` levels in place, with `other` for the steps in between.
inline void launch_diffusion_in_place(double* field, double* other, std::uint64_t levels, std::uint32_t nx,
                                      std::uint32_t ny, double alpha, std::uint64_t steps, unsigned blocks,
                                      cudaStream_t stream) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    diffusion_step<<<blocks, threads, 0, stream>>>(field, other, levels, nx, ny, alpha);
    std::swap(field, other);
  }
  if (steps % 2 == 1)
    cudaMemcpyAsync(other, field, levels * nx * ny * sizeof(double), cudaMemcpyDeviceToDevice, stream);
}

}  // namespace shiplap::kernels
