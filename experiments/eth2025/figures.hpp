// Tables of sweeps.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "experiments/cells.hpp"
#include "experiments/eth2025/published.hpp"
#include "experiments/eth2025/sweep.hpp"
#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

/// Identification and title of a figure.
struct Heading {
  std::string id;
  std::string where;
  std::string title;
  std::string note;
};
/// Makes a heading. Title and note say when times are simulated.
Heading heading(const Bench&, std::string id, std::string where, std::string title, std::string note = "");
/// A figure without columns and rows.
Figure empty_figure(const Heading&);

/// A table with a row for each sweep: the varied quantity, then the speed-up over one stream for each number of
/// streams.
Figure speedups(const Heading&, const Column& of, std::span<const Sweep>, std::span<const std::uint32_t> streams);
/// A table with a row for each sweep: one stream, the best number of streams, the published best, the plan's choice,
/// and ideal overlap.
Figure bests(const Heading&, const Column& of, std::span<const Sweep>, std::span<const PublishedBest>);

/// Entries of `first`, and those of `second` that `first` lacks, for sweeps with different numbers of steps.
std::vector<PublishedBest> together(std::span<const PublishedBest> first, std::span<const PublishedBest> second);

}  // namespace shiplap::experiments::eth
