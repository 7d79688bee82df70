// The memory of the chunks of one GPU: the job's arrays on the host, and buffers on the GPU that later chunks reuse.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/device_ring.hpp"
#include "shiplap/strategy/gpu_chunks.hpp"
#include "shiplap/strategy/staging.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {

/// The memory of the chunks of one GPU.
class ChunkMemory {
 public:
  /// Adds a buffer on the GPU for every array that kernels do not access in place, and staging rings for pageable
  /// arrays. An array that stays on the GPU has a buffer of its own size. An array that is cut has a ring with
  /// `slots()` slots. Keeps references to the job and to `staging`. Throws Error with the numbers when the device
  /// memory does not suffice, and UsageError when the reach of an array is invalid (see `chunk_reaches`).
  ChunkMemory(Schedule&, const Job&, const Choice&, const Limits&, const ZeroCopyArrays&, StagingRings& staging,
              const GpuChunks&);

  /// Number of chunks that have their data on the GPU at the same time.
  std::uint32_t slots() const { return slots_; }
  /// Whether adjacent chunks share bytes of an array (a halo). Shared bytes stay on the GPU.
  bool shares() const { return shares_; }
  /// Whether kernels access the array in host memory.
  bool is_zero_copy(std::size_t array) const { return zero_copy_.covers(job_.arrays[array]); }
  /// Whether kernels access the caller's memory: in host memory, or an array that is on the GPU already.
  bool is_in_place(std::size_t array) const { return is_zero_copy(array) || is_on_gpu(job_.arrays[array]); }
  /// Whether the array is cut into chunks, which are in a ring on the GPU.
  bool is_in_ring(std::size_t array) const { return !is_in_place(array) && !stays(job_.arrays[array].role); }
  /// Whether host threads copy the array through pinned rings.
  bool is_staged(std::size_t array) const { return staging_.covers(array) && !is_in_place(array); }
  /// The array that stays on the GPU and holds the first elements of this array, if any (see Array::prefix_of).
  std::optional<std::size_t> prefix(std::size_t array) const;

  /// The bytes of the array that the chunk does not share with the chunk before, as offsets in the array.
  const ByteRange& fresh(std::size_t array, std::uint32_t chunk) const { return reaches_[array][chunk].fresh; }
  /// The bytes of an output that are copied back.
  const ByteRange& returned(std::size_t array, std::uint32_t chunk) const { return reaches_[array][chunk].returned; }
  /// The offsets of the chunk's data in the ring of the array.
  const DeviceRing::Placement& placement(std::size_t array, std::uint32_t chunk) const { return rings_[array][chunk]; }

  BufferId on_gpu(std::size_t array) const { return on_gpu_[array]; }
  /// The region of the caller's memory.
  static Region of_caller(std::size_t array, const ByteRange& bytes) {
    return {BufferId{static_cast<std::uint32_t>(array)}, bytes.offset, bytes.length};
  }
  /// The region on the GPU for the fresh bytes of the chunk.
  Region fresh_on_gpu(std::size_t array, std::uint32_t chunk) const {
    return {on_gpu_[array], placement(array, chunk).fresh, fresh(array, chunk).length};
  }
  /// The region on the GPU of the bytes that are copied back.
  Region returned_on_gpu(std::size_t array, std::uint32_t chunk) const {
    const ByteRange& bytes = returned(array, chunk);
    return {on_gpu_[array], placement(array, chunk).reach + (bytes.offset - reaches_[array][chunk].reach.offset),
            bytes.length};
  }
  /// The array as an operand of the chunk's kernel.
  Access operand(std::size_t array, std::uint32_t chunk) const;

 private:
  DeviceRing::Alignment alignment() const;
  void choose_slots(const Choice&, const Limits&, std::uint32_t chunks);

  const Job& job_;
  const StagingRings& staging_;
  ZeroCopyArrays zero_copy_;
  std::uint32_t slots_ = 1;
  bool shares_ = false;
  std::vector<std::vector<ChunkReach>> reaches_;  // by array and chunk; empty for arrays that stay on the GPU
  std::vector<DeviceRing> rings_;                 // by array
  std::vector<BufferId> on_gpu_;                  // by array; none for arrays that kernels access in place
};

}  // namespace shiplap
