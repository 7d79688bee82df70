// Plans steps on a node, and runs them any number of times.
#pragma once

#include <string_view>

#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan_options.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/step_plan.hpp"

namespace shiplap {

/// Plans a step as a whole: which kernels each chunk passes through while it is on the GPU, which arrays stay there,
/// how each pass is cut, and what the host does meanwhile. The kernels are captured and measured as by `plan` for one
/// job. Of the options `device_memory`, `probe`, `check_reach` and `quick` count. Throws as `plan` for a job does.
StepPlan plan(const Node&, const Step&, const PlanOptions& = {});

/// A planned step that is ready to run any number of times.
class PreparedStep {
 public:
  /// Binds the plan to the step that was planned, and allocates device memory. Throws UsageError for a step of other
  /// parts.
  PreparedStep(Device&, StepPlan, const Step&);

  /// Runs the step once and waits for its end. Parts of the host are called by this thread; where arrays are pageable,
  /// functions of kernels are called by another. Throws as `Prepared::run` does.
  RunResult run(const RunOptions& options = {}) { return prepared_.run(options); }
  /// Says that the caller has changed an array that stays on the GPU (`Step::stays_on_gpu`): the next step brings it
  /// again. Throws UsageError for another array.
  void changed(std::string_view array);
  /// Copies an array that stays on the GPU to the caller's memory and waits; nothing is copied where kernels do not
  /// write it, or it had no place on the GPU, so that the host has it. Throws UsageError for another array, Error
  /// before the first run.
  void fetch(std::string_view array);
  /// The plan that runs.
  const StepPlan& plan() const { return plan_; }

 private:
  std::size_t kept(std::string_view array) const;

  StepPlan plan_;
  Prepared prepared_;
};

}  // namespace shiplap
