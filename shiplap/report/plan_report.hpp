// A plan as text: the ranking, the ways to prepare pageable arrays, and the choice.
#pragma once

#include <string>

#include "shiplap/pipeline/plan.hpp"
#include "shiplap/report/ranking_report.hpp"

namespace shiplap {

/// The ranking with the plan's choice marked (whatever `RankingReportOptions::chosen` is), the ways to prepare pageable
/// arrays, and the race.
std::string plan_report(const Plan&, RankingReportOptions = {});

/// The time that pinning the arrays takes, and the predicted time afterwards. The plan must pin arrays.
std::string pinning_report(const Plan&, const TextStyle& = {});

/// The reasons for the plan's choice, without the table of the ranking: the pinning of the arrays, and either the race
/// or the reasons of the ranking.
std::string reasons_report(const Plan&, const TextStyle& = {});

}  // namespace shiplap
