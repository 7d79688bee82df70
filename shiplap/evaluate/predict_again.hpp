// Predictions for one choice, and for all choices of a recorded evaluation.
#pragma once

#include <string_view>

#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The limits of one choice from those of the whole device: two fifths of its memory.
Limits limits_of_one_choice(const Limits&);

/// A choice with the predictions of every model, not yet observed. Throws UsageError, Unsupported or Error as the
/// strategy and the simulation do.
EvaluatedPoint predicted_point(const Job&, const Profile&, const Choice&, const Limits&);

/// `copies` equal copies in one direction, `total` bytes together, with the predictions of the simulation and of LogGP.
/// Throws Unsupported as the simulation does.
EvaluatedTransfer predicted_transfer(const Profile&, bool to_device, Bytes total, std::uint32_t copies);

/// Name of the model that keeps the simulated times of the first prediction, in a point that was predicted again.
inline constexpr std::string_view simulation_as_recorded = "simulation as recorded";

/// Predicts a recorded evaluation again with this version and this profile, and keeps its observations. Jobs come from
/// the workloads' names, and kernel costs from the record. `limits` are those of the whole device. A choice that is no
/// longer possible is skipped with the reason. A workload that is not built in or cannot be predicted becomes one that
/// did not run. Throws Unsupported when the profile has no link.
Evaluation predict_again(Evaluation recorded, const Profile&, const Limits&);

}  // namespace shiplap
