#include "shiplap/evaluate/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/requirements.hpp"

namespace shiplap {
namespace {

// Powers of two; for few items, such as levels, the divisors of their number.
std::vector<std::uint32_t> usual_chunks(const Job& job) {
  constexpr std::uint32_t most = 256;
  std::vector<std::uint32_t> counts;
  for (std::uint32_t count = 1; count <= most; ++count)
    if (job.items <= most ? job.items % count == 0 : std::has_single_bit(count)) counts.push_back(count);
  return counts;
}

// Numbers of chunks for zero-copy strategies. Each is run with every grid, so large jobs have fewer numbers, because
// preparing and verifying them takes long.
std::vector<std::uint32_t> mapped_chunks(const Job& job) {
  if (job.items <= 64) {
    std::vector<std::uint32_t> counts = usual_chunks(job);
    if (counts.size() > 3) counts.erase(counts.begin(), counts.end() - 3);
    return counts;
  }
  Bytes largest;
  for (const Array& array : job.arrays) largest = std::max(largest, size_on_host(array));
  if (largest > 512_MiB) return {32, 64};
  if (largest > 64_MiB) return {16, 32, 64};
  return {4, 16, 32, 64};
}

std::vector<std::uint64_t> grids(const Job& job, unsigned sm_count) {
  if (!job.any_grid) return {0};
  std::vector<std::uint64_t> blocks{8, 16, 24, 32, 48, 64};
  const std::uint64_t one_each = std::max(1u, sm_count);
  std::erase_if(blocks, [&](std::uint64_t count) { return count >= one_each; });
  blocks.push_back(one_each);
  blocks.push_back(0);
  return blocks;
}

// Numbers of chunks for memory that is not pinned. Host threads work best on chunks that fit into their caches, and
// managed pages move best in few chunks.
std::vector<std::uint32_t> unpinned_chunks(const Strategy& strategy) {
  return strategy.threaded ? std::vector<std::uint32_t>{16, 64, 256, 1024} : std::vector<std::uint32_t>{1, 2, 4, 8, 16};
}

}  // namespace

std::vector<Choice> grid_of(const Job& job, const GridOptions& options, unsigned sm_count) {
  if (!options.choices.empty()) return options.choices;
  for (const std::string& name : options.strategies)
    if (gives_advice(find_strategy(name)) && options.strategies.size() > 1)
      throw UsageError(fmt::format(
          "{} advises the driver on the arrays, which changes the times of other strategies: evaluate it alone", name));
  const auto wanted = [&, memory = array_memory(job)](const Strategy& strategy) {
    if (options.strategies.empty()) return strategy.memory == memory && !gives_advice(strategy);
    return std::ranges::find(options.strategies, strategy.name) != options.strategies.end();
  };
  const auto or_else = [](const auto& chosen, auto fallback) { return chosen.empty() ? fallback : chosen; };
  const auto grid_blocks = or_else(options.max_grids, grids(job, sm_count));
  const bool own_streams =
      std::ranges::find(options.layouts, Layout::per_chunk, &StreamLayout::layout) != options.layouts.end();
  std::vector<Choice> choices;
  const auto add = [&](Choice choice) {
    if (choice.chunks > job.items || std::ranges::find(choices, choice) != choices.end()) return;
    choices.push_back(std::move(choice));
  };
  for (const Strategy& strategy : strategies()) {
    if (!wanted(strategy)) continue;
    const std::string name(strategy.name);
    const std::vector<std::uint32_t> counts =
        !strategy.chunked ? std::vector<std::uint32_t>{1}
                          : or_else(options.chunks, strategy.zero_copy                       ? mapped_chunks(job)
                                                    : strategy.memory != ArrayMemory::pinned ? unpinned_chunks(strategy)
                                                                                             : usual_chunks(job));
    if (strategy.memory != ArrayMemory::pinned) {
      for (const std::uint32_t threads : strategy.threaded ? options.threads : std::vector<std::uint32_t>{0})
        for (const std::uint32_t chunks : counts) add({.strategy = name, .chunks = chunks, .threads = threads});
    } else if (strategy.zero_copy) {
      // Zero-copy kernels share the link, so one stream is enough for them.
      for (const std::uint64_t blocks : grid_blocks)
        for (const std::uint32_t chunks : counts) add({.strategy = name, .chunks = chunks, .max_grid = blocks});
    } else if (!strategy.chunked) {
      add({.strategy = name});
    } else {
      for (const StreamLayout& shape : options.layouts)
        for (const std::uint32_t chunks : counts) {
          if (shape.layout == Layout::few && chunks <= shape.streams && own_streams) continue;
          add({.strategy = name,
               .chunks = chunks,
               .layout = shape.layout,
               .streams = shape.streams,
               .order = is_emulated(shape.layout) ? IssueOrder::breadth : IssueOrder::depth});
        }
    }
  }
  return choices;
}

}  // namespace shiplap
