// Pinned rings through which host threads copy the chunks of pageable arrays to the GPU and back.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/chunked.hpp"

namespace shiplap {

/// Each direction has T threads. Thread t handles the chunks c with c mod T = t. A thread for H2D copies data of its
/// chunk into a ring and submits the other ops of the chunk. Where one thread must call the kernel function, one more
/// agent launches all kernels and submits the copies behind them. A thread for D2H copies data out of a ring when the
/// copy from the GPU has ended. A ring has two slots for each thread, so that a thread and a copy engine work on
/// different slots at the same time.
class StagingRings {
 public:
  /// The rings for the chunks of one GPU. Adds the threads to the schedule as agents. Keeps references to the schedule
  /// and to the job.
  StagingRings(Schedule&, const Job&, const Staging&, std::uint32_t chunks);

  bool used() const { return threads_ > 0; }
  /// Whether the array is copied through rings unless kernels access it in host memory.
  bool covers(std::size_t array) const {
    return used() && job_.arrays[array].memory == MemoryKind::pageable && !stays(job_.arrays[array].role) &&
           job_.arrays[array].role != Role::scratch;
  }
  /// Number of threads in each direction.
  std::uint32_t threads() const { return threads_; }
  /// Adds the rings of an array, with slots of `stride` bytes.
  void add_rings(std::size_t array, Bytes stride);
  /// The agent that submits the copies of the chunk to the GPU.
  AgentId agent(std::uint32_t chunk) const { return AgentId{first_agent_ + chunk % threads_}; }
  /// The agent that launches the kernel of the chunk and submits the copies behind it.
  AgentId launcher(std::uint32_t chunk) const {
    return job_.calls_by_one_thread ? AgentId{first_agent_ - 1} : agent(chunk);
  }

  /// The op of the last chunk before this one that used the same slot of a ring; none if there is no such chunk.
  /// `op_of` returns the op of a chunk, or none for a chunk without data in the array.
  OpId last_in_slot(std::uint32_t chunk, const auto& op_of) const;

  /// A slot of a ring, and the op that fills it.
  struct Filled {
    Region slot;
    OpId op;
  };
  /// Adds the op that copies these bytes of the array to their slot. It waits for `earlier`, the last copy to the GPU
  /// that read the slot, if any. `number` is the number of the chunk in the schedule.
  Filled fill(std::size_t array, std::uint32_t chunk, std::uint32_t number, const ByteRange& bytes, OpId earlier);

  /// A slot of a ring, and the op that emptied it last, if any.
  struct Free {
    Region slot;
    OpId emptied;
  };
  /// The slot for a copy of `length` bytes from the GPU.
  Free free_slot(std::size_t array, std::uint32_t chunk, Bytes length) const;
  /// Adds the op that copies data from their slot to these bytes of the array. It waits for `copy`, the copy from the
  /// GPU.
  void empty(std::size_t array, std::uint32_t chunk, std::uint32_t number, OpId copy, const ByteRange& bytes);

 private:
  /// Number of slots of a ring.
  std::uint32_t slots() const { return 2 * threads_; }
  Region ring_slot(BufferId ring, std::size_t array, std::uint32_t chunk, Bytes length) const;

  Schedule& schedule_;
  const Job& job_;
  std::uint32_t threads_;
  std::uint32_t first_agent_;
  std::vector<Bytes> stride_;                 // size of a slot, by array
  std::vector<BufferId> in_ring_, out_ring_;  // rings for H2D and for D2H, by array
  std::vector<std::vector<OpId>> emptied_;    // the op that empties the slot, by array and chunk
};

OpId StagingRings::last_in_slot(std::uint32_t chunk, const auto& op_of) const {
  while (chunk >= slots())
    if (const OpId op = op_of(chunk -= slots()); !op.is_none()) return op;
  return {};
}

}  // namespace shiplap
