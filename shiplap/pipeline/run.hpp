// Runs a workload on a device under a choice, verifies it, and reports predicted beside observed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/pipeline/pipeline.hpp"
#include "shiplap/plan/plan.hpp"

namespace shiplap {

/// What a run of `repeat` repetitions observed, beside the prediction.
struct RunReport {
  std::string workload;
  std::string device;
  Choice choice;
  std::optional<Candidate> predicted;  ///< absent without a profile
  std::vector<double> samples_ms;      ///< event-timed makespans
  Estimate observed_ms;
  std::vector<double> bound_samples_ms;  ///< measured interleaved with the runs
  Estimate bound_ms;
  double efficiency = 0;  ///< bound / observed
  bool verified = false;
  std::string difference;  ///< what differs, when not verified
  Schedule schedule;
  Timeline timeline;         ///< of one further run, traced
  std::string trace_source;  ///< what its spans were observed by
};
struct RunPlan {
  Choice choice;
  std::optional<Candidate> predicted;
  unsigned repeat = 21;
  unsigned warm_up = 3;
  bool trace = false;
};
RunReport run(Pipeline&, Device&, const Limits&, const RunPlan&);
Json to_json(const RunReport&);

}  // namespace shiplap
