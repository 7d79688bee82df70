// Where the pieces of an array lie in its buffer on a GPU: a ring that is filled from front to back and begun again.
// What a chunk shares with the one before (a halo) stays where it is; only at the seam it is copied to the front.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shiplap/workload/job.hpp"

namespace shiplap {

class DeviceRing {
 public:
  static constexpr Bytes alignment{256};  ///< of cudaMalloc
  /// Where a piece that shares nothing with others begins.
  enum class Alignment : std::uint8_t {
    own,       ///< at a multiple of 256 bytes, so that the kernel may use wide accesses
    in_array,  ///< at the same offset modulo 256 bytes as in the array. A kernel that has other arrays of the chunk in
               ///< host memory then finds all of them aligned alike, as in a launch over the whole job.
  };

  /// A chunk whose bytes lay where others come to lie.
  struct Overwritten {
    std::uint32_t chunk;
    std::uint32_t last_reader;           ///< the last chunk whose kernel is handed any of these there
    std::optional<std::uint32_t> mover;  ///< the chunk for which some of them were copied to the front
  };
  /// Of one chunk, as offsets in the buffer.
  struct Placement {
    Bytes reach;       ///< what the kernel is handed
    Bytes fresh;       ///< what the chunk brings
    Bytes moved_from;  ///< what is copied to the front before: brought earlier, and needed by this chunk
    Bytes moved;       ///< its length; 0: nothing
    std::vector<Overwritten> overwritten{};  ///< by what this chunk puts into the ring, in order
    /// The first chunk that brought a part of the reach.
    std::uint32_t first_brought_by = 0;
  };

  /// Without pieces: of an array that has no ring.
  DeviceRing() = default;
  /// Room for `slots` chunks of the largest size. Pieces that share data follow one another.
  DeviceRing(const std::vector<Piece>&, std::uint32_t slots, Alignment = Alignment::own);

  /// Bytes of the buffer: `each_slot` for every slot, and `beyond`, at most.
  Bytes size() const { return size_; }
  const Placement& operator[](std::uint32_t chunk) const { return placements_[chunk]; }
  /// Whether chunks share anything.
  bool shares() const { return shares_; }

  struct Room {
    Bytes each_slot;
    Bytes beyond;
  };
  /// Offset in its slot of a piece that begins at `in_array` in its array.
  static Bytes offset_in_slot(Bytes in_array, Alignment);
  static Room room(const std::vector<Piece>&, Alignment = Alignment::own);

 private:
  /// Bytes in the ring and whose they are.
  struct Held {
    std::uint32_t chunk;
    Bytes from;
    Bytes to;
    Bytes in_array;  // where `from` is there
  };
  std::vector<Overwritten> before_in_slot(std::uint32_t chunk, std::uint32_t slots) const;
  std::vector<Overwritten> overwrite(const Held& by);
  Overwritten users(std::uint32_t of, Bytes end, std::uint32_t before) const;

  Bytes size_;
  bool shares_ = false;
  std::vector<Held> held_;
  std::vector<Piece> pieces_;
  std::vector<Placement> placements_;
};

}  // namespace shiplap
