// A ranking as text: the table by predicted time, the bound, where the time above ideal overlap goes, and the reasons.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shiplap/document/table.hpp"
#include "shiplap/plan/ranking.hpp"

namespace shiplap {

struct RankingReportOptions {
  TextStyle style;
  std::size_t most_candidates = 12;  ///< most rows of the table; a line below it counts the other candidates
  /// The plan's choice, which is marked in the table and whose distance to ideal overlap is shown. Null:
  /// `Ranking::best()`.
  const Candidate* chosen = nullptr;
  std::string arrays{};  ///< what becomes of the memory of the arrays; "": nothing
};

std::string ranking_report(const Ranking&, const RankingReportOptions& = {});

/// Where the time above ideal overlap goes, one line for each cause; "" when that is less than 0.05 % of ideal overlap.
std::string distance_report(const Distance&, Seconds ideal_overlap, const TextStyle& = {});

/// The assumptions as a list: what the profile lacks, and what was assumed instead. "" without assumptions.
std::string assumptions_report(const std::vector<std::string>& assumptions, const TextStyle& = {});

}  // namespace shiplap
