// Scattered blocks: which blocks of a pool an op moves, and what moves them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shiplap/core/id.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/schedule/place.hpp"

namespace shiplap {

/// Blocks of equal size in a pool. Block k of the list starts at byte index[k] · pitch of the pool, where `index` is
/// the list of indices that the bindings give. A regular list has no indices, and its block k starts at byte k · pitch
/// (a strided copy).
struct BlockList {
  std::string name;         ///< name in messages
  Bytes block;              ///< size of a block
  Bytes pitch;              ///< distance between the starts of two neighbouring blocks of the pool; at least `block`
  std::uint64_t count = 0;  ///< number of blocks in the list
  bool regular = false;     ///< whether the list has no indices
  friend bool operator==(const BlockList&, const BlockList&) = default;
};

/// What moves the blocks of an op between host memory and a GPU.
struct Mover {
  /// The kinds of movers.
  enum class Kind : std::uint8_t {
    copies,   ///< one cudaMemcpyAsync for each block
    batch,    ///< one cudaMemcpyBatchAsync for all blocks
    strided,  ///< one cudaMemcpy2DAsync for all blocks of a regular list
    kernel,   ///< a kernel that accesses the pool in host memory (zero-copy)
  };
  Kind kind = Kind::copies;  ///< kind of the mover
  std::uint32_t grid = 0;    ///< kernel: number of thread blocks, of `mover_threads` threads each
  friend bool operator==(const Mover&, const Mover&) = default;
};
/// Threads in a thread block of Mover::Kind::kernel.
inline constexpr std::uint32_t mover_threads = 512;
/// Most indices that one launch of Mover::Kind::kernel takes. A longer list takes several launches.
inline constexpr std::uint64_t mover_launch_blocks = 8000;

/// Bytes that a thread of Mover::Kind::kernel has in flight.
inline constexpr std::uint64_t mover_thread_in_flight = 128;

/// Number of calls that move this number of blocks in one op: one for each block, or one for all.
std::uint64_t calls_of(const Mover&, std::uint64_t blocks);
/// Thread blocks of the mover's kernel that have something to move; the others end at once. The kernel moves words of
/// 16, 4 or 1 bytes, whichever block and pitch are multiples of.
std::uint32_t busy_grid(const Mover&, Bytes block, Bytes pitch, std::uint64_t blocks);

/// The number of whole blocks of `block` bytes in a pool, when neighbouring blocks start `pitch` bytes apart. The pitch
/// must not be 0.
std::uint64_t blocks_of_pool(Bytes pool, Bytes block, Bytes pitch);

/// The name of the mover, such as "batch" or "kernel of 8 blocks".
std::string to_string(const Mover&);
/// The name of the kind in parameters and files: "copies", "batch", "strided" or "kernel".
std::string_view name_of(Mover::Kind);

}  // namespace shiplap
