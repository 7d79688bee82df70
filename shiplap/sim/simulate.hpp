// Predicts the timeline of a schedule on a profile by discrete-event simulation of resources and streams. A pure
// function: no wall clock, no randomness, ties broken by op index. It knows resources and streams, never the papers'
// formulas.
#pragma once

#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

struct SimulateOptions {
  /// All ops are submitted before the first may start, as when streams are held behind a gate. Submission then takes no
  /// time.
  bool held = false;
};

struct Prediction {
  Timeline timeline;
  Seconds submission{0};  ///< host time from the first call to the return of the last one
  /// What the profile lacks and what the simulation assumed: one sentence, or none. To be shown beside every figure
  /// that is made from the prediction.
  std::vector<std::string> assumptions;
};

/// Throws Unsupported when the profile cannot say (no such link, a flow or op kind it has no figures for), and Error
/// when the buffers of the schedule on a GPU exceed its memory (with the numbers). The schedule must be sound
/// (`validate`).
Prediction simulate(const Schedule&, const Profile&, const SimulateOptions& = {});

}  // namespace shiplap
