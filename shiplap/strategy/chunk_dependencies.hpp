// What the ops of a chunk wait for: the data that they read must have arrived, and memory that they overwrite must no
// longer be in use.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/chunk_memory.hpp"
#include "shiplap/strategy/stream_waits.hpp"

namespace shiplap {

/// The ops that the chunks of one GPU have in the schedule so far; none where there is no such op.
struct ChunkOps {
  std::vector<OpId> kernel;                 ///< by chunk
  std::vector<std::vector<OpId>> copy_in;   ///< by chunk and array: the copy of its fresh bytes to the GPU
  std::vector<std::vector<OpId>> moved;     ///< by chunk and array: the copy of shared bytes to the start of the ring
  std::vector<std::vector<OpId>> copy_out;  ///< by chunk and array: the copy to the host
  OpId last_kernel;                         ///< the kernel that was added last
  OpId last_resident;                       ///< the copy to the GPU that was added last of the arrays that stay
};

/// Adds the dependencies that a chunk needs, and no other. The chunks whose data lay where a chunk comes to lie are its
/// predecessors.
///   copy in of an `in` array     waits for the predecessors' kernels, which read the memory
///   copy in of an `inout` array  waits for the predecessors' copies out, which read the memory
///   kernel                       waits for the copies in of all its operands, and for the predecessors' copies out of
///                                `out` arrays; with a carried array for the kernel before; where no array implies it,
///                                for the predecessors' kernels because of scratch
///   copy out                     waits for its kernel
/// When copies in are ordered `in` before `inout`, and copies out `inout` before `out`, none of these implies another,
/// as long as chunks share nothing.
class ChunkDependencies {
 public:
  /// Keeps references to all of them.
  ChunkDependencies(const Schedule&, const Job&, const ChunkMemory&, std::uint32_t chunks);

  ChunkOps ops;  ///< whoever adds an op of a chunk enters it here

  /// Makes `op` wait for `on` unless the order of the streams implies it.
  void wait_for(Op& op, OpId on) { waits_.add(op, on); }
  /// Makes `op` wait until the memory that the chunk's data of the array overwrite is no longer in use.
  void wait_for_memory(Op& op, std::size_t array, std::uint32_t chunk);
  /// Makes `op` wait for the bytes that this chunk brought or moved.
  void wait_for_data_of(Op& op, std::size_t array, std::uint32_t chunk);
  /// Makes `op` wait for all bytes of the array that the chunk's kernel reads.
  void wait_for_reach(Op& op, std::size_t array, std::uint32_t chunk);
  /// Makes the chunk's kernel wait until its scratch is no longer in use, unless its other operands imply it.
  void wait_for_scratch(Op& kernel, std::uint32_t chunk);
  /// Makes the chunk's kernel wait for the arrays that stay, unless an earlier kernel that it waits for did.
  void wait_for_resident(Op& kernel, std::uint32_t chunk);
  /// Makes the first of several copies that are submitted in one call wait for all that `other`, one of them, waits
  /// for.
  void wait_in_place_of(Op& first, Op& other) const { waits_.move(other, first); }

 private:
  bool has_predecessor(std::uint32_t chunk) const;
  bool is_copied(std::size_t array, std::uint32_t chunk) const;

  const Job& job_;
  const ChunkMemory& memory_;
  StreamWaits waits_;
};

}  // namespace shiplap
