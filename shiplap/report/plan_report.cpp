#include "shiplap/report/plan_report.hpp"

#include <fmt/format.h>

#include "shiplap/report/memory_report.hpp"

namespace shiplap {

std::string plan_report(const Plan& plan, const RankingReportOptions& options) {
  std::string out = ranking_report(plan.ranking, options);
  if (plan.memory) out += "\n" + memory_report(*plan.memory, options.style);
  if (plan.pins || plan.race) out += reasons_report(plan, options.style);
  return out;
}

std::string reasons_report(const Plan& plan, const TextStyle& style) {
  std::string out;
  if (plan.pins)
    out += "\n" +
           wrap(fmt::format("the arrays are pinned for {} runs, which takes {} once; then {} is predicted to take {}",
                            plan.memory ? plan.memory->runs : 1, to_string(plan.pinning), to_string(plan.chosen.choice),
                            to_string(plan.chosen.predicted.value)),
                style.width) +
           "\n";
  if (plan.race)
    out += "\n" + wrap(plan.race->to_string(), style.width) + "\n";
  else if (!plan.pins && !plan.ranking.why.empty())
    out += "\n" + wrap(plan.ranking.why, style.width) + "\n";
  return out;
}

}  // namespace shiplap
