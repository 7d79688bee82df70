// Measurements as text: the measured points, and the points that were skipped or failed.
#pragma once

#include <span>
#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The shortest and the longest time and the highest rate, and measured points as a table: primitive and arguments,
/// median with its interval, spread, number of samples, the clock that timed the point (events or host), and whether
/// its bytes were verified. Unless all of them are asked for, many points are summed up by primitive, and at most a
/// screen is shown. `simulation` is what to say of a simulated device, else "".
std::string measurements_report(std::span<const Measurement>, const TextStyle& = {}, const std::string& simulation = {},
                                document::Detail = document::Detail::figures);

/// One line for each failed point, and one on the number of skipped primitives; with all details, one for each reason
/// why they were skipped. "" without any.
std::string skips_report(const MeasureResult&, document::Detail = document::Detail::all, const TextStyle& = {});

/// The primitive with its arguments, as in "copy.pinned.h2d bytes=4096 copies=16".
std::string point_name(const Measurement&);

}  // namespace shiplap
