// The three applications of the paper, and the tables of what was found of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/gomezluna2012/runner.hpp"

namespace shiplap::experiments::gomez_luna {

/// One of the paper's three.
struct Application {
  std::string_view name, id, figure;
  std::span<const PublishedSize> sizes;
  std::size_t quick_sizes = 0;
  Range PublishedGpu::*gain = nullptr;
  std::vector<std::uint32_t> counts;
  std::string (*workload)(std::string_view size) = nullptr;
  /// The kernels of the GTX 480 follow from Table 2 by eq 6; those of matrix products do not, whose root holds copies.
  bool kernel_implied = false;
  std::size_t exceptions = 0;  ///< sizes for which the paper grants that its estimate is off
  std::string small;           ///< a workload that a virtual device runs with its bytes
};

/// What was found at a size; nothing where it was not run.
struct Row {
  const PublishedSize* published = nullptr;
  std::optional<Found> found;
  std::uint64_t blocks = 0;  ///< of the kernel in one launch
};

/// Figs 5 to 7: a row for every size and number of streams.
Figure application_graph(const Application&, const std::vector<Row>&, const Runner&, Seconds sc280, Seconds sc480);
/// Table 2: estimated and experimental optima beside the published. `how` says where the times come from.
Figure application_table(const Application&, const std::vector<Row>&, std::string_view how, Seconds sc280,
                         Seconds sc480);
/// What the estimates cost: their numbers of streams and the best of the sweep, timed again.
Figure duels_figure(const Application&, const std::vector<Duel>&, std::string_view how);

}  // namespace shiplap::experiments::gomez_luna
