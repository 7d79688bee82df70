// The kernel of convolution. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/async_copy.cuh"
#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

// A block computes a tile of the output, and each of its threads 4 rows of 8 neighbouring outputs. Shared memory holds
// the filter and the part of the input that the tile needs.
constexpr unsigned tile_width = 64;
constexpr unsigned tile_height = 32;
constexpr unsigned thread_columns = 8;
constexpr unsigned thread_rows = 4;
constexpr unsigned convolution_threads = tile_width / thread_columns * (tile_height / thread_rows);

// Rows in shared memory are filled up with zeros to whole vectors of 4.
__host__ __device__ constexpr unsigned filter_pitch(unsigned filter) { return (filter + 3) / 4 * 4; }
__host__ __device__ constexpr unsigned tile_pitch(unsigned filter) { return tile_width + filter_pitch(filter); }
__host__ __device__ constexpr unsigned convolution_shared_bytes(unsigned filter) {
  return 4 * (tile_pitch(filter) * (tile_height + filter - 1) + filter_pitch(filter) * filter);
}

/// Begins to copy the input of a tile, in accesses of `width` elements. The input has `rows` rows and `columns` columns
/// from `in` on. Elements beyond them are set to 0.
template <unsigned width>
__device__ inline void begin_tile(float* tile, const float* in, std::uint64_t pitch, std::uint64_t rows,
                                  std::uint64_t columns, unsigned filter) {
  const unsigned to_pitch = tile_pitch(filter);
  const unsigned accesses = to_pitch / width;  // accesses for a row
  for (unsigned i = threadIdx.x; i < accesses * (tile_height + filter - 1); i += convolution_threads) {
    const unsigned row = i / accesses;
    const unsigned column = i % accesses * width;
    begin_copy<4 * width>(tile + row * to_pitch + column, in + row * pitch + column, row >= rows || column >= columns);
  }
}

/// Adds four products to each of the thread's outputs in a row. Only the first `taps` products count.
__device__ inline void add_taps(float (&sum)[thread_columns], const float* window, float4 weights, unsigned taps) {
  const float weight[4] = {weights.x, weights.y, weights.z, weights.w};
#pragma unroll
  for (unsigned tap = 0; tap < 4; ++tap)
    if (tap < taps)
#pragma unroll
      for (unsigned x = 0; x < thread_columns; ++x) sum[x] = fmaf(window[x + tap], weight[tap], sum[x]);
}

template <unsigned count>
__device__ inline void load_vectors(float (&to)[count], const float* from) {
#pragma unroll
  for (unsigned i = 0; i < count; i += 4) {
    const auto v = *reinterpret_cast<const float4*>(from + i);
    to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
  }
}

/// Adds the products of row `y` of the thread's input to its rows of outputs: to row r those with row y - r of the
/// filter. `known` is the filter's size if it is a compile-time constant, else 0. `all` says that every row of outputs
/// has a row of the filter.
template <unsigned known, bool all>
__device__ inline void add_input_row(float (&sum)[thread_rows][thread_columns], const float* input,
                                     const float* weights, unsigned y, unsigned size) {
  const auto has = [&](unsigned r) { return all || (y >= r && y - r < size); };
  if constexpr (known > 0) {
    constexpr unsigned pitch = filter_pitch(known);
    float window[thread_columns + pitch];
    load_vectors(window, input);
#pragma unroll
    for (unsigned r = 0; r < thread_rows; ++r)
      if (has(r))
#pragma unroll
        for (unsigned x = 0; x < pitch; x += 4)
          add_taps(sum[r], window + x, *reinterpret_cast<const float4*>(weights + (y - r) * pitch + x), known - x);
  } else {
    const unsigned pitch = filter_pitch(size);
    for (unsigned x = 0; x < pitch; x += 4) {
      float window[thread_columns + 4];
      load_vectors(window, input + x);
#pragma unroll
      for (unsigned r = 0; r < thread_rows; ++r)
        if (has(r)) add_taps(sum[r], window, *reinterpret_cast<const float4*>(weights + (y - r) * pitch + x), 4);
    }
  }
}

/// Convolves `in` with a filter of `size` x `size`. `out` has `height` rows of `width` elements, and `in` has `size` -
/// 1 rows and columns more. `known` is the size, or 0 if it is not a compile-time constant. `vectors_in` and
/// `vectors_out` say that rows of the input and of the output begin at multiples of 16 bytes.
template <unsigned known, bool vectors_in, bool vectors_out>
__global__ void __launch_bounds__(convolution_threads, 8)
    convolution(const float* __restrict__ in, const float* __restrict__ filter, float* __restrict__ out,
                std::uint64_t height, std::uint64_t width, unsigned any_size) {
  extern __shared__ __align__(16) float shared[];
  const unsigned size = known > 0 ? known : any_size;
  float* const weights = shared;
  float* const tile = shared + filter_pitch(size) * size;
  for (unsigned i = threadIdx.x; i < filter_pitch(size) * size; i += convolution_threads) {
    const unsigned row = i / filter_pitch(size);
    const unsigned column = i % filter_pitch(size);
    weights[i] = column < size ? filter[row * size + column] : 0;
  }
  const unsigned x_in_tile = threadIdx.x % (tile_width / thread_columns) * thread_columns;
  const unsigned y_in_tile = threadIdx.x / (tile_width / thread_columns) * thread_rows;
  const float* const input = tile + y_in_tile * tile_pitch(size) + x_in_tile;
  const std::uint64_t in_width = width + size - 1;
  const std::uint64_t in_height = height + size - 1;
  const std::uint64_t tiles_wide = (width + tile_width - 1) / tile_width;
  const std::uint64_t tiles = (height + tile_height - 1) / tile_height * tiles_wide;

  for (std::uint64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const std::uint64_t first_row = index / tiles_wide * tile_height;
    const std::uint64_t first_column = index % tiles_wide * tile_width;
    begin_tile<vectors_in ? 4 : 1>(tile, in + first_row * in_width + first_column, in_width, in_height - first_row,
                                   in_width - first_column, size);
    end_group_of_copies();
    await_copies_but<0>();
    __syncthreads();

    float sum[thread_rows][thread_columns] = {};
    unsigned y = 0;
    for (; y < thread_rows - 1; ++y) add_input_row<known, false>(sum, input + y * tile_pitch(size), weights, y, size);
#pragma unroll 1
    for (; y < size; ++y) add_input_row<known, true>(sum, input + y * tile_pitch(size), weights, y, size);
    for (; y < size + thread_rows - 1; ++y)
      add_input_row<known, false>(sum, input + y * tile_pitch(size), weights, y, size);
    __syncthreads();  // all threads have read the input of this tile

    const std::uint64_t x = first_column + x_in_tile;
#pragma unroll
    for (unsigned r = 0; r < thread_rows; ++r) {
      const std::uint64_t row = first_row + y_in_tile + r;
      if (row >= height) break;
      float* const to = out + row * width + x;
#pragma unroll
      for (unsigned i = 0; i < thread_columns; i += 4) {
        if constexpr (vectors_out) {
          if (x + i < width)
            *reinterpret_cast<float4*>(to + i) = make_float4(sum[r][i], sum[r][i + 1], sum[r][i + 2], sum[r][i + 3]);
        } else {
#pragma unroll
          for (unsigned l = i; l < i + 4; ++l)
            if (x + l < width) to[l] = sum[r][l];
        }
      }
    }
  }
}

template <unsigned known>
void launch_convolution_of(const float* in, const float* filter, float* out, std::uint64_t height, std::uint64_t width,
                           unsigned size, unsigned blocks, cudaStream_t stream) {
  const bool vectors_in = (width + size - 1) % 4 == 0 && allow_vectors(in, in);
  const bool vectors_out = width % 4 == 0 && allow_vectors(out, out);
  const auto kernel = vectors_in ? (vectors_out ? convolution<known, true, true> : convolution<known, true, false>)
                                 : (vectors_out ? convolution<known, false, true> : convolution<known, false, false>);
  const unsigned bytes = convolution_shared_bytes(size);
  if (bytes > 48 << 10) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<blocks, convolution_threads, bytes, stream>>>(in, filter, out, height, width, size);
}

/// Computes `height` rows of `width` outputs with a filter of `size` x `size`.
inline void launch_convolution(const float* in, const float* filter, float* out, std::uint64_t height,
                               std::uint64_t width, unsigned size, unsigned blocks, cudaStream_t stream) {
  const auto launch = size == 3    ? launch_convolution_of<3>
                      : size == 5  ? launch_convolution_of<5>
                      : size == 7  ? launch_convolution_of<7>
                      : size == 9  ? launch_convolution_of<9>
                      : size == 17 ? launch_convolution_of<17>
                                   : launch_convolution_of<0>;
  launch(in, filter, out, height, width, size, blocks, stream);
}

}  // namespace shiplap::kernels
