// Times of moving blocks that tests plant as the truth.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/blocks.hpp"

namespace shiplap {

/// The planted costs of moving `blocks` blocks of `block` bytes from or to a pinned pool. They are invented: a copy
/// costs 2.7 µs and a batched one 0.55 µs whatever it moves, and a kernel moves at a rate that grows with its grid up
/// to a limit, more slowly where blocks are smaller than 4 KiB.
BlockCost planted_block_cost(const Mover&, bool to_device, Bytes block, std::uint64_t blocks);
/// The planted time in which one host thread gathers or scatters.
Seconds planted_host_time(bool gather, Bytes block, std::uint64_t blocks);
/// What the planted movers with a grid (0: copies) take longer concurrent with a kernel.
MoveDelay planted_added(std::uint32_t grid, bool memory_bound);
/// How long they wait for SMs, in times of a thread block of that kernel.
double planted_wait(std::uint32_t grid);
/// The planted slowdowns together with `planted_added` and `planted_wait`, and with a row for copies.
BlockModel with_planted_waits(BlockModel);
/// The planted costs at blocks from 256 B to 4 MiB and counts from 1 to 16,384, and planted slowdowns.
BlockModel planted_blocks();

}  // namespace shiplap
