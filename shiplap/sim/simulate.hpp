// Predicts the timeline of a schedule on a profile by discrete-event simulation of resources and streams. The result
// depends only on the arguments: there is no clock and no randomness. The formulas of the papers are not used.
#pragma once

#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

struct SimulateOptions {
  /// Whether all ops are submitted before the first one may start, as when a gate holds the streams. The timeline then
  /// starts when the gate opens, so submission takes none of its time.
  bool held = false;
};

struct Prediction {
  Timeline timeline;
  Seconds submission{0};  ///< host time from the first call to the return of the last call
  /// One sentence that names the absent parameters of the profile and the assumed values; empty when none is absent. It
  /// must be shown with every figure that is computed from the prediction.
  std::vector<std::string> assumptions;
};

/// Predicts the timeline of a sound schedule (`validate`). Throws Unsupported when the profile has no such link or no
/// figures for a kind of op, and Error with the numbers when the buffers on a GPU exceed its memory.
Prediction simulate(const Schedule&, const Profile&, const SimulateOptions& = {});

}  // namespace shiplap
