// The reproduction of one paper on one device: what its steps have found so far, kept in a file between runs.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/core/json.hpp"

namespace shiplap::experiments {

/// What one step found, and how long that took.
struct StepDone {
  StepResult result;
  Seconds took{0};
};

/// Of one paper on one device.
struct Reproduction {
  std::string paper;        ///< name of the experiment
  std::string device;       ///< "cuda:0"
  std::string device_name;  ///< "NVIDIA H200"
  bool simulated = false;   ///< times are those of a simulation
  bool quick = false;
  Conditions conditions;
  std::string profile;                                 ///< its name
  std::string profile_hash;                            ///< fixed before anything ran
  std::map<std::string, StepDone, std::less<>> steps;  ///< by id, those that are done
};

/// With nothing done yet.
Reproduction begin_reproduction(const Experiment&, const Bench&);

/// How far to go.
struct RunLimits {
  std::vector<std::string> only{};  ///< ids of steps; empty: all that are not done yet
  Seconds budget{0};                ///< no further step is begun after this time; 0: no limit
};
/// Throws UsageError that lists the steps when the experiment has none of that id.
void require_steps(const Experiment&, const std::vector<std::string>& ids);
/// Runs steps in their order, those of `only` again even if they are done. `step_done` is called after each with
/// everything so far. Returns whether all steps are done. Throws UsageError for an unknown step, else as steps do.
bool run_steps(const Experiment&, const Bench&, const RunLimits&, Reproduction&,
               const std::function<void(const Reproduction&)>& step_done);

/// What a step found about a claim.
struct StepFinding {
  std::string_view step;  ///< its id
  const Finding* finding = nullptr;
};
/// All that is found about a claim, in the order of the steps; empty: none of its steps was run.
std::vector<StepFinding> findings_of(const Experiment&, const Reproduction&, std::string_view claim);
/// The one that decides about a claim: the worst verdict of what could be checked (does not hold, then holds with a
/// change, then holds), of equal ones the last. "Cannot be checked" only where nothing could. Null: not run.
const Finding* finding_of(const Experiment&, const Reproduction&, std::string_view claim);

/// With schema and version: each claim with one verdict, that of `finding_of`, and all findings under it.
Json to_json(const Experiment&, const Reproduction&);
/// Throws Error naming the file and the key.
Reproduction load_reproduction(const std::filesystem::path&);
/// Throws Error when what was done before is of another paper, device, profile or effort than what would go on.
void require_same(const Reproduction& before, const Reproduction& now, const std::filesystem::path& file);

}  // namespace shiplap::experiments
