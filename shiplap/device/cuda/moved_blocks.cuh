// Blocks of a pool with their addresses, as kernels and programs that stand alone use them (program_text.hpp).
#pragma once

#include <cstdint>

namespace shiplap::kernels {

/// Blocks that move between a pool in host memory and contiguous memory. Block k begins at byte index(k) * pitch of the
/// pool and at byte k * block of the contiguous memory.
struct Blocks {
  char* pool;
  char* packed;                  // contiguous memory
  const std::uint32_t* indices;  // null for blocks at equal distances
  std::uint64_t first;           // index of the first of these
  std::uint64_t count;           // number of blocks
  std::uint64_t block, pitch;    // bytes of a block, bytes from the start of a block of the pool to that of the next

  std::uint64_t index(std::uint64_t k) const { return indices != nullptr ? indices[k] : first + k; }
  char* in_pool(std::uint64_t k) const { return pool + index(k) * pitch; }
  char* in_packed(std::uint64_t k) const { return packed + k * block; }
};
enum class Way { gather, scatter };  // from the pool, to the pool

}  // namespace shiplap::kernels
