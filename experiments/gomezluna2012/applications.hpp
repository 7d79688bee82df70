// The three applications of the paper, and tables of their results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/gomezluna2012/runner.hpp"

namespace shiplap::experiments::gomez_luna {

/// One of the paper's three applications.
struct Application {
  std::string_view name, id, figure;
  std::span<const PublishedSize> sizes;
  std::size_t quick_sizes = 0;
  Range PublishedGpu::*gain = nullptr;
  std::vector<std::uint32_t> counts;
  std::string (*workload)(std::string_view size) = nullptr;
  /// Whether Table 2 implies the kernel times of the GTX 480 by eq 6. It does not for matrix products, whose estimate
  /// depends on the copies.
  bool kernel_implied = false;
  std::size_t exceptions = 0;  ///< number of sizes for which the paper says that its estimate is wrong
  std::string small;           ///< small workload that a virtual device runs with its bytes
};

/// Results of a size; empty if it was not run.
struct Row {
  const PublishedSize* published = nullptr;
  std::optional<Found> found;
  std::uint64_t blocks = 0;  ///< blocks of the kernel in a single launch
};

/// A figure like Figs 5 to 7, with a row for each size and number of streams.
Figure application_graph(const Application&, const std::vector<Row>&, const Runner&, Seconds sc280, Seconds sc480);
/// A table like Table 2: estimated and observed optima beside the published ones. `how` is the origin of the times.
Figure application_table(const Application&, const std::vector<Row>&, std::string_view how, Seconds sc280,
                         Seconds sc480);
/// A table of the cost of the estimates: their numbers of streams and the best of the sweep, timed again.
Figure duels_figure(const Application&, const std::vector<Duel>&, std::string_view how);

}  // namespace shiplap::experiments::gomez_luna
