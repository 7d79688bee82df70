// The prediction of one choice: its schedule, simulated, or the closed form of a paper where the profile lacks a
// figure.
#pragma once

#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// Builds the schedule of the candidate, simulates it, and sets `predicted` to the time without an interval. Where the
/// simulation is refused because the profile lacks a figure, and `forms` is true, the time is that of `ranking_form`
/// unless it is below the bound, and the candidate says so, with what the form assumes. Returns the assumptions of the
/// simulation, none for a closed form. Throws as `Strategy::schedule` and `simulate` do.
std::vector<std::string> predict_value(const Job&, const Profile&, const Limits&, bool forms, Candidate&);

/// Adds interval, closed form and distance to a candidate that was simulated. A candidate without its schedule is
/// simulated first. Bound and ideal overlap are those of the job on the candidate's number of GPUs; all candidates of a
/// ranking have the same.
Candidate complete_prediction(const Job&, const Profile&, const Limits& limits, Candidate, const Bound&,
                              const IdealOverlap&);

}  // namespace shiplap
