// A profile as text: every parameter with its unit and interval, what is missing and why, and the residuals of the fit.
#pragma once

#include <span>
#include <string>

#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// The whole profile. From the figures of its measurements, if any are given, follows a table of the ways to move bytes
/// (transfers_report).
std::string profile_report(const Profile&, std::span<const Figure>, const TextStyle& = {});

/// One sentence for a profile that was measured on a virtual device; "" for any other profile. Every report that shows
/// figures of a profile prints it.
std::string simulation_note(const Profile&);

/// Measured points as a table: primitive and arguments, median with its interval, spread, repeats, clock, and whether
/// every byte was compared.
std::string measurements_report(std::span<const Measurement>, const TextStyle& = {});

/// One line for each reason why primitives were skipped and for each failed point; "" without any.
std::string skips_report(const MeasureResult&, const TextStyle& = {});

/// The primitive with its arguments, as in "copy.pinned.h2d bytes=4096 copies=16".
std::string point_name(const Measurement&);

}  // namespace shiplap
