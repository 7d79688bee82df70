#include "shiplap/report/plan_report.hpp"

#include <fmt/format.h>

#include "shiplap/pipeline/race.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/report/memory_report.hpp"

namespace shiplap {

std::string plan_report(const Plan& plan, RankingReportOptions options) {
  options.chosen = &plan.chosen;
  if (plan.pins)
    options.arrays = fmt::format("pageable; the plan pins them for {} run{}, which takes {} once", plan.memory->runs,
                                 plan.memory->runs == 1 ? "" : "s", to_string(plan.pinning));
  std::string out = ranking_report(plan.ranking, options);
  if (plan.memory) out += "\n" + memory_report(*plan.memory, options.style);
  if (plan.race) out += "\n" + wrap(plan.race->to_string(), options.style.width) + "\n";
  return out;
}

std::string pinning_report(const Plan& plan, const TextStyle& style) {
  return wrap(fmt::format("the arrays are pinned for {} run{}, which takes {} once; then {} is predicted to take {}",
                          plan.memory->runs, plan.memory->runs == 1 ? "" : "s", to_string(plan.pinning),
                          to_string(plan.chosen.choice), to_string(plan.chosen.predicted.value)),
              style.width) +
         "\n";
}

std::string reasons_report(const Plan& plan, const TextStyle& style) {
  std::string out;
  if (plan.pins) out += "\n" + pinning_report(plan, style);
  const std::string reason = plan.race ? plan.race->to_string() : plan.ranking.why;
  if (!reason.empty()) out += "\n" + wrap(reason, style.width) + "\n";
  return out;
}

// Plan::explain is defined here because the pipeline must not include the report.
std::string Plan::explain() const {
  const std::string simulated =
      virtual_device.empty()
          ? ""
          : wrap(fmt::format("Simulated: {} is a virtual device, and no GPU is used.", virtual_device),
                 TextStyle{}.width) +
                "\n";
  return simulated + plan_report(*this);
}

}  // namespace shiplap
