// Which choices an evaluation runs of a job: strategies x chunks x layouts x grids of the kernels that access host
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

struct StreamLayout {
  Layout layout = Layout::three;
  std::uint32_t streams = 4;  ///< for Layout::few
};

/// What a grid is made of; an empty list leaves it to the job and the GPU.
struct GridOptions {
  /// Instead of a grid: these, as they are, and nothing of what the plan would take beside them.
  std::vector<Choice> choices{};
  std::vector<std::string> strategies{};  ///< empty: all that are for the job's memory
  /// Empty: powers of two up to 256, of no more than 256 items all that divide them; fewer of strategies with `mapped`
  /// and of memory that is not pinned.
  std::vector<std::uint32_t> chunks{};
  /// For copies by copy engines out of pinned memory. Emulated older GPUs are submitted to breadth-first.
  std::vector<StreamLayout> layouts{{Layout::three}, {Layout::few}, {Layout::per_chunk}};
  std::vector<std::uint32_t> threads{1, 2, 4, 8};  ///< each way, of strategies in which host threads take part
  std::vector<std::uint64_t> blocks{};  ///< of strategies with `mapped`; 0 is the kernel's own grid; empty: from 8 on
};

/// Every choice once, in the order in which strategies are listed. Choices that give the same schedule are one: chunks
/// on no fewer shared streams are those on a stream each. Numbers of chunks that the job cannot be cut into are left
/// out. Throws UsageError for an unknown strategy.
std::vector<Choice> grid_of(const Job&, const GridOptions&, unsigned sm_count);

}  // namespace shiplap
