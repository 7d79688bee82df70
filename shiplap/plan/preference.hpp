// The preference among choices that are predicted to take about the same time.
#pragma once

#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// Sorts candidates by predicted time. Then moves a simpler one to the front if it is predicted nearly as fast as the
/// first: one without zero-copy concurrent with copies, with a simpler layout, a gentler ramp, without graph or
/// batches, or with the kernel's own grid. Returns how the first one is simpler, as in "it needs no graph", or "" when
/// it is the fastest. The list must not be empty.
std::string sort_by_preference(std::vector<Candidate>&);

}  // namespace shiplap
