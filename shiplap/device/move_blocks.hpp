// The movement of blocks by a host thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Blocks that move between a pool and contiguous memory, with addresses.
struct BlockMove {
  std::byte* pool = nullptr;
  std::byte* packed = nullptr;             ///< contiguous memory
  const std::uint32_t* indices = nullptr;  ///< index of each block; null for a regular list
  std::uint64_t first = 0;                 ///< index of the first block; used by a regular list
  std::uint64_t count = 0;                 ///< number of blocks
  Bytes block;                             ///< size of a block
  Bytes pitch;                             ///< distance between the starts of two neighbouring blocks of the pool
  bool gather = true;                      ///< true: from the pool; false: to the pool

  /// The start in the pool of the block at position `k`.
  std::byte* in_pool(std::uint64_t k) const {
    return pool + (indices != nullptr ? indices[k] : first + k) * pitch.count;
  }
  /// The start in the contiguous memory of the block at position `k`.
  std::byte* in_packed(std::uint64_t k) const { return packed + k * block.count; }
};

/// The movement of an op. The schedule must be sound and the bindings must fit it.
BlockMove block_move(const Schedule&, const BlockCopy&, const Bindings&);

/// Moves the blocks by memcpy.
void move_on_host(const BlockMove&);

}  // namespace shiplap
