// Page-locked rings through which host threads bring chunks of pageable arrays to the GPU and back: the part of a
// schedule that the agents perform.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/chunked.hpp"

namespace shiplap {

/// Chunk c is the business of the (c mod T)-th of T threads each way. The one on the way in fills a place of its ring
/// and submits everything else of the chunk; the one on the way out empties a place when the copy from the GPU has
/// ended. Each thread has two places, so that it works on one while the copy engine works on the other.
class StagingRings {
 public:
  /// For the chunks of one GPU. Refers to the schedule, to which it adds the agents, and to the job.
  StagingRings(Schedule&, const Job&, const Staging&, std::uint32_t chunks);

  bool used() const { return threads_ > 0; }
  bool covers(std::size_t array) const {
    return used() && job_.arrays[array].memory == MemoryKind::pageable && !stays(job_.arrays[array].role) &&
           job_.arrays[array].role != Role::scratch;
  }
  std::uint32_t threads() const { return threads_; }
  /// Rings with places of `stride` bytes for an array.
  void add_rings(std::size_t array, Bytes stride);
  /// That submits what is of the chunk.
  AgentId agent(std::uint32_t chunk) const { return AgentId{first_agent_ + chunk % threads_}; }

  /// Has `from`, a piece of the array, brought to its place; `earlier` is the copy to the GPU that read the place last,
  /// if any. `number` is the global number of the chunk. The op has been added.
  struct Filled {
    Region place;
    OpId op;
  };
  Filled fill(std::size_t array, std::uint32_t chunk, std::uint32_t number, const Region& from, OpId earlier);
  /// Where a copy from the GPU that is to end in `to` puts the bytes, and what emptied that place last, if anything.
  struct Free {
    Region place;
    OpId emptied;
  };
  Free free_place(std::size_t array, std::uint32_t chunk, const Region& to) const;
  /// Has the place emptied into `to` when the copy has ended.
  void empty(std::size_t array, std::uint32_t chunk, std::uint32_t number, OpId copy, const Region& to);
  /// Chunk whose place chunk `chunk` takes over; only if `chunk` is at least this far on.
  std::uint32_t places() const { return 2 * threads_; }

 private:
  Region place(BufferId ring, std::size_t array, std::uint32_t chunk, Bytes length) const;

  Schedule& schedule_;
  const Job& job_;
  std::uint32_t threads_;
  std::uint32_t first_agent_;
  std::vector<Bytes> stride_;                 // by array
  std::vector<BufferId> in_ring_, out_ring_;  // by array
  std::vector<std::vector<OpId>> emptied_;    // by array and chunk
};

}  // namespace shiplap
