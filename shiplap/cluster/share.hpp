// Cuts the items of a job into consecutive ranges, one for each rank, so that the slowest rank ends soonest.
#pragma once

#include <cstddef>
#include <vector>

#include "shiplap/cluster/node_times.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The share of every rank, with the times that decided. A share is consecutive items; rank r has the items behind
/// those of rank r - 1.
struct Shares {
  std::vector<ItemRange> items;    ///< items of each rank; a rank that is not needed has a count of 0
  std::vector<Seconds> predicted;  ///< predicted time of each rank
  std::vector<NodeTimes> times{};  ///< predicted times of each rank for other numbers of items
  /// The longest predicted time.
  Seconds longest() const;
};

/// The shares with the least longest predicted time. A share ends at a block of the kernel where there are enough
/// blocks. Items with more data (see density) count for more. Among equally good cuts, ranks get what is closest to
/// equal times. `times` has one entry for each rank.
///
/// Throws UsageError for no ranks and for an invalid job, and Unsupported when the ranks cannot hold all items
/// together.
Shares share(const Job&, std::vector<NodeTimes> times);

}  // namespace shiplap
