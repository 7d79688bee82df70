// The launches of a job's kernel: how many, with how many blocks, and how long each takes.
#pragma once

#include <cstdint>

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Number of launches in which the kernel is submitted for `items` items, at least 1.
std::uint64_t launches_of(const Job&, std::uint64_t items);
/// Number of blocks of the kernel's own grid over `items` items.
std::uint64_t blocks_of(const Job&, std::uint64_t items);
/// Number of blocks of the kernel that run on the GPU at the same time (a wave), from the occupancy API where it is
/// known and from the threads that the GPU holds otherwise.
std::uint64_t wave_of(const Job&, std::uint64_t resident_threads);
/// The most items that `blocks` blocks can work on; at least those of one block.
std::uint64_t items_of(const Job&, std::uint64_t blocks);

/// Time of a launch over `items` items when only `blocks` blocks run at the same time and each has an SM to itself. It
/// comes from `KernelCost::limited`: with one entry the time is proportional to the rounds of all blocks, with two it
/// follows the line through them. 0 when it is unknown.
Seconds time_of_threads(const Job&, std::uint64_t items, std::uint64_t blocks);

/// Time of a launch over `items` items with at most `blocks` blocks (0: no limit). It is never less than without the
/// limit. At most `at_once` such launches run at the same time and share the cache.
Seconds kernel_time(const Job&, std::uint64_t items, std::uint64_t blocks, std::uint64_t at_once = 1);

/// The grid of a launch, and how much of the GPU it uses. The part of the GPU's throughput that a launch leaves to
/// others follows from the cost, not from the threads: a memory-bound kernel may use all of the bandwidth with half of
/// the threads.
struct LaunchGrid {
  std::uint64_t blocks = 1;            ///< blocks of the launch
  std::uint64_t resident_blocks = 1;   ///< `Kernel::resident_blocks`
  std::uint64_t full_rate_blocks = 1;  ///< `Kernel::full_rate_blocks`
};
/// The grid of a launch over `items` items, of which at most `at_once` run at the same time. `resident_threads` is the
/// number of threads that the GPU holds at once; 0: every launch fills the GPU.
LaunchGrid launch_grid(const Job&, std::uint64_t items, std::uint64_t resident_threads, std::uint64_t at_once);

}  // namespace shiplap
