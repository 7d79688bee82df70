// Which of several choices that are predicted to take about the same time is preferred.
#pragma once

#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// Sorts candidates by predicted time. Then moves a simpler one to the front where it is predicted nearly as fast as
/// the first: one without zero-copy beside copies, with the simplest layout, the gentlest ramp, without graph or
/// batches, with the kernel's own grid. Returns in what the one in front is simpler, as "it needs no graph", or "" when
/// it is the fastest. The list must not be empty.
std::string sort_by_preference(std::vector<Candidate>&);

}  // namespace shiplap
