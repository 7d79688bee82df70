#include "shiplap/device/cuda/block_movers.hpp"
#include "shiplap/device/cuda/move_words.cuh"

namespace shiplap {

static_assert(kernels::mover_threads == mover_threads);
static_assert(kernels::words_in_flight * sizeof(uint4) == mover_thread_in_flight);
#if CUDART_VERSION >= 12010
static_assert(kernels::most_indices == mover_launch_blocks);
#endif

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
  const kernels::Blocks blocks{.pool = reinterpret_cast<char*>(move.pool),
                               .packed = reinterpret_cast<char*>(move.packed),
                               .indices = move.indices,
                               .first = move.first,
                               .count = move.count,
                               .block = move.block.count,
                               .pitch = move.pitch.count};
  const auto launch = [&](auto kernel, auto& shape, auto& indices) {
    void* arguments[] = {&shape, &indices};
    return api.launch_kernel(reinterpret_cast<const void*>(kernel), dim3(grid), dim3(mover_threads), arguments, 0,
                             stream);
  };
  return move.gather ? kernels::launch_in_widest_words<kernels::Way::gather>(blocks, launch)
                     : kernels::launch_in_widest_words<kernels::Way::scatter>(blocks, launch);
}

}  // namespace shiplap
