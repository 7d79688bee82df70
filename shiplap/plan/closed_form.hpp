// Predictions by the closed forms of the papers, for choices whose figures the simulator lacks.
#pragma once

#include <optional>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// The time by which the closed form of van Werkhoven et al. 2014 may rank a choice. The paper must have the strategy
/// (Strategy::form_error), and the choice what it covers: contiguous pinned arrays, one GPU, equal chunks, the kernel's
/// own grid and single calls. nullopt otherwise, and when the profile lacks a figure of the form.
std::optional<ClosedForm> ranking_form(const Job&, const Profile&, const Choice&);

}  // namespace shiplap
