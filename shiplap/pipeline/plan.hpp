// A plan of a job on a node: the ranking of all strategies, the choice, and whether arrays are pinned for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan_options.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/decision.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {

struct RaceResult;

/// How a job will be run. A plan is a value and owns no arrays; `prepare` and `run` use those of the job that they are
/// given.
struct Plan : Decision {
  std::shared_ptr<const RaceResult> race{};  ///< the race that chose (race.hpp); null when the predictions chose
  std::string virtual_device{};              ///< id of the virtual device of the node; "" without one

  /// What to do and what it gains, why, and the best choice of each strategy, in lines of at most 80 columns, as
  /// `shiplap plan` prints it; with `all` also every candidate, where time is lost, and what is assumed. For a virtual
  /// device it ends with a line that says so.
  std::string explain(bool all = false) const;
  std::string summary() const;  ///< what to do and what it gains, in the first sentence of `explain`
  /// The ranking as to_json(const Ranking&) writes it, with `shape`, `chosen`, `pins`, `pinning`, `memory` and `race`.
  Json to_json() const;
};

/// Plans a job: ranks the strategies, compares pinned with pageable arrays, and lets the best candidates race if
/// `PlanOptions::race` says so.
///
/// On a GPU the job must have a `kernel`. It is captured a few times, which counts its launches, unless the job is not
/// `capturable`. Its times are measured
/// on the job's arrays unless the job states them; all arrays have the content afterwards that they had before. On a
/// virtual device the job must have a `host_kernel`. The kernel cost is derived there, and on a node without a device,
/// unless the job states it.
///
/// Throws UsageError for an invalid job, array or option, Error when the kernel does more than enqueue work,
/// Unsupported when no strategy can do the job.
Plan plan(const Node&, const Job&, const PlanOptions& = {});

/// Runs the kernel once over an eighth of the items, or as many as fit, on the data of the job on the GPU, outside of
/// any capture. The arrays on the host are not written. The first call of a kernel may compile, load code and allocate,
/// which a stream cannot capture. Throws as `plan` does.
void run_kernel_once(const Node&, const Job&, const PlanOptions& = {});

}  // namespace shiplap
