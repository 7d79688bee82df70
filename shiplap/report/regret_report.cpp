#include "shiplap/report/regret_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

std::vector<Column> columns() {
  return {{"job"},  {"best of the sweep"},   {"time", Align::right}, {"plan"}, {"beyond", Align::right},
          {"race"}, {"beyond", Align::right}};
}
void add_job(Table& table, const JobRegret& job) {
  if (!job.not_run.empty()) {
    table.add({job.name, job.not_run});
    return;
  }
  const auto choice = [&](const SweptChoice& one) {
    return one.choice == job.best.choice ? std::string("the same") : to_string(one.choice);
  };
  table.add({job.name, to_string(job.best.choice), to_string(job.best.observed), choice(job.planned),
             signed_percent(job.plan_regret()), choice(job.raced), signed_percent(job.race_regret())});
}

/// Prediction errors by strategy, over the choices that are predicted near the best of their job (JobRegret::near).
Table errors_table(const std::vector<JobRegret>& jobs) {
  std::map<std::string, std::vector<double>> errors;
  std::map<std::string, std::size_t> covered;
  for (const JobRegret& job : jobs)
    for (const NearChoice& one : job.near)
      for (const std::string& of : {std::string("all"), one.choice.strategy}) {
        errors[of].push_back(std::abs(one.error));
        covered[of] += one.is_covered ? 1 : 0;
      }
  Table table{.columns = {{"strategy"},
                          {"choices", Align::right},
                          {"error, median", Align::right},
                          {"95th percentile", Align::right},
                          {"worst", Align::right},
                          {"within its interval", Align::right}}};
  for (const auto& [strategy, of] : errors)
    table.add({strategy, std::to_string(of.size()), percent(median(of)), percent(quantile(of, 0.95)),
               percent(std::ranges::max(of)),
               percent(static_cast<double>(covered[strategy]) / static_cast<double>(of.size()))});
  return table;
}

std::string sentences(const std::vector<JobRegret>& jobs) {
  const RegretSummary s = summary_of(jobs);
  std::vector<double> probe;
  std::vector<double> ran;
  std::vector<double> took;
  for (const JobRegret& job : jobs) {
    if (!job.not_run.empty()) continue;
    probe.push_back(job.probe_took.count());
    ran.push_back(job.race_ran.count());
    took.push_back(job.race_took.count());
  }
  if (s.jobs == 0 || s.near == 0) return "no job ran";
  const bool simulated = std::ranges::any_of(jobs, &JobRegret::simulated);
  return fmt::format(
      "The plan's choice is within 2 % of the sweep's best in {} of {} jobs{} (worst {}), the race's in {} (worst {}). "
      "A probe took {} (at most {}), the runs of a race {} (at most {}), a race with its preparation {}.",
      percent(s.plan_within_2), s.jobs, simulated ? ", all simulated" : "", signed_percent(s.plan_worst),
      percent(s.race_within_2), signed_percent(s.race_worst), to_string(Seconds{median(probe)}),
      to_string(Seconds{std::ranges::max(probe)}), to_string(Seconds{median(ran)}),
      to_string(Seconds{std::ranges::max(ran)}), to_string(Seconds{median(took)}));
}

}  // namespace

std::string regret_report(const std::vector<JobRegret>& jobs, const TextStyle& style) {
  std::vector<const JobRegret*> worst;
  for (const JobRegret& job : jobs) worst.push_back(&job);
  const auto regret = [](const JobRegret* job) {
    return job->not_run.empty() ? -std::max(job->plan_regret(), job->race_regret()) : 0;
  };
  std::ranges::stable_sort(worst, {}, regret);
  Table table{.columns = columns()};
  constexpr std::size_t shown = 12;
  for (std::size_t i = 0; i < std::min(shown, worst.size()); ++i) add_job(table, *worst[i]);
  return wrap(sentences(jobs), style.width) + "\n\n" + table.text(style) + "\n" + errors_table(jobs).text(style) +
         "\nThe errors are those of choices predicted to take at most 1.5 times the best prediction of their job.\n";
}

std::string regret_markdown(const std::vector<JobRegret>& jobs) {
  Table table{.columns = columns()};
  for (const JobRegret& job : jobs) add_job(table, job);
  return "# Jobs drawn at random\n\n" + sentences(jobs) + "\n\n" + errors_table(jobs).markdown() +
         "\nThe errors are those of choices predicted to take at most 1.5 times the best prediction of their job.\n\n" +
         table.markdown();
}

}  // namespace shiplap
