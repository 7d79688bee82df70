// A profile as text: every parameter with its unit and interval, what is missing and why, and the residuals of the fit.
#pragma once

#include <span>
#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The whole profile. If figures of its measurements are given, a table of the ways to move bytes follows
/// (transfers_report).
std::string profile_report(const Profile&, std::span<const Figure>, const TextStyle& = {});

/// One sentence for a profile that was measured on a virtual device; "" for any other profile. Every report that shows
/// figures of a profile prints it.
std::string simulation_note(const Profile&);

}  // namespace shiplap
