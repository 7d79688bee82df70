// The choices of a job that an evaluation runs: strategies x chunks x layouts x grids of zero-copy kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

struct StreamLayout {
  Layout layout = Layout::three;
  std::uint32_t streams = 4;  ///< number of streams for Layout::few
};

/// The values that a grid combines. An empty list means values that suit the job and the GPU.
struct GridOptions {
  /// Choices to run instead of a grid. The choices of the plan are not added to them.
  std::vector<Choice> choices{};
  std::vector<std::string> strategies{};  ///< strategies; empty means all for the job's memory
  /// Numbers of chunks. Empty means powers of two up to 256, or for at most 256 items the divisors of their number;
  /// fewer for strategies with `mapped` and for memory that is not pinned.
  std::vector<std::uint32_t> chunks{};
  /// Layouts of strategies with copy-engine copies from pinned memory. Emulated older GPUs get breadth-first
  /// submission.
  std::vector<StreamLayout> layouts{{Layout::three}, {Layout::few}, {Layout::per_chunk}};
  std::vector<std::uint32_t> threads{1, 2, 4, 8};  ///< host threads for each direction, of strategies that use host
                                                   ///< threads
  std::vector<std::uint64_t> max_grids{};  ///< blocks of strategies with `mapped`; 0 is the kernel's own grid; empty
                                           ///< means values from 8 on
};

/// The choices of a grid, in the order of the strategies. Choices with the same schedule occur once: n chunks on n or
/// more shared streams equal n chunks on a stream each. Numbers of chunks that the job cannot be cut into are left out.
/// Throws UsageError for an unknown strategy.
std::vector<Choice> grid_of(const Job&, const GridOptions&, unsigned sm_count);

}  // namespace shiplap
