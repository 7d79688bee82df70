// The kernel op of a range of items: its grid, its time, its operands, and what it moves over the link.
#pragma once

#include <cstdint>

#include "shiplap/strategy/chunk_memory.hpp"

namespace shiplap {

/// A launch over these items with at most `max_blocks` blocks (0: no limit), where at most `at_once` such launches run
/// at the same time. It has no operands yet. The schedule has one kernel.
Kernel launch_over(const Job&, ItemRange, const Limits&, std::uint64_t max_blocks = 0, std::uint64_t at_once = 1);

/// The launch over a chunk with its operands. Operands in host memory have flows over the link, and where the kernel
/// was measured on host memory, the measured times.
Kernel chunk_kernel(const Job&, ItemRange, std::uint32_t chunk, const Limits&, const ChunkMemory&,
                    std::uint64_t max_blocks, std::uint64_t at_once);

}  // namespace shiplap
