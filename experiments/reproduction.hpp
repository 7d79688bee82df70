// The findings of the steps of one paper on one device, kept in a file between runs.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"

namespace shiplap::experiments {

/// The result of one step, and its duration.
struct StepDone {
  StepResult result;
  Seconds took{0};
};

/// The results of one paper on one device.
struct Reproduction : ReproductionSetting {
  std::map<std::string, StepDone, std::less<>> steps{};  ///< results of the steps that are done, by id
};

/// A reproduction without results.
Reproduction begin_reproduction(const Experiment&, const Bench&);

/// Limits of one call of `run_steps`.
struct RunLimits {
  std::vector<std::string> only{};  ///< ids of steps; empty means all that are not done yet
  Seconds budget{0};                ///< time after which no further step starts; 0 means no limit
};
/// Throws UsageError that lists the steps when the experiment lacks one of these ids.
void require_steps(const Experiment&, const std::vector<std::string>& ids);
/// Runs steps in their order, those of `only` again even if they are done. `step_done` is called after each step with
/// the results so far, to which it may add steps that are done elsewhere. On a virtual device, and by a step that
/// observes nothing, no claim holds or fails: "holds" and "holds with a change" become "consistent with the model",
/// "does not hold" becomes "contradicts the model". Returns whether all steps are done. Throws UsageError for an
/// unknown step, and what steps throw.
bool run_steps(const Experiment&, const Bench&, const RunLimits&, Reproduction&,
               const std::function<void(Reproduction&, const Step&)>& step_done);

/// The table or figure with this id that a step has made; null when there is none.
const Figure* find_figure(const Reproduction&, std::string_view id);

/// The finding that decides about a claim: the one with the worst verdict among those that could be checked (does not
/// hold, then holds with a change, then holds), the last one among equals. Any observed verdict outranks the simulated
/// ones (contradicts the model, then consistent with the model). It is "cannot be checked" only when nothing could be
/// checked, and null when no step was run.
const Finding* finding_of(const Experiment&, const Reproduction&, std::string_view claim);

/// What files have and people see. Each claim has the verdict of `finding_of` and all its findings. `plots_of` makes
/// the plots.
ReproductionView reproduction_view(const Experiment&, const Reproduction&);
/// Reads the view in a file. Throws Error naming the file and the key.
Reproduction load_reproduction(const std::filesystem::path&);
/// Throws Error when the earlier results are of another paper, device, profile or effort than the new ones.
void require_same(const Reproduction& before, const Reproduction& now, const std::filesystem::path& file);

}  // namespace shiplap::experiments
