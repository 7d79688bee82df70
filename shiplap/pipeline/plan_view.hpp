// A plan as files have it and people see it.
#pragma once

#include <filesystem>
#include <optional>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The shape of a job: what it moves, from which memory, and how long its kernel takes.
struct JobShape {
  Bytes bytes_in{0};                       ///< bytes to the GPU
  Bytes bytes_out{0};                      ///< bytes back
  MemoryKind memory = MemoryKind::pinned;  ///< memory of the arrays
  std::optional<Seconds> kernel{};         ///< time of the kernel over all items; nullopt: unknown
};
JobShape shape_of(const Job&);  ///< the shape of a job

/// A plan without schedules, jobs and devices.
struct PlanView {
  Ranking ranking;                         ///< all strategies
  std::optional<JobShape> shape{};         ///< the job; nullopt in files that do not have it
  Candidate chosen;                        ///< the choice
  bool pins = false;                       ///< whether arrays are pinned while the job is prepared
  Seconds pinning{0};                      ///< predicted time of pinning and unpinning, once
  std::optional<MemoryChoice> memory{};    ///< ways to prepare pageable arrays
  std::optional<RaceResult> race{};        ///< the race that chose; nullopt when the predictions chose
  std::optional<Origin> profile_origin{};  ///< where the figures of the profile come from; nullopt: it is not said
  Seconds time_of_kept_copies{0};          ///< predicted time by which the first run is longer (Decision)
  std::string virtual_device{};            ///< id of the virtual device of the node; "" without one
};
/// What files and people see of the plan.
PlanView plan_view(const Plan&);

Json to_json(const JobShape&);                 ///< sizes, memory and time
void from_json(const JsonReader&, JobShape&);  ///< reads what to_json wrote; throws Error that names the key
Json json_schema(const JobShape&);             ///< JSON Schema of what to_json writes

/// Writes the document `shiplap/plan`.
Json to_json(const PlanView&);
/// Reads the document. Throws Error that names the key.
void from_json(const JsonReader&, PlanView&);
/// Reads the file of a plan. Throws Error that names the file and the key.
PlanView load_plan(const std::filesystem::path&);
/// The options with which `plan` takes the choice of a saved plan instead of searching one: its times are predicted
/// again, for the node and the job at hand. Throws UsageError when the saved plan is for a job with other sizes.
PlanOptions options_of(const PlanView& saved, const Job&);
Json json_schema(const PlanView&);  ///< the JSON Schema of the document

}  // namespace shiplap
