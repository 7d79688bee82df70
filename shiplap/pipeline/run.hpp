// Runs a plan and reports the predicted and the observed time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/pipeline/plan.hpp"

namespace shiplap {

/// The observed times of runs of a plan, with the prediction.
struct Report {
  std::string job;         ///< name of the job
  std::string device;      ///< id of the device, as in "cuda:0"
  bool simulated = false;  ///< whether the device is virtual, so that nothing was observed
  /// The choice, with its prediction and the schedule that ran. The predicted timeline is empty when that schedule was
  /// built anew for the job that ran (has_reach_by_function) and has other ops.
  Candidate planned;
  std::vector<Seconds> samples{};  ///< makespan of every timed run, by device events or the host's clock
  Interval<Seconds> observed{};    ///< median of `samples`, with the 95 % interval of the median
  Seconds submission{0};           ///< host time of all submitting calls of the last timed run
  Seconds host_total{0};           ///< host time of the last timed run until the host knew its end
  Seconds pinning{0};              ///< predicted time of pinning for the runs, not part of any other time; 0: none
  /// The lower bound on the plan's profile (see Bound); none for a plan without a ranking. A run below it shows that
  /// the profile is not of this node as it is now.
  std::optional<Seconds> bound{};
  /// Times of ideal overlap (see IdealOverlap), measured between the timed runs; empty where it was not measured.
  std::vector<Seconds> ideal_overlap_samples{};
  std::optional<Interval<Seconds>> ideal_overlap{};  ///< median of `ideal_overlap_samples`
  /// The first difference from the host reference; "" when the result was right; nullopt when it was never verified.
  std::optional<std::string> difference{};
  Timeline timeline{};         ///< timeline of one further, traced run; without spans when no run was traced
  std::string trace_source{};  ///< what observed the spans, as a phrase for the user

  /// Whether a verification found no difference. It is false for a wrong result and for one that was never verified;
  /// `difference` tells them apart.
  bool verified() const { return difference && difference->empty(); }
  /// Whether a verification found a difference.
  bool is_wrong() const { return difference && !difference->empty(); }
  /// Throws CheckFailed, whose exit code is 2, when a verification found a difference.
  void require_right() const;
  /// The bound as a fraction of the observed time; none without a bound.
  std::optional<double> efficiency() const;
  /// One line with the job, the device, the choice, and the predicted and the observed time. It begins with "WRONG
  /// RESULT" and the difference when a verification found one, and ends with "verified" when it found none.
  std::string to_string() const;
  /// The report with its schema and version.
  Json to_json() const;
};

/// The number of runs for a report, and what is observed in them.
struct RunReportOptions {
  unsigned repeats = 1;          ///< number of timed runs, at least 1
  unsigned warm_up = 0;          ///< number of untimed runs before them
  bool ideal_overlap = false;    ///< whether the time of ideal overlap is measured between the timed runs
  Trace trace = Trace::none;     ///< how a further run is traced
  std::function<bool()> stop{};  ///< see RunOptions::stop
  /// Fills the job's arrays anew. Called before each run whose result is verified, and before the last run. Without
  /// `refill`, inout and carried arrays get their original values back instead, so that they end as after a single run.
  std::function<void()> refill{};
  /// Compares the results with a reference; returns "" or what differs first. Called after the first and the last run.
  /// A difference does not throw: it is in the report (`Report::require_right`).
  std::function<std::string()> verify{};
};

/// Prepares a plan, runs it and reports. With the default options the job runs once. Programs that run a job many times
/// should call `prepare` once instead. Throws as `prepare` and Execution::run do, and UsageError for 0 repeats. When
/// one of several runs throws, `inout` and `carried` arrays get their original values back, and outputs are undefined.
Report run(Device&, const Plan&, const Job&, const RunReportOptions& = {});
/// The report of one run of a job that was prepared from the plan. It has no spans when the schedule that ran has other
/// ops than the planned one (has_reach_by_function).
Report report_of(const Device&, const Plan&, const RunResult&);

}  // namespace shiplap
