// The choice of the call that moves blocks, for schedules and for direct moves.
#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/block_movers.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {
namespace {

/// Whether cudaMemcpyBatchAsync accepts the stream. With CUDA 13.0 it returns cudaErrorInvalidValue for the default
/// stream and cudaErrorStreamCaptureUnsupported for a stream that is being captured.
bool accepts_batch(const Api& api, cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(api, api.stream_is_capturing(stream, &status), "cudaStreamIsCapturing", "a move of blocks");
  return status == cudaStreamCaptureStatusNone;
}

/// The arrays of this thread, with space for `blocks` blocks.
BatchArrays& arrays_of_thread(std::uint64_t blocks) {
  thread_local BatchArrays arrays(0);
  if (arrays.to.size() < blocks) arrays = BatchArrays(blocks);
  return arrays;
}

}  // namespace

cudaError_t move_by(const Api& api, const BlockMove& move, const Mover& mover, BatchArrays* arrays, cudaStream_t stream,
                    const char*& call) {
  switch (mover.kind) {
    case Mover::Kind::copies:
      call = "cudaMemcpyAsync";
      return move_by_copies(api, move, stream);
    case Mover::Kind::batch:
      call = "cudaMemcpyBatchAsync";
      return move_by_batch(api, move, *arrays, stream);
    case Mover::Kind::strided:
      call = "cudaMemcpy2DAsync";
      return move_by_strided_copy(api, move, stream);
    case Mover::Kind::kernel:
      break;
  }
  call = "cudaLaunchKernel";
  return move_by_kernel(api, move, mover.grid, stream);
}

Mover move_by_first_of(const Api& api, const BlockMove& move, std::span<const Mover> movers, cudaStream_t stream) {
  for (const Mover& mover : movers) {
    const bool is_batch = mover.kind == Mover::Kind::batch;
    if (is_batch && !accepts_batch(api, stream)) continue;
    const char* call = "";
    BatchArrays* arrays = is_batch ? &arrays_of_thread(move.count) : nullptr;
    const cudaError_t error = move_by(api, move, mover, arrays, stream, call);
    check(api, error, call, "a move of blocks");
    return mover;
  }
  throw Unsupported(
      "no mover is left for the blocks: cudaMemcpyBatchAsync is neither for a stream that is being captured nor for "
      "the "
      "default stream; give a stream of your own, or measure the other movers (shiplap measure)");
}

}  // namespace shiplap
