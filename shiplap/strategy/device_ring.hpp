// The positions of the chunks' data in an array's buffer on a GPU. The buffer is a ring: it is filled from start to
// end, then wraps to the start and overwrites the data of earlier chunks. Or it holds the whole array.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The ring of one array. When no chunk shares bytes with the one before, the ring has slots of equal size, which
/// chunks use cyclically. Otherwise (a halo) the fresh bytes of the chunks follow one another, and the bytes that a
/// chunk shares with the one before stay where they are. When the ring wraps, they are copied to its start.
class DeviceRing {
 public:
  /// The alignment that cudaMalloc guarantees (CUDA C++ Programming Guide, "Device Memory Accesses").
  static constexpr Bytes alignment{256};
  /// The offset of a chunk's data in its slot.
  enum class Alignment : std::uint8_t {
    /// 0, so that the address is a multiple of 256 bytes and the kernel may use wide accesses.
    own,
    /// The offset of the data in the whole array modulo 256 bytes. When the kernel accesses other arrays in host
    /// memory, all its operands then have the same alignment, as in a launch over the whole job. A slot is reused as a
    /// whole, although short data at different offsets in it may not overlap.
    in_array,
  };

  /// An earlier chunk of which some data are overwritten.
  struct Overwritten {
    std::uint32_t chunk;                 ///< the chunk whose fresh bytes the data are
    std::uint32_t last_reader;           ///< the last chunk whose kernel reads the data at this position
    std::optional<std::uint32_t> mover;  ///< the chunk for which some of the data were copied to the start of the ring
  };
  /// The positions of the data of one chunk, as offsets in the buffer.
  struct Placement {
    Bytes reach;       ///< start of the bytes that the kernel is handed
    Bytes fresh;       ///< start of the bytes that the chunk does not share with the chunk before
    Bytes moved_from;  ///< start of the shared bytes before they are copied to `reach`, the start of the ring
    Bytes moved;       ///< number of these bytes; 0 when the ring does not wrap at this chunk
    std::vector<Overwritten>
        overwritten{};                   ///< chunks that the fresh and the moved bytes overwrite, in increasing order
    std::uint32_t first_brought_by = 0;  ///< the first chunk whose fresh bytes are in the reach of this one
  };

  /// The empty ring of an array that is not in a ring.
  DeviceRing() = default;
  /// A ring for these chunks that holds any `slots` consecutive chunks.
  DeviceRing(const std::vector<ChunkReach>&, std::uint32_t slots, Alignment = Alignment::own);

  /// The chunks at their places in memory of the whole array, of which nothing is overwritten.
  static DeviceRing whole(const std::vector<ChunkReach>&, Bytes size);

  /// Size of the buffer.
  Bytes size() const { return size_; }
  const Placement& operator[](std::uint32_t chunk) const { return placements_[chunk]; }
  /// Whether a chunk shares bytes with the one before.
  bool shares() const { return shares_; }

  /// The device memory of a ring of n slots is at most n times `slot`, plus `extra`.
  struct Sizes {
    Bytes slot;
    Bytes extra;
  };
  static Sizes sizes(const std::vector<ChunkReach>&, Alignment = Alignment::own);
  /// Offset in a slot of data that start at the offset `in_array` in their array.
  static Bytes offset_in_slot(Bytes in_array, Alignment);

 private:
  /// The bytes [from, to) of the ring, which hold fresh bytes of a chunk.
  struct HeldBytes {
    std::uint32_t chunk;
    Bytes from;
    Bytes to;
    Bytes in_array;  // offset in the array of the byte at `from`
  };
  std::vector<Overwritten> before_in_slot(std::uint32_t chunk, std::uint32_t slots) const;
  std::vector<Overwritten> overwrite(const HeldBytes& by);
  Overwritten users(std::uint32_t of, Bytes end, std::uint32_t before) const;

  Bytes size_;
  bool shares_ = false;
  /// What the ring holds after the chunks placed so far, by `from`. It stays empty where the ring has slots.
  std::map<Bytes, HeldBytes> held_;
  std::vector<ChunkReach> reaches_;
  std::vector<Placement> placements_;
};

}  // namespace shiplap
