// A ranking for people: the table by predicted time, the bound, what lies between ideal overlap and the choice, and the
// reasons.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

struct RankingReportOptions {
  TextStyle style;
  std::size_t most_candidates = 12;  ///< rows of the ranking; the rest is counted in a line below it
  /// What the plan chose. It is marked in the table, and the distance is its own. Null: `Ranking::best()`.
  const Candidate* chosen = nullptr;
};

std::string ranking_report(const Ranking&, const RankingReportOptions& = {});

/// Where the time above ideal overlap goes, one line for each cause; "" when that is less than 0.05 % of ideal overlap.
std::string distance_report(const Distance&, Seconds ideal_overlap, const TextStyle& = {});

/// What the profile lacks and a prediction took as nothing; "" when there is nothing to say.
std::string assumptions_report(const std::vector<std::string>& assumptions, const TextStyle& = {});

}  // namespace shiplap
