// The calls that move blocks between a pool in host memory and a GPU: copies, a batch, a strided copy, a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/schedule/blocks.hpp"

namespace shiplap {

/// The arrays of a cudaMemcpyBatchAsync. They have space for all blocks, so that no call allocates.
struct BatchArrays {
  explicit BatchArrays(std::uint64_t most_blocks);
  std::vector<void*> to;
  std::vector<const void*> from;
  std::vector<std::size_t> bytes;
};

/// Enqueues one copy for each block. Returns the first error.
cudaError_t move_by_copies(const Api&, const BlockMove&, cudaStream_t);
/// Enqueues all blocks in one call.
cudaError_t move_by_batch(const Api&, const BlockMove&, BatchArrays&, cudaStream_t);
/// Enqueues the blocks of a regular list as one 2D copy.
cudaError_t move_by_strided_copy(const Api&, const BlockMove&, cudaStream_t);
/// Enqueues kernels of `grid` thread blocks that access the pool in host memory. The indices are arguments of the
/// launch, so they may change as soon as the call returns. A list longer than the arguments of a launch takes several
/// launches. A block must be smaller than 1 GiB.
cudaError_t move_by_kernel(const Api&, const BlockMove&, std::uint32_t grid, cudaStream_t);

/// Enqueues the blocks by this mover. `arrays` are for a batch and have space for all blocks. `call` becomes the name
/// of the CUDA function that failed.
cudaError_t move_by(const Api&, const BlockMove&, const Mover&, BatchArrays* arrays, cudaStream_t, const char*& call);

/// Enqueues the blocks by the first of the movers that the stream accepts, as Device::move_blocks says. The arrays of a
/// batch belong to the thread and grow to the largest batch that it has enqueued, so later calls allocate nothing.
Mover move_by_first_of(const Api&, const BlockMove&, std::span<const Mover>, cudaStream_t);

}  // namespace shiplap
