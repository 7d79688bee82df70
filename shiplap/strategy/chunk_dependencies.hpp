// The dependencies of the ops of a chunk. An op waits for the data that it reads, and until the memory that it
// overwrites is no longer in use.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/chunk_memory.hpp"
#include "shiplap/strategy/stream_waits.hpp"

namespace shiplap {

/// The ops added to the schedule so far for the chunks of one GPU. An id is none when there is no such op.
struct ChunkOps {
  std::vector<OpId> kernel;                 ///< by chunk
  std::vector<std::vector<OpId>> copy_in;   ///< by chunk and array: the copy to the GPU
  std::vector<std::vector<OpId>> moved;     ///< by chunk and array: the copy of halo bytes to the start of the ring
  std::vector<std::vector<OpId>> copy_out;  ///< by chunk and array: the copy to the host
  OpId last_kernel;                         ///< the kernel that was added last
  OpId last_resident;                       ///< the last copy that was added for an array that stays on the GPU
};

/// Adds exactly the dependencies that a chunk needs. The predecessors of a chunk are the earlier chunks whose memory
/// its data overwrite.
///   copy in of an `in` array     waits for the predecessors' kernels, which read the memory
///   copy in of an `inout` array  waits for the predecessors' copies out, which read the memory
///   kernel                       waits for the copies in of all its operands, and for the predecessors' copies out of
///                                `out` arrays; with a carried array, for the kernel before; with scratch, for the
///                                predecessors' kernels unless another array implies it
///   copy out                     waits for its kernel
/// No dependency implies another when chunks share no data, copies in are ordered `in` before `inout`, and copies out
/// `inout` before `out`.
class ChunkDependencies {
 public:
  /// Keeps references to the schedule, the job and the memory.
  ChunkDependencies(const Schedule&, const Job&, const ChunkMemory&, std::uint32_t chunks);

  ChunkOps ops;  ///< callers enter each op that they add to the schedule

  /// Makes `op` wait for `on` unless the order of the streams implies it.
  void wait_for(Op& op, OpId on) { waits_.add(op, on); }
  /// Makes `op` wait until the memory for the chunk's data of the array is no longer in use.
  void wait_for_memory(Op& op, std::size_t array, std::uint32_t chunk);
  /// Makes `op` wait for the copies of the array that were added for this chunk.
  void wait_for_data_of(Op& op, std::size_t array, std::uint32_t chunk);
  /// Makes `op` wait for all bytes of the array that the chunk's kernel reads.
  void wait_for_reach(Op& op, std::size_t array, std::uint32_t chunk);
  /// Makes the chunk's kernel wait until its scratch is no longer in use, unless its other operands imply it.
  void wait_for_scratch(Op& kernel, std::uint32_t chunk);
  /// Makes the chunk's kernel wait for the copies of arrays that stay on the GPU, unless an earlier kernel that it
  /// waits for did.
  void wait_for_resident(Op& kernel, std::uint32_t chunk);
  /// Moves the dependencies of `other` to `first`, the first copy of its batch.
  void move_waits(Op& other, Op& first) const { waits_.move(other, first); }

 private:
  bool has_predecessor(std::uint32_t chunk) const;
  bool is_copied(std::size_t array, std::uint32_t chunk) const;

  const Job& job_;
  const ChunkMemory& memory_;
  StreamWaits waits_;
};

}  // namespace shiplap
