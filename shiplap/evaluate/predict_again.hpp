// What a model says of one choice of a workload, and of all choices of an evaluation that was recorded before.
#pragma once

#include <string_view>

#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Of limits of a whole device, those of any one choice: two fifths of its memory.
Limits limits_of_one_choice(const Limits&);

/// A choice with what every model predicts of it, not yet observed. Throws UsageError, Unsupported or Error as the
/// strategy and the simulation do.
EvaluatedPoint predicted_point(const Job&, const Profile&, const Choice&, const Limits&);

/// So many equal copies of one direction alone, of `total` bytes together, with what engine and LogGP predict. Throws
/// Unsupported as the simulation does.
EvaluatedTransfer predicted_transfer(const Profile&, bool to_device, Bytes total, std::uint32_t copies);

/// The model, among those of a point that was predicted again, whose times are what the engine had predicted before.
inline constexpr std::string_view simulation_as_recorded = "simulation as recorded";

/// What was observed then, beside what this version predicts of it on this profile. Jobs come from the workloads'
/// names, the costs of their kernels are those recorded. `limits` are those of the whole device. A choice that is not
/// possible any more is skipped with the reason; a workload that is not built in, or not to be predicted, becomes one
/// that did not run, for that reason. Throws Unsupported when the profile has no link.
Evaluation predict_again(Evaluation recorded, const Profile&, const Limits&);

}  // namespace shiplap
