// The report of a run as files have it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/schedule/timeline_view.hpp"

namespace shiplap {

/// What a run knows of the plan that it followed.
struct PlanOfRun {
  JobShape shape;                          ///< the job
  std::string profile;                     ///< name of the profile
  std::string profile_hash;                ///< parameter_hash of the profile
  std::optional<Origin> profile_origin{};  ///< where the figures of the profile come from; nullopt: it is not said
  std::string kernel_cost_origin;          ///< where the time of the kernel comes from
  std::optional<KernelRates> kernel{};     ///< the kernel alone, where its time is known
  std::vector<std::string> assumptions{};
  bool pins = false;                 ///< whether arrays were pinned while the job was prepared
  std::optional<RaceResult> race{};  ///< the race that chose; nullopt when the predictions chose
};

/// A report with its timelines. One that was read from a file has no schedules.
struct RunView {
  Report run;
  TimelineView timeline{};            ///< the traced run; empty when none was traced
  TimelineView predicted_timeline{};  ///< the prediction of its schedule; empty without one
  std::optional<PlanOfRun> plan{};    ///< nullopt in reports that do not have it
};
/// The report with the timelines that it has.
RunView run_view(const Report&);
/// The report with its timelines and its plan, for which the figures of a profile with this origin were used.
RunView run_view(const Report&, const Plan&, Origin);

/// Writes the document `shiplap/run`.
Json to_json(const RunView&);
/// Reads the document. Throws Error that names the key.
void from_json(const JsonReader&, RunView&);
Json json_schema(const RunView&);  ///< the JSON Schema of the document

}  // namespace shiplap
