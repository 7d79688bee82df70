// What following the plan, and a race behind it, costs against an exhaustive sweep: on jobs that nobody chose.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/evaluate/grid.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

struct RegretOptions {
  GridOptions grid{};
  unsigned rounds = 3;         ///< of every choice of the sweep; of one that is far behind one
  unsigned final_rounds = 15;  ///< of the fastest of the sweep, and of the best, the plan's and the race's choice
  Seconds race{milliseconds(200)};
  std::function<void(std::string_view what)> progress{};
};

/// A choice as it was predicted and observed.
struct SweptChoice {
  Choice choice;
  Interval<Seconds> predicted;
  Seconds observed{0};  ///< median of the sweep's rounds; of the best, the planned and the raced one of the final's
  /// For the plan: not at a grid at which the kernel was not measured, nor on queues that chunks share, which the plan
  /// takes only where they promise much.
  bool is_candidate = true;
};

/// One job.
struct JobRegret {
  std::string name;
  std::string not_run{};    ///< why nothing was found, else ""
  Seconds probe_took{0};    ///< by the host's clock
  Seconds race_ran{0};      ///< makespans of all runs of the race
  Seconds race_took{0};     ///< by the host's clock
  std::size_t choices = 0;  ///< swept
  SweptChoice best{};       ///< of the sweep, by two sets of runs
  SweptChoice planned{};
  SweptChoice raced{};
  Seconds unprobed{0};  ///< what a plan without probe and race would take, observed; 0: it would take the same
  /// All candidates for the plan that were predicted within half as much again as the best prediction.
  std::vector<SweptChoice> near{};
  std::string wrong{};  ///< what differs from the host reference first, of the planned and the raced choice

  double plan_regret() const { return planned.observed / best.observed - 1; }
  double race_regret() const { return raced.observed / best.observed - 1; }
};

/// Probes, plans, races, sweeps and sets what came of it against each other.
JobRegret regret_of(Device&, const Profile&, const Limits&, Workload, const RegretOptions& = {});

/// Of all jobs that ran.
struct RegretSummary {
  std::size_t jobs = 0;
  double plan_within_2 = 0;  ///< share of the jobs in which the plan's choice is within 2 % of the best
  double plan_worst = 0;
  double race_within_2 = 0;
  double race_worst = 0;
  std::size_t near = 0;  ///< choices predicted within half as much again as the best
  double error_median = 0;
  double error_p95 = 0;
  double error_worst = 0;
  double covered = 0;  ///< share of them whose observed time is within the predicted range
};
RegretSummary summary_of(const std::vector<JobRegret>&);

Json to_json(const std::vector<JobRegret>&, const Device&, const Profile&, std::uint64_t seed);

}  // namespace shiplap
