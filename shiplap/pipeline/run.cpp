#include "shiplap/pipeline/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/contiguous_job.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/planned_job.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/run_view.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

// The two stages of ideal overlap share the memory that the choice does not use. Some of it stays free for the driver.
constexpr unsigned percent_for_a_stage = 40;

Limits limits_of_a_stage(const Device& device, const Limits& limits) {
  return limits.at_most(device.info().free_memory / 100 * percent_for_a_stage);
}

Interval<Seconds> median_of(const std::vector<Seconds>& samples) {
  std::vector<double> seconds;
  for (const Seconds& sample : samples) seconds.push_back(sample.count());
  const Estimate e = median_estimate(seconds);
  return {Seconds{e.value}, Seconds{e.low}, Seconds{e.high}};
}

Report begin_report(const Device& device, const Plan& plan) {
  const DeviceInfo info = device.info();
  Report report{.job = plan.job.name, .device = info.id, .simulated = info.is_virtual, .planned = plan.chosen};
  report.pinning = plan.pinning;
  if (plan.ranking.bound.time > Seconds{0}) report.bound = plan.ranking.bound.time;
  return report;
}

void add_sample(Report& report, const RunResult& result) {
  report.samples.push_back(result.timeline.makespan);
  report.submission = result.submission;
  report.host_total = result.host_total;
}

/// Several runs over the same arrays, after which the arrays are as after a single run.
class RepeatedRuns {
 public:
  RepeatedRuns(Device& device, const Plan& plan, const Job& job, const RunReportOptions& options)
      : options_(options), prepared_(prepare(device, plan, job)) {
    if (options.ideal_overlap) {
      contiguous_.emplace(device, planned_job(plan, job));
      ideal_overlap_.emplace(device, contiguous_->job(), limits_of_a_stage(device, plan.limits),
                             plan.chosen.choice.gpus, plan.chosen.choice.relay);
    }
    if (!options.refill) originals_.emplace(device, job);
  }

  /// Runs and observes. When a run throws, arrays that are read and written get their original values back.
  void run(Report& report) try { run_in_turn(report); } catch (...) {
    if (originals_) originals_->restore_after_failure();
    throw;
  }

 private:
  void run_in_turn(Report& report) {
    renew();
    once();
    verify(report);
    for (unsigned i = 0; i < options_.warm_up; ++i) {
      once();
      if (ideal_overlap_) ideal_overlap_->run();
    }
    for (unsigned i = 0; i < options_.repeats; ++i) {
      add_sample(report, once());
      if (ideal_overlap_) report.ideal_overlap_samples.push_back(ideal_overlap_->run());
    }
    if (options_.trace != Trace::none) {
      renew();
      once(options_.trace);  // the first traced run also sets up the tracing, so it is not reported
    }
    renew();
    const RunResult last = once(options_.trace);
    report.timeline = last.timeline;
    report.trace_source = last.trace_source;
    verify(report);
    report.planned.schedule = std::make_shared<const Schedule>(prepared_.schedule());
    if (report.planned.timeline.spans.size() != prepared_.schedule().ops.size()) report.planned.timeline.spans.clear();
  }
  RunResult once(Trace trace = Trace::none) { return prepared_.run({.trace = trace, .stop = options_.stop}); }
  void renew() {
    options_.refill ? options_.refill() : originals_->restore();
    prepared_.changed();
  }
  void verify(Report& report) {
    prepared_.fetch();
    if (!options_.verify) return;
    const bool was_right = !report.difference || report.difference->empty();
    if (was_right) report.difference = options_.verify();
  }

  const RunReportOptions& options_;
  Prepared prepared_;
  std::optional<ContiguousJob> contiguous_;  // the job whose stages are timed
  std::optional<IdealOverlapRuns> ideal_overlap_;
  std::optional<Originals> originals_;
};

}  // namespace

Report report_of(const Device& device, const Plan& plan, const RunResult& result) {
  Report report = begin_report(device, plan);
  add_sample(report, result);
  report.observed = Interval<Seconds>::exact(result.timeline.makespan);
  report.timeline = result.timeline;
  if (report.timeline.spans.size() != plan.chosen.schedule->ops.size()) report.timeline.spans.clear();
  report.trace_source = result.trace_source;
  return report;
}

Report run(Device& device, const Plan& plan, const Job& job, const RunReportOptions& options) {
  if (options.repeats == 0) throw UsageError("`repeats` 0: a report needs at least 1 run");
  const bool is_single = options.repeats == 1 && options.warm_up == 0 && !options.ideal_overlap &&
                         options.trace == Trace::none && !options.refill && !options.verify;
  if (is_single) {
    Prepared prepared = prepare(device, plan, job);
    const Report report = report_of(device, plan, prepared.run({.stop = options.stop}));
    prepared.fetch();
    return report;
  }
  Report report = begin_report(device, plan);
  RepeatedRuns(device, plan, job, options).run(report);
  report.observed = median_of(report.samples);
  if (options.ideal_overlap) report.ideal_overlap = median_of(report.ideal_overlap_samples);
  return report;
}

std::optional<double> Report::efficiency() const {
  if (!bound) return std::nullopt;
  return *bound / observed.value;
}

std::string Report::to_string() const {
  const Interval<Seconds>& predicted = planned.predicted;
  const std::string pinned =
      pinning > Seconds{0} ? fmt::format(" (pinned before: {}, not counted)", shiplap::to_string(pinning)) : "";
  return fmt::format("{}{} on {}: {}, predicted {} ({} to {}), {} {}{}{}{}",
                     is_wrong() ? fmt::format("WRONG RESULT: {}. ", *difference) : "", job, device,
                     shiplap::to_string(planned.choice), shiplap::to_string(predicted.value),
                     shiplap::to_string(predicted.low), shiplap::to_string(predicted.high),
                     simulated ? "simulated" : "observed", shiplap::to_string(observed.value),
                     simulated ? " (nothing was observed)" : "", pinned, verified() ? ", verified" : "");
}

void Report::require_right() const {
  if (is_wrong()) throw CheckFailed(fmt::format("the result is wrong: {}", *difference));
}

Json Report::to_json() const { return shiplap::to_json(run_view(*this)); }

}  // namespace shiplap
