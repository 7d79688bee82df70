// The kernel that moves blocks, and its launches. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include <algorithm>

#include "shiplap/device/cuda/moved_blocks.cuh"

namespace shiplap::kernels {

/// Indices as an argument of a launch: the launch copies them, and threads read them from constant memory.
template <unsigned capacity>
struct Indices {
  std::uint32_t index[capacity];
  __device__ std::uint64_t operator()(std::uint32_t k) const { return index[k]; }
};
/// Blocks at equal distances have no indices.
template <>
struct Indices<0> {
  std::uint64_t first;
  __device__ std::uint64_t operator()(std::uint32_t k) const { return first + k; }
};
/// Sizes are in words of type T.
template <class T>
struct Shape {
  T* pool;
  T* packed;
  std::uint64_t pitch;
  std::uint32_t block;
  std::uint32_t total;  // all blocks together
};
constexpr unsigned mover_threads = 512;
constexpr int words_in_flight = 8;  // a thread has 8; with 16-byte words, 8 thread blocks fill a PCIe 5 link

/// Accesses the pool in host memory (zero-copy). Consecutive threads move consecutive words, whatever the size of a
/// block, so that accesses to the host are as large as blocks allow.
template <class T, unsigned capacity, Way way>
__global__ void __launch_bounds__(mover_threads)
    move_words(const Shape<T> shape, const __grid_constant__ Indices<capacity> indices) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  const auto in_pool = [&](std::uint64_t in_all) {
    const auto word = static_cast<std::uint32_t>(in_all);
    const std::uint32_t k = word / shape.block;
    return shape.pool + indices(k) * shape.pitch + (word - k * shape.block);
  };
  for (std::uint64_t begin = blockIdx.x * blockDim.x + threadIdx.x; begin < shape.total;
       begin += std::uint64_t{words_in_flight} * stride) {
    T words[words_in_flight];
#pragma unroll
    for (int i = 0; i < words_in_flight; ++i) {
      const std::uint64_t word = begin + std::uint64_t{stride} * i;
      if (word < shape.total) words[i] = __ldcs(way == Way::gather ? in_pool(word) : shape.packed + word);
    }
#pragma unroll
    for (int i = 0; i < words_in_flight; ++i) {
      const std::uint64_t word = begin + std::uint64_t{stride} * i;
      if (word < shape.total) __stcs(way == Way::gather ? shape.packed + word : in_pool(word), words[i]);
    }
  }
}

template <class T, unsigned capacity, Way way, class Launch>
cudaError_t launch_move(const Blocks& b, std::uint64_t begin, std::uint32_t count, const Launch& launch) {
  const auto block = static_cast<std::uint32_t>(b.block / sizeof(T));
  Shape<T> shape{reinterpret_cast<T*>(b.pool), reinterpret_cast<T*>(b.in_packed(begin)), b.pitch / sizeof(T), block,
                 block * count};
  Indices<capacity> indices;
  if constexpr (capacity == 0)
    indices.first = b.first + begin;
  else
    std::copy_n(b.indices + begin, count, indices.index);
  return launch(move_words<T, capacity, way>, shape, indices);
}

#if CUDART_VERSION >= 12010
constexpr unsigned most_indices = 8000;  // a launch has 32,764 bytes of arguments
#else
constexpr unsigned most_indices = 960;  // a launch has 4,096 bytes of arguments
#endif

/// A launch with few indices takes less host time, because the launch copies its arguments. A longer list than a launch
/// can have as an argument takes several launches.
template <class T, Way way, class Launch>
cudaError_t launch_moves(const Blocks& b, const Launch& launch) {
  constexpr unsigned few = 56, some = 960;
  constexpr std::uint64_t most_words = ~std::uint32_t{0};
  if (b.block / sizeof(T) > most_words) return cudaErrorInvalidValue;
  const std::uint64_t portion =
      std::min(most_words / (b.block / sizeof(T)), b.indices != nullptr ? std::uint64_t{most_indices} : most_words);
  for (std::uint64_t begin = 0; begin < b.count; begin += portion) {
    const auto count = static_cast<std::uint32_t>(std::min(portion, b.count - begin));
    const cudaError_t error = b.indices == nullptr ? launch_move<T, 0, way>(b, begin, count, launch)
                              : count <= few       ? launch_move<T, few, way>(b, begin, count, launch)
                              : count <= some      ? launch_move<T, some, way>(b, begin, count, launch)
                                                   : launch_move<T, most_indices, way>(b, begin, count, launch);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

/// Calls launch(kernel, shape, indices) for kernels that move the blocks in the widest words that sizes and addresses
/// allow. Returns the first error.
template <Way way, class Launch>
cudaError_t launch_in_widest_words(const Blocks& b, const Launch& launch) {
  const auto is_multiple_of = [&](std::uint64_t width) {
    return reinterpret_cast<std::uintptr_t>(b.pool) % width == 0 && b.block % width == 0 && b.pitch % width == 0 &&
           reinterpret_cast<std::uintptr_t>(b.packed) % width == 0;
  };
  if (is_multiple_of(sizeof(uint4))) return launch_moves<uint4, way>(b, launch);
  if (is_multiple_of(sizeof(unsigned))) return launch_moves<unsigned, way>(b, launch);
  return launch_moves<unsigned char, way>(b, launch);
}

}  // namespace shiplap::kernels
