// Pinned rings through which host threads bring the chunks of pageable arrays to the GPU and back: the part of a
// schedule that the host agents perform.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/chunked.hpp"

namespace shiplap {

/// Each direction has T threads, which take the chunks in turn. A thread on the way to the GPU copies data of its chunk
/// into a ring and submits all other ops of the chunk. A thread on the way back copies data out of a ring when the copy
/// from the GPU has ended. A ring has two places for each thread, so that a thread works on one place while the copy
/// engine works on the other.
class StagingRings {
 public:
  /// The rings for the chunks of one GPU. Adds the threads to the schedule as agents. Keeps references to the schedule
  /// and to the job.
  StagingRings(Schedule&, const Job&, const Staging&, std::uint32_t chunks);

  bool used() const { return threads_ > 0; }
  /// Whether the array goes through rings when kernels do not access it in host memory.
  bool covers(std::size_t array) const {
    return used() && job_.arrays[array].memory == MemoryKind::pageable && !stays(job_.arrays[array].role) &&
           job_.arrays[array].role != Role::scratch;
  }
  /// Threads in each direction.
  std::uint32_t threads() const { return threads_; }
  /// Adds the rings of an array, with places of `stride` bytes.
  void add_rings(std::size_t array, Bytes stride);
  /// The agent that submits the ops of the chunk.
  AgentId agent(std::uint32_t chunk) const { return AgentId{first_agent_ + chunk % threads_}; }

  /// The op of the last chunk before this one that has the same place in a ring and has such an op; none if there is no
  /// such chunk. `op_of` gives the op of a chunk, none for a chunk that has no data in the array.
  OpId last_in_place(std::uint32_t chunk, const auto& op_of) const;

  /// A place in a ring, and the op that fills it.
  struct Filled {
    Region place;
    OpId op;
  };
  /// Adds the op that copies `from`, data of the array, to their place when `earlier` has ended: the copy to the GPU
  /// that read the place last, if any. `number` is the number of the chunk in the schedule.
  Filled fill(std::size_t array, std::uint32_t chunk, std::uint32_t number, const Region& from, OpId earlier);

  /// A place in a ring, and the op that emptied it last, if any.
  struct Free {
    Region place;
    OpId emptied;
  };
  /// The place for a copy from the GPU whose data belong at `to` in the array.
  Free free_place(std::size_t array, std::uint32_t chunk, const Region& to) const;
  /// Adds the op that copies the data from their place to `to` when `copy`, the copy from the GPU, has ended.
  void empty(std::size_t array, std::uint32_t chunk, std::uint32_t number, OpId copy, const Region& to);

 private:
  /// Places of a ring.
  std::uint32_t places() const { return 2 * threads_; }
  Region place(BufferId ring, std::size_t array, std::uint32_t chunk, Bytes length) const;

  Schedule& schedule_;
  const Job& job_;
  std::uint32_t threads_;
  std::uint32_t first_agent_;
  std::vector<Bytes> stride_;                 // by array
  std::vector<BufferId> in_ring_, out_ring_;  // by array
  std::vector<std::vector<OpId>> emptied_;    // by array and chunk
};

OpId StagingRings::last_in_place(std::uint32_t chunk, const auto& op_of) const {
  while (chunk >= places())
    if (const OpId op = op_of(chunk -= places()); !op.is_none()) return op;
  return {};
}

}  // namespace shiplap
