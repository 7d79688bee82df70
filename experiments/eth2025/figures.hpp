// Sweeps as tables.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "experiments/cells.hpp"
#include "experiments/eth2025/published.hpp"
#include "experiments/eth2025/sweep.hpp"
#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

/// What a figure is called.
struct Heading {
  std::string id;
  std::string where;
  std::string title;
  std::string note;
};
/// Of times that are simulated title and note say so.
Heading heading(const Bench&, std::string id, std::string where, std::string title, std::string note = "");
/// Without columns and rows.
Figure empty_figure(const Heading&);

/// A row for each sweep: what varies, then the speed-up over one stream for each number of streams.
Figure speedups(const Heading&, const Column& of, std::span<const Sweep>, std::span<const std::uint32_t> streams);
/// A row for each sweep: one stream, the best number of them, the published one, the plan's choice, and the bound.
Figure bests(const Heading&, const Column& of, std::span<const Sweep>, std::span<const PublishedBest>);

/// The same on `first` and, where it has none, on `second`: for sweeps of which some have another number of steps.
std::vector<PublishedBest> together(std::span<const PublishedBest> first, std::span<const PublishedBest> second);

}  // namespace shiplap::experiments::eth
