// The kernels of ocean_step.F90 and the functions that launch them. Items are levels of the ocean.
#include <cstdint>

#include "shiplap/shiplap.h"

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::uint64_t points) { return static_cast<unsigned>((points + threads - 1) / threads); }
__device__ std::uint64_t index_of_point() { return blockIdx.x * std::uint64_t{threads} + threadIdx.x; }

// The linear equation of state of POP, in g/cm³.
__global__ void state(const double* t, const double* s, double* rho, std::uint64_t points) {
  const std::uint64_t i = index_of_point();
  if (i < points) rho[i] = 1.0259 - 2.55e-4 * (t[i] - 19.0) + 0.764 * (s[i] - 0.035);
}

// `rho` begins one level before the chunk, unless the chunk begins at the surface.
__global__ void buoydiff(const double* rho, double* difference, std::uint64_t level, std::uint64_t points,
                         bool at_surface) {
  const std::uint64_t i = index_of_point();
  if (i >= points) return;
  if (at_surface && i < level)
    difference[i] = 0;
  else
    difference[i] = 980.6 * (1 - rho[at_surface ? i - level : i] / rho[at_surface ? i : i + level]);
}

double* data(const shiplap_part& part) { return static_cast<double*>(part.data); }
cudaStream_t stream(const shiplap_chunk* chunk) { return static_cast<cudaStream_t>(chunk->stream); }

}  // namespace

extern "C" int state_on_gpu(const shiplap_chunk* chunk, void*) {
  const shiplap_part* arrays = chunk->arrays;
  state<<<blocks_for(arrays[2].count), threads, 0, stream(chunk)>>>(data(arrays[0]), data(arrays[1]), data(arrays[2]),
                                                                    arrays[2].count);
  return cudaPeekAtLastError();
}

extern "C" int buoydiff_on_gpu(const shiplap_chunk* chunk, void*) {
  const shiplap_part* arrays = chunk->arrays;
  const std::uint64_t points = arrays[1].count;
  buoydiff<<<blocks_for(points), threads, 0, stream(chunk)>>>(data(arrays[0]), data(arrays[1]), points / chunk->count,
                                                              points, chunk->first == 0);
  return cudaPeekAtLastError();
}
