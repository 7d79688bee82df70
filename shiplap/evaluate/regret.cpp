#include "shiplap/evaluate/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

constexpr double near_best = 1.5;
constexpr std::size_t sweep_finalists = 4;

class JobRun {
 public:
  JobRun(const Node& node, const RegretOptions& options, WorkloadData& data)
      : device_(device_of(node, "evaluate")),
        profile_(profile_of(node)),
        limits_(node.limits),
        options_(options),
        data_(data) {}

  void run(JobRegret& result) {
    progress("probing the kernel");
    const auto began = std::chrono::steady_clock::now();
    data_.set_cost(probe_kernel(device_, job(), limits_));
    result.probe_took = std::chrono::steady_clock::now() - began;
    const Ranking planned = rank(job(), profile_, limits_, {.closed_forms = false});
    Job unprobed = job();
    unprobed.cost.zero_copy.clear();
    const Choice without = rank(unprobed, profile_, limits_, {.closed_forms = false}).best().choice;
    progress("racing");
    const RaceResult raced = race(
        race_field(job(), profile_, planned, limits_),
        [&](const Candidate& candidate) { return prepare(device_, job(), candidate); }, options_.race);
    result.race_ran = raced.ran;
    result.race_took = raced.took;

    std::vector<Choice> choices{planned.best().choice};
    const auto add = [&](const Choice& choice) {
      if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
    };
    add(raced.best().choice);
    add(without);
    for (const Candidate& candidate : planned.candidates) add(candidate.choice);
    for (const Finalist& finalist : raced.finalists) add(finalist.choice);
    for (const Choice& choice : grid_of(job(), options_.grid, device_.info().sm_count)) add(choice);
    sweep(choices);
    run_finals(planned.best().choice, raced.best().choice);
    report(planned.best().choice, raced.best().choice, without, result);
    for (const Choice& choice : {planned.best().choice, raced.best().choice})
      if (result.wrong.empty()) result.wrong = verify(choice);
  }

 private:
  const Job& job() const { return data_.job(); }
  void progress(std::string_view what) const {
    if (options_.progress) options_.progress(fmt::format("{}: {}", job().name, what));
  }
  static double seconds_of(Prepared& prepared) { return prepared.run().timeline.makespan.count(); }

  void sweep(const std::vector<Choice>& choices) {
    double best = 1e9;
    for (const Choice& choice : choices) {
      progress(to_string(choice));
      try {
        SweptChoice one{.choice = choice, .predicted = predict(job(), profile_, choice, limits_).predicted};
        const auto at_its_grid = [&](const KernelCost::ZeroCopy& row) { return row.blocks == choice.max_grid; };
        const bool other_streams = choice.chunks > 1 && choice.layout != Layout::three;
        one.is_candidate =
            !other_streams && (!find_strategy(choice.strategy).zero_copy || job().cost.zero_copy.empty() ||
                               std::ranges::any_of(job().cost.zero_copy, at_its_grid));
        Prepared prepared = prepare(device_, job(), choice, limits_);
        std::vector<double> seconds{seconds_of(prepared)};
        const bool is_behind = seconds.front() > near_best * best + 1e-3;
        if (!is_behind) {
          seconds.clear();
          for (unsigned r = 0; r < options_.rounds; ++r) seconds.push_back(seconds_of(prepared));
        }
        one.observed = Seconds{median(seconds)};
        best = std::min(best, one.observed.count());
        swept_.push_back(one);
      } catch (const Error&) {
        continue;  // choices that the device lacks, or that need more memory than there is, are left out
      }
    }
    if (swept_.empty()) throw Unsupported("no choice could run");
  }

  /// Median makespans of the choices, run in rotation. An untimed run precedes each timed run.
  std::vector<Seconds> alternating_medians(const std::vector<Choice>& choices) {
    std::vector<Prepared> ready;
    for (const Choice& choice : choices) ready.push_back(prepare(device_, job(), choice, limits_));
    std::vector<std::vector<double>> seconds(choices.size());
    for (unsigned r = 0; r <= options_.final_rounds; ++r)
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const std::size_t at = (i + r) % choices.size();
        seconds_of(ready[at]);
        const double one = seconds_of(ready[at]);
        if (r > 0) seconds[at].push_back(one);
      }
    std::vector<Seconds> medians;
    for (const auto& of : seconds) medians.emplace_back(median(of));
    return medians;
  }

  // The winner of a sweep wins partly by chance. So the fastest few run again, and the winner of these is prepared anew
  // and runs once more against the planned and the raced choice.
  void run_finals(const Choice& planned, const Choice& raced) {
    std::vector<SweptChoice> by_time = swept_;
    std::ranges::stable_sort(by_time, {}, &SweptChoice::observed);
    by_time.resize(std::min(sweep_finalists, by_time.size()));
    std::vector<Choice> last;
    for (const SweptChoice& one : by_time) last.push_back(one.choice);
    const std::vector<Seconds> semifinal = alternating_medians(last);
    best_ = last[static_cast<std::size_t>(std::ranges::min_element(semifinal) - semifinal.begin())];
    std::vector<Choice> three{best_};
    for (const Choice& choice : {planned, raced})
      if (std::ranges::find(three, choice) == three.end()) three.push_back(choice);
    const std::vector<Seconds> final_times = alternating_medians(three);
    for (std::size_t i = 0; i < three.size(); ++i) {
      const auto swept = std::ranges::find(swept_, three[i], &SweptChoice::choice);
      if (swept == swept_.end()) throw Error(fmt::format("{} ran in the final only", to_string(three[i])));
      swept->observed = final_times[i];
    }
  }

  void report(const Choice& planned, const Choice& raced, const Choice& without, JobRegret& result) const {
    result.choices = swept_.size();
    const auto found = [&](const Choice& choice) {
      const auto at = std::ranges::find(swept_, choice, &SweptChoice::choice);
      return at == swept_.end() ? SweptChoice{.choice = choice, .predicted = {}} : *at;
    };
    result.best = found(best_);
    result.planned = found(planned);
    result.raced = found(raced);
    if (!(without == planned)) result.unprobed = found(without).observed;
    Seconds least{std::numeric_limits<double>::infinity()};
    for (const SweptChoice& one : swept_)
      if (one.is_candidate) least = std::min(least, one.predicted.value);
    for (const SweptChoice& one : swept_)
      if (one.is_candidate && one.predicted.value <= least * near_best)
        result.near.push_back({.choice = one.choice,
                               .observed = one.observed,
                               .error = std::round(1e4 * (one.predicted.value / one.observed - 1)) / 1e4,
                               .is_covered = one.predicted.low <= one.observed && one.observed <= one.predicted.high});
  }

  std::string verify(const Choice& choice) {
    Prepared prepared = prepare(device_, job(), choice, limits_);
    data_.refill();
    prepared.run();
    return data_.verify();
  }

  MeasurableDevice& device_;
  const Profile& profile_;
  const Limits& limits_;
  const RegretOptions& options_;
  WorkloadData& data_;
  std::vector<SweptChoice> swept_;
  Choice best_;
};

}  // namespace

JobRegret regret_of(const Node& node, Workload workload, const RegretOptions& options) {
  JobRegret result{.name = workload.job.name, .simulated = !node.has_gpu()};
  // The choices that alternate share the memory.
  Node for_one = node;
  for_one.limits = node.limits.fraction(1, 2 * sweep_finalists);
  MeasurableDevice& device = device_of(node, result.name);
  try {
    WorkloadData data(device, std::move(workload));
    JobRun(for_one, options, data).run(result);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& why) {
    result.not_run = why.what();
  }
  return result;
}

RegretSummary summary_of(const std::vector<JobRegret>& jobs) {
  RegretSummary summary;
  std::vector<double> errors;
  std::size_t covered = 0;
  std::size_t plan_good = 0;
  std::size_t race_good = 0;
  for (const JobRegret& job : jobs) {
    if (!job.not_run.empty()) continue;
    ++summary.jobs;
    constexpr double good = 0.02;
    plan_good += job.plan_regret() <= good ? 1 : 0;
    race_good += job.race_regret() <= good ? 1 : 0;
    summary.plan_worst = std::max(summary.plan_worst, job.plan_regret());
    summary.race_worst = std::max(summary.race_worst, job.race_regret());
    for (const NearChoice& one : job.near) {
      errors.push_back(std::abs(one.error));
      covered += one.is_covered ? 1 : 0;
    }
  }
  if (summary.jobs == 0 || errors.empty()) return summary;
  const auto share = [](std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  summary.plan_within_2 = share(plan_good, summary.jobs);
  summary.race_within_2 = share(race_good, summary.jobs);
  summary.near = errors.size();
  summary.error_median = median(errors);
  summary.error_p95 = quantile(errors, 0.95);
  summary.error_worst = std::ranges::max(errors);
  summary.covered = share(covered, errors.size());
  return summary;
}

}  // namespace shiplap
