// Predictions by the closed forms of the papers, for choices whose figures the simulator lacks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// The time by which the closed form of van Werkhoven et al. 2014 may rank a choice. The paper must have the strategy
/// (Strategy::form_error), and the choice what it covers: contiguous pinned arrays, one GPU, equal chunks, the kernel's
/// own grid and single calls. nullopt otherwise, and when the profile lacks a figure of the form.
std::optional<ClosedForm> ranking_form(const Job&, const Profile&, const Choice&);

/// Builds the schedule of the candidate, simulates it, and sets `predicted` to the time without an interval. Where the
/// simulation is refused because the profile lacks a figure, and `forms` is true, the time is that of `ranking_form`
/// unless it is below the bound, and the candidate says so, with what the form assumes. Returns the assumptions of the
/// simulation, none for a closed form. Throws as `Strategy::schedule` and `simulate` do.
std::vector<std::string> predict_value(const Job&, const Profile&, const Limits&, bool forms, Candidate&);

}  // namespace shiplap
