// Regret: how much slower the choices of the plan and of the race are than the best choice of an exhaustive sweep.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/evaluate/grid.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/profile/conditions.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

struct RegretOptions {
  GridOptions grid{};
  unsigned rounds = 3;         ///< timed runs of every choice in the sweep; a choice that is far behind runs once
  unsigned final_rounds = 15;  ///< timed runs of each choice in either final
  Seconds race{milliseconds(200)};
  std::function<void(std::string_view what)> progress{};
};

/// A choice with its predicted and observed times.
struct SweptChoice {
  Choice choice;
  Interval<Seconds> predicted;
  Seconds observed{0};  ///< median of the sweep; for the best, planned and raced choice the median of the final
  /// Whether the plan considers the choice: its grid was measured, and no two chunks share a stream. The plan uses
  /// shared streams only when they are predicted to be 5 % faster.
  bool is_candidate = true;
};

/// A choice that was predicted near the best one, as files record it.
struct NearChoice {
  Choice choice;  ///< read from a file it has strategy, chunks, layout, blocks, graph and batched alone
  Seconds observed{0};
  double error = 0;         ///< predicted over observed time, minus 1, rounded to 0.0001
  bool is_covered = false;  ///< whether the observed time is within the prediction interval
};

/// The result of one job.
struct JobRegret {
  std::string name;
  std::string not_run{};    ///< reason why the job did not run; empty when it ran
  bool simulated = false;   ///< whether the device is virtual, so that nothing was observed
  Seconds probe_took{0};    ///< host time of the kernel probe
  Seconds race_ran{0};      ///< sum of the makespans of the race
  Seconds race_took{0};     ///< host time of the race including preparation
  std::size_t choices = 0;  ///< number of choices in the sweep
  SweptChoice best{};       ///< fastest of the sweep, confirmed in a final
  SweptChoice planned{};
  SweptChoice raced{};
  Seconds unprobed{0};  ///< observed time of the choice of a plan without the probe; 0 when it is the plan's choice
  /// Candidates of the plan that are predicted within 1.5 times the best prediction.
  std::vector<NearChoice> near{};
  std::string wrong{};  ///< first difference from the host reference; empty when both results are right

  double plan_regret() const { return planned.observed / best.observed - 1; }
  double race_regret() const { return raced.observed / best.observed - 1; }
};

/// Probes the kernel, plans, races, sweeps, and compares the planned and the raced choice with the best of the sweep.
JobRegret regret_of(const Node&, Workload, const RegretOptions& = {});

/// Statistics over all jobs that ran.
struct RegretSummary {
  std::size_t jobs = 0;
  double plan_within_2 = 0;  ///< fraction of jobs whose planned choice is within 2 % of the best
  double plan_worst = 0;
  double race_within_2 = 0;
  double race_worst = 0;
  std::size_t near = 0;  ///< number of choices in JobRegret::near
  double error_median = 0;
  double error_p95 = 0;
  double error_worst = 0;
  double covered = 0;  ///< fraction of these choices whose observed time is within the prediction interval
};
RegretSummary summary_of(const std::vector<JobRegret>&);

/// The document `shiplap/regret`. `command` is the command line that says what is evaluated.
Json to_json(const std::vector<JobRegret>&, const Node&, std::uint64_t seed, const std::string& command);

/// Jobs that were evaluated before, and what their results depend on.
struct RecordedRegrets {
  std::string command;  ///< empty when unknown
  Conditions conditions;
  std::string profile_hash;
  std::vector<JobRegret> jobs;
};
/// Reads the document of to_json. Throws Error naming source and key.
RecordedRegrets recorded_regrets_from_json(const Json&, const std::string& source);

}  // namespace shiplap
