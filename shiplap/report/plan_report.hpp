// A plan for people: the ranking, the ways to prepare pageable arrays, and what was chosen.
#pragma once

#include <string>

#include "shiplap/pipeline/plan.hpp"
#include "shiplap/report/ranking_report.hpp"

namespace shiplap {

/// The choice is named where it is not the first of the ranking: after a race, or where arrays are pinned for it.
std::string plan_report(const Plan&, const RankingReportOptions& = {});

/// What chose: the race, the pinning of the arrays, or the reasons of the ranking.
std::string reasons_report(const Plan&, const TextStyle& = {});

}  // namespace shiplap
