// What every rank's share took, and what the slowest rank cost the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/cluster/share.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/pipeline/run.hpp"

namespace shiplap {

/// The times of one rank. A rank without items has times of 0.
struct RankResult {
  std::string device{};    ///< id of the rank's device, as in "cuda:0"
  bool simulated = false;  ///< whether the device is virtual, so that nothing was observed
  Seconds predicted{0};    ///< predicted time of the rank's plan
  Seconds observed{0};     ///< observed time of the rank's run
};
/// The device and the times of a report.
RankResult rank_result(const Report&);

/// The observed times of all ranks of a job, with the shares that they had.
struct ShareReport {
  std::string job;                  ///< name of the job
  std::vector<ItemRange> items{};   ///< items of each rank
  std::vector<RankResult> ranks{};  ///< results by rank
  std::size_t slowest = 0;          ///< rank with the longest observed time
  Seconds mean{0};                  ///< mean of the observed times of the ranks with items
  /// Longest time of the best shares if every rank were as much slower than its prediction as it was observed to be.
  Seconds with_best_shares{0};

  /// The observed time of the slowest rank, for which all others wait.
  Seconds longest() const { return ranks.empty() ? Seconds{0} : ranks[slowest].observed; }
  /// The time that the ranks with items wait for the slowest one, on average.
  Seconds cost_of_slowest() const { return longest() - mean; }
  /// A line for each rank with its device, items, predicted and observed time, and a sentence on the slowest rank.
  std::string to_string() const;
  /// The report with its schema and version.
  Json to_json() const;
};

/// JSON Schema of the report.
Json json_schema(const ShareReport&);

/// Judges the results of all ranks, which are in the order of the shares. Throws UsageError when their numbers differ.
ShareReport share_report(const Job&, const Shares&, std::vector<RankResult>);

}  // namespace shiplap
