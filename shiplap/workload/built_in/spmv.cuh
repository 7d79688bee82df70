// The kernel of spmv. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

/// Computes y = A·x over `rows` rows, each with `row_threads` threads of a warp. `columns` and `values` begin with the
/// first nonzero of the first of these rows.
template <unsigned row_threads>
__global__ void __launch_bounds__(threads, 6)
    spmv(const std::uint64_t* __restrict__ offsets, const std::int32_t* __restrict__ columns,
         const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, std::uint64_t rows) {
  constexpr unsigned at_once = 4;  // independent loads of a thread
  constexpr unsigned rows_of_warp = 32 / row_threads;
  const unsigned place = threadIdx.x % row_threads;
  const std::uint64_t origin = offsets[0];
  // All threads of a warp have the same number of iterations, because they exchange their sums.
  for (std::uint64_t first = first_index() / 32 * rows_of_warp; first < rows; first += stride() / 32 * rows_of_warp) {
    const std::uint64_t row = first + threadIdx.x % 32 / row_threads;
    const std::uint64_t begin = row < rows ? offsets[row] : origin;
    const auto length = static_cast<unsigned>((row < rows ? offsets[row + 1] : origin) - begin);
    const std::int32_t* row_columns = columns + (begin - origin);
    const float* row_values = values + (begin - origin);
    float sum = 0;
    // The loop is not unrolled further, and beyond the end of the row it loads the last element again instead of
    // branching. Otherwise some loads would wait for others.
#pragma unroll 1
    for (unsigned at = place; at < length; at += at_once * row_threads) {
      const std::int32_t* columns_here = row_columns + at;
      const float* values_here = row_values + at;
      const unsigned last = length - 1 - at;
      float value[at_once];
      std::int32_t column[at_once];
      // Columns and values are read once, so they should not displace x from the cache.
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) value[i] = __ldcs(values_here + min(i * row_threads, last));
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) column[i] = __ldcs(columns_here + min(i * row_threads, last));
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) {
        const float factor = __ldg(x + column[i]);
        if (i * row_threads <= last) sum = fmaf(value[i], factor, sum);
      }
    }
#pragma unroll
    for (unsigned other = row_threads / 2; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
    if (place == 0 && row < rows) y[row] = sum;
  }
}

template <unsigned row_threads>
void launch_spmv(const std::uint64_t* offsets, const std::int32_t* columns, const float* values, const float* x,
                 float* y, std::uint64_t rows, unsigned blocks, cudaStream_t stream) {
  spmv<row_threads><<<blocks, threads, 0, stream>>>(offsets, columns, values, x, y, rows);
}

}  // namespace shiplap::kernels
