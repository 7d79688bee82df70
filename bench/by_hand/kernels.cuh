// The kernels of the examples, which both variants use.
#pragma once

#include <cstdint>

namespace by_hand {

constexpr float a = 2.5f;

// SAXPY of a chunk; x and y point to its first item.
__global__ inline void saxpy(std::uint64_t items, const float* x, float* y) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < items) y[i] = a * x[i] + y[i];
}

// x and y begin with the first item of the chunk.
__global__ inline void add(std::uint64_t items, const float* x, float addend, float* y) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < items) y[i] = x[i] + addend;
}

__host__ __device__ inline double density(double temperature, double salinity) {
  return 1000.0 + 0.8 * salinity - 0.2 * temperature - 0.0035 * temperature * temperature;
}
__global__ inline void densities(std::uint64_t items, const double* t, const double* s, double* rho) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < items) rho[i] = density(t[i], s[i]);
}

// Smooths the rows [first, end) of `rows`; u and out point to row 0.
__global__ inline void smooth(std::uint64_t first, std::uint64_t rows, std::uint64_t columns, const float* u,
                              float* out) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (column >= columns) return;
  const std::uint64_t row = first + blockIdx.y;
  const std::uint64_t above = row > 0 ? row - 1 : row;
  const std::uint64_t below = row + 1 < rows ? row + 1 : row;
  out[row * columns + column] =
      0.25f * u[above * columns + column] + 0.5f * u[row * columns + column] + 0.25f * u[below * columns + column];
}

// Each level less the level above it, the first one less itself. `above` points to the level above the first.
__global__ inline void differences(std::uint64_t items, const double* above, const double* here, double* out) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < items) out[i] = here[i] - above[i];
}

// A row of c for each block in y: the product of a row of a and the matrix b of `depth` rows and `width` columns.
__global__ inline void multiply(std::uint64_t depth, std::uint64_t width, const float* a, const float* b, float* c) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t row = blockIdx.y;
  if (column >= width) return;
  float sum = 0;
  for (std::uint64_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * width + column];
  c[row * width + column] = sum;
}

constexpr unsigned bins = 256;

// Counts elements by their integral part modulo `bins`.
__global__ inline void count(std::uint64_t items, const float* a, unsigned* counts) {
  __shared__ unsigned of_block[bins];
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) of_block[i] = 0;
  __syncthreads();
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < items; i += step)
    atomicAdd(&of_block[static_cast<unsigned>(a[i]) % bins], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
    if (of_block[i] > 0) atomicAdd(&counts[i], of_block[i]);
}
constexpr unsigned counting_blocks = 1056;

__device__ inline std::uint32_t mixed(std::uint32_t value) { return value * 2654435761u + 12345u; }
__global__ inline void mix(std::uint64_t items, const uint4* in, uint4* out) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i >= items) return;
  const uint4 v = in[i];
  out[i] = {mixed(v.x), mixed(v.y), mixed(v.z), mixed(v.w)};
}

// Sums each item, which is 16 elements of `in` and one of `out`.
__global__ inline void sum_of_16(std::uint64_t items, const uint4* in, std::uint32_t* out) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i >= items) return;
  std::uint32_t sum = 0;
  for (int k = 0; k < 16; ++k) {
    const uint4 v = in[16 * i + k];
    sum += v.x + v.y + v.z + v.w;
  }
  out[i] = sum;
}

inline unsigned blocks(std::uint64_t items) { return static_cast<unsigned>((items + 255) / 256); }

}  // namespace by_hand
