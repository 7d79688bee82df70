// Pinned rings through which host threads copy the chunks of pageable arrays to the GPU and back.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/chunked.hpp"

namespace shiplap {

/// Each direction has T threads, which copy a chunk in pieces between the array and a ring, each piece by the next
/// thread. A ring has two slots for each thread, so that a thread and a copy engine work on different slots at the same
/// time. Three more agents submit what the GPU
/// does: the copies to it, the kernels, and the copies from it.
class StagingRings {
 public:
  /// The rings for the chunks of one GPU. Adds the agents to the schedule. Keeps references to the schedule and to the
  /// job.
  StagingRings(Schedule&, const Job&, const Staging&, std::uint32_t chunks);

  bool used() const { return threads_ > 0; }
  /// Whether the array is copied through rings unless kernels access it in host memory.
  bool covers(std::size_t array) const {
    return used() && job_.arrays[array].memory == MemoryKind::pageable && !stays(job_.arrays[array].role) &&
           job_.arrays[array].role != Role::scratch;
  }
  /// Adds the rings of an array of which a chunk copies at most `most` bytes.
  void add_rings(std::size_t array, Bytes most);
  /// The agents that submit the copies to the GPU, the kernels, and the copies from the GPU.
  AgentId sender() const { return sender_; }
  AgentId launcher() const { return launcher_; }
  AgentId fetcher() const { return fetcher_; }

  /// The pieces in which threads copy these bytes of a chunk.
  std::vector<ByteRange> pieces(std::size_t array, const ByteRange& bytes) const;

  /// A piece in its slot of a ring, and the op that has put it there.
  struct Filled {
    Region slot;
    OpId op;
  };
  /// Adds the op that copies a piece of the array to the next slot, as soon as that is free. `sent` must follow.
  Filled fill(std::size_t array, std::uint32_t chunk, const ByteRange& piece);
  /// Says that this op copies the piece that was filled last to the GPU.
  void sent(std::size_t array, OpId copy);

  /// The next slot for a piece of `length` bytes from the GPU, and the op that emptied it last, if any.
  Filled next_slot(std::size_t array, Bytes length) const;
  /// Adds the op that copies the piece from that slot to the array after `copy`, the copy from the GPU.
  void empty(std::size_t array, std::uint32_t chunk, OpId copy, const ByteRange& piece);

 private:
  struct Ring {
    BufferId buffer;
    std::uint32_t used = 0;    ///< number of pieces that went through the ring
    std::vector<OpId> last{};  ///< by slot: the op after which the slot is free
  };
  std::uint32_t slots() const { return 2 * threads_; }
  std::uint32_t slot(const Ring& ring) const { return ring.used % slots(); }
  Region region(const Ring& ring, std::size_t array, Bytes length) const {
    return {ring.buffer, piece_[array] * slot(ring), length};
  }

  Schedule& schedule_;
  const Job& job_;
  std::uint32_t threads_;
  std::uint32_t first_in_ = 0, first_out_ = 0;  // the first thread of each direction, as an agent
  AgentId sender_, launcher_, fetcher_;
  std::vector<Bytes> piece_;    // most bytes of a piece, by array
  std::vector<Ring> in_, out_;  // by array
};

}  // namespace shiplap
