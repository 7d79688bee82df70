// A plan for people: the ranking, the ways to prepare pageable arrays, and what was chosen.
#pragma once

#include <string>

#include "shiplap/pipeline/plan.hpp"
#include "shiplap/report/ranking_report.hpp"

namespace shiplap {

/// The ranking with the plan's choice marked (whatever `RankingReportOptions::chosen` is), the ways to prepare pageable
/// arrays, and the race.
std::string plan_report(const Plan&, RankingReportOptions = {});

/// What pinning the arrays takes and gains. The plan must pin arrays.
std::string pinning_report(const Plan&, const TextStyle& = {});

/// Why the plan's choice is what it is, without the ranking: the pinning of the arrays, and the race or the reasons of
/// the ranking.
std::string reasons_report(const Plan&, const TextStyle& = {});

}  // namespace shiplap
