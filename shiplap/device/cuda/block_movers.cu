#include <algorithm>
#include <array>

#include "shiplap/device/cuda/block_movers.hpp"

namespace shiplap {
namespace {

/// Accesses of a thread in flight. With 8 accesses of 16 bytes, 8 thread blocks of 512 threads fill a PCIe 5 link.
constexpr int unroll = 8;
static_assert(unroll * sizeof(uint4) == mover_thread_in_flight);

/// Indices as an argument of the launch: the launch copies them, and threads read them from constant memory.
template <unsigned capacity>
struct Indices {
  std::uint32_t index[capacity];
  __device__ std::uint64_t operator()(std::uint32_t k) const { return index[k]; }
};
/// A regular list.
template <>
struct Indices<0> {
  std::uint64_t first;
  __device__ std::uint64_t operator()(std::uint32_t k) const { return first + k; }
};

/// Sizes are in units of T.
template <class T>
struct Shape {
  T* pool;
  T* packed;
  std::uint64_t pitch;
  std::uint32_t block;
  std::uint32_t total;  // all blocks together
};

// Consecutive threads move consecutive words, whatever the size of a block, so that accesses to the host are as large
// as blocks allow.
template <class T, unsigned capacity, bool gather>
__global__ void __launch_bounds__(mover_threads)
    move_words(const Shape<T> shape, const __grid_constant__ Indices<capacity> indices) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  const auto in_pool = [&](std::uint32_t word) {
    const std::uint32_t k = word / shape.block;
    return shape.pool + indices(k) * shape.pitch + (word - k * shape.block);
  };
  for (std::uint64_t begin = blockIdx.x * blockDim.x + threadIdx.x; begin < shape.total;
       begin += std::uint64_t{unroll} * stride) {
    T words[unroll];
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
      const std::uint64_t word = begin + std::uint64_t{stride} * i;
      if (word < shape.total) words[i] = __ldcs(gather ? in_pool(word) : shape.packed + word);
    }
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
      const std::uint64_t word = begin + std::uint64_t{stride} * i;
      if (word < shape.total) __stcs(gather ? shape.packed + word : in_pool(word), words[i]);
    }
  }
}

#if CUDART_VERSION >= 12010
constexpr unsigned most_indices = mover_launch_blocks;  // a launch has 32,764 bytes of arguments
#else
constexpr unsigned most_indices = 960;  // a launch has 4,096 bytes of arguments
#endif

template <class T, unsigned capacity, bool gather>
cudaError_t launch(const Api& api, const BlockMove& move, std::uint64_t begin, std::uint32_t count, std::uint32_t grid,
                   cudaStream_t stream) {
  const std::uint64_t block = move.block.count / sizeof(T);
  Shape<T> shape{.pool = reinterpret_cast<T*>(move.pool),
                 .packed = reinterpret_cast<T*>(move.in_packed(begin)),
                 .pitch = move.pitch.count / sizeof(T),
                 .block = static_cast<std::uint32_t>(block),
                 .total = static_cast<std::uint32_t>(block * count)};
  Indices<capacity> indices;
  if constexpr (capacity == 0)
    indices.first = move.first + begin;
  else
    std::copy_n(move.indices + begin, count, indices.index);
  void* arguments[] = {&shape, &indices};
  return api.launch_kernel(reinterpret_cast<const void*>(&move_words<T, capacity, gather>), dim3(grid),
                           dim3(mover_threads), arguments, 0, stream);
}

// A launch with few indices takes less host time, because the launch copies its arguments.
template <class T, bool gather>
cudaError_t launch(const Api& api, const BlockMove& move, std::uint64_t begin, std::uint32_t count, std::uint32_t grid,
                   cudaStream_t stream) {
  constexpr unsigned few = 56;
  constexpr unsigned some = 960;
  if (move.indices == nullptr) return launch<T, 0, gather>(api, move, begin, count, grid, stream);
  if (count <= few) return launch<T, few, gather>(api, move, begin, count, grid, stream);
  if (count <= some) return launch<T, some, gather>(api, move, begin, count, grid, stream);
  return launch<T, most_indices, gather>(api, move, begin, count, grid, stream);
}

template <class T>
cudaError_t move_all(const Api& api, const BlockMove& move, std::uint32_t grid, cudaStream_t stream) {
  const std::uint64_t block = move.block.count / sizeof(T);
  constexpr std::uint64_t most_words = ~std::uint32_t{0};
  if (block > most_words) return cudaErrorInvalidValue;
  const std::uint64_t most_blocks =
      std::min<std::uint64_t>(most_words / block, move.indices != nullptr ? most_indices : std::uint64_t{most_words});
  for (std::uint64_t begin = 0; begin < move.count; begin += most_blocks) {
    const auto count = static_cast<std::uint32_t>(std::min(most_blocks, move.count - begin));
    const cudaError_t error = move.gather ? launch<T, true>(api, move, begin, count, grid, stream)
                                          : launch<T, false>(api, move, begin, count, grid, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

bool is_multiple_of(const BlockMove& move, std::uint64_t width) {
  const std::array<std::uint64_t, 4> all{reinterpret_cast<std::uintptr_t>(move.pool),
                                         reinterpret_cast<std::uintptr_t>(move.packed), move.block.count,
                                         move.pitch.count};
  return std::ranges::all_of(all, [&](std::uint64_t one) { return one % width == 0; });
}

}  // namespace

BatchArrays::BatchArrays(std::uint64_t most_blocks) : to(most_blocks), from(most_blocks), bytes(most_blocks) {}

cudaError_t move_by_copies(const Api& api, const BlockMove& move, cudaStream_t stream) {
  for (std::uint64_t k = 0; k < move.count; ++k) {
    const cudaError_t error =
        move.gather
            ? api.memcpy_async(move.in_packed(k), move.in_pool(k), move.block.count, cudaMemcpyHostToDevice, stream)
            : api.memcpy_async(move.in_pool(k), move.in_packed(k), move.block.count, cudaMemcpyDeviceToHost, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t move_by_batch(const Api& api, const BlockMove& move, BatchArrays& arrays, cudaStream_t stream) {
  for (std::uint64_t k = 0; k < move.count; ++k) {
    arrays.to[k] = move.gather ? move.in_packed(k) : move.in_pool(k);
    arrays.from[k] = move.gather ? move.in_pool(k) : move.in_packed(k);
    arrays.bytes[k] = move.block.count;
  }
  return api.memcpy_batch_async(arrays.to.data(), arrays.from.data(), arrays.bytes.data(), move.count, stream);
}

cudaError_t move_by_strided_copy(const Api& api, const BlockMove& move, cudaStream_t stream) {
  std::byte* const pool = move.in_pool(0);
  const std::size_t block = move.block.count;
  return move.gather ? api.memcpy_2d_async(move.packed, block, pool, move.pitch.count, block, move.count,
                                           cudaMemcpyHostToDevice, stream)
                     : api.memcpy_2d_async(pool, move.pitch.count, move.packed, block, block, move.count,
                                           cudaMemcpyDeviceToHost, stream);
}

cudaError_t move_by_kernel(const Api& api, const BlockMove& move, std::uint32_t grid, cudaStream_t stream) {
  if (is_multiple_of(move, sizeof(uint4))) return move_all<uint4>(api, move, grid, stream);
  if (is_multiple_of(move, sizeof(std::uint32_t))) return move_all<unsigned>(api, move, grid, stream);
  return move_all<unsigned char>(api, move, grid, stream);
}

}  // namespace shiplap
