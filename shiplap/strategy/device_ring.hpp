// Where the data of each chunk lie in an array's buffer on a GPU. The buffer is a ring: it is filled from its start to
// its end and then from its start again, over the data of earlier chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The ring of one array. When no chunk shares bytes with the one before, the ring has slots of equal size, and chunks
/// take them in turn. Otherwise (a halo) the fresh bytes of the chunks follow one another, and the bytes that a chunk
/// shares with the one before stay where they are. Only where the ring starts again they are copied to its start.
class DeviceRing {
 public:
  /// The alignment that cudaMalloc guarantees (CUDA C++ Programming Guide, "Device Memory Accesses").
  static constexpr Bytes alignment{256};
  /// Where in its slot the data of a chunk begin.
  enum class Alignment : std::uint8_t {
    /// At the start of the slot, a multiple of 256 bytes, so that the kernel may use wide accesses.
    own,
    /// At the offset from a multiple of 256 bytes that the data have in the whole array. When the kernel accesses other
    /// arrays in host memory, it so finds all its operands aligned alike, as in a launch over the whole job. Short data
    /// of two chunks may then lie in the same slot side by side; the slot is reused as a whole all the same.
    in_array,
  };

  /// An earlier chunk, some of whose data are overwritten.
  struct Overwritten {
    std::uint32_t chunk;                 ///< the chunk that brought the data
    std::uint32_t last_reader;           ///< the last chunk whose kernel reads them where they are overwritten
    std::optional<std::uint32_t> mover;  ///< the chunk for which some of them were copied to the start of the ring
  };
  /// Where the data of one chunk lie, as offsets in the buffer.
  struct Placement {
    Bytes reach;       ///< the bytes that the kernel is handed
    Bytes fresh;       ///< the bytes that the chunk does not share with the chunk before
    Bytes moved_from;  ///< the shared bytes before they are copied to the start of the ring, at `reach`
    Bytes moved;       ///< their number; 0 where the ring does not start again
    std::vector<Overwritten> overwritten{};  ///< by the fresh and the moved bytes, in the order of the ring
    std::uint32_t first_brought_by = 0;      ///< the first chunk whose fresh bytes are in the reach of this one
  };

  /// The ring of an array that has none.
  DeviceRing() = default;
  /// A ring for these chunks, with room for `slots` of them whatever their sizes.
  DeviceRing(const std::vector<ChunkReach>&, std::uint32_t slots, Alignment = Alignment::own);

  /// Size of the buffer: at most `room` for all slots.
  Bytes size() const { return size_; }
  const Placement& operator[](std::uint32_t chunk) const { return placements_[chunk]; }
  /// Whether a chunk shares bytes with the one before.
  bool shares() const { return shares_; }

  /// The device memory of a ring of n slots: n times `each_slot`, and `beyond` once.
  struct Room {
    Bytes each_slot;
    Bytes beyond;
  };
  static Room room(const std::vector<ChunkReach>&, Alignment = Alignment::own);
  /// Offset in the slot of data that begin at `in_array` in their array.
  static Bytes offset_in_slot(Bytes in_array, Alignment);

 private:
  /// Bytes [from, to) of the ring, which hold data of a chunk.
  struct Held {
    std::uint32_t chunk;
    Bytes from;
    Bytes to;
    Bytes in_array;  // the offset in the array of the byte at `from`
  };
  std::vector<Overwritten> before_in_slot(std::uint32_t chunk, std::uint32_t slots) const;
  std::vector<Overwritten> overwrite(const Held& by);
  Overwritten users(std::uint32_t of, Bytes end, std::uint32_t before) const;

  Bytes size_;
  bool shares_ = false;
  std::vector<Held> held_;  // what the ring holds after the chunks placed so far; unused where it has slots
  std::vector<ChunkReach> pieces_;
  std::vector<Placement> placements_;
};

}  // namespace shiplap
