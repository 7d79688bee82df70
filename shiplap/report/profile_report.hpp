// A profile for people: what is known of the node with units and intervals, what is missing and why, and how well the
// fit explains the measurements.
#pragma once

#include <span>
#include <string>

#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// With a table of the ways to move bytes from the figures of its measurements, where there are any.
std::string profile_report(const Profile&, std::span<const Figure>, const TextStyle& = {});

/// One sentence for a profile that was measured on a virtual device; "" for any other. Whoever shows figures of a
/// profile shows it.
std::string simulation_note(const Profile&);

/// Measured points as a table: arguments, median with its interval, spread, repeats, clock, and whether every byte was
/// compared.
std::string measurements_report(std::span<const Measurement>, const TextStyle& = {});

/// What could not be measured, as lines; "" when nothing.
std::string skips_report(const MeasureResult&, const TextStyle& = {});

/// "copy.pinned.h2d bytes=4096 copies=16"
std::string point_name(const Measurement&);

}  // namespace shiplap
