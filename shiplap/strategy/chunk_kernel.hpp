// The kernel op of a range of items: its grid, its time, its operands and its flows over the link.
#pragma once

#include <cstdint>
#include <functional>

#include "shiplap/strategy/chunk_memory.hpp"

namespace shiplap {

/// The bytes in flight on the link when a kernel of this number of blocks accesses host memory, and every resident
/// thread has one access in flight.
Bytes bytes_in_flight(const Job&, std::uint64_t blocks, const Limits&);

/// A launch over these items without operands and times, in at most `max_blocks` blocks (0: no limit). At most
/// `at_once` such launches run at the same time.
Kernel untimed_launch(const Job&, ItemRange, const Limits&, std::uint64_t max_blocks = 0, std::uint64_t at_once = 1);
/// A launch over these items with at most `max_blocks` blocks (0: no limit) and without operands. At most `at_once`
/// such launches run at the same time.
Kernel launch_over(const Job&, ItemRange, const Limits&, std::uint64_t max_blocks = 0, std::uint64_t at_once = 1);

/// Adds to a launch over these items that has the job's arrays as operands, in their order, the flows of those that it
/// accesses over the link, and the measured times when the kernel was measured with them.
void add_flows(const Job&, Kernel&, ItemRange, const Limits&, std::uint64_t max_blocks,
               const std::function<bool(std::size_t array)>& over_link);

/// The launch over a chunk with its operands. Operands in host memory add flows over the link, and the measured times
/// when the kernel was measured with them.
Kernel chunk_kernel(const Job&, ItemRange, std::uint32_t chunk, const Limits&, const ChunkMemory&,
                    std::uint64_t max_blocks, std::uint64_t at_once);

}  // namespace shiplap
