// Variations of a profile: with parameters at the ends of their intervals (for prediction intervals), or without one
// cause of lost time (for the distance to ideal overlap).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// An end of an interval. `low` is the fast end: the least time, or the highest rate.
enum class End : std::uint8_t { low, high };
Profile at_interval_end(const Profile&, ParameterGroup, End);

/// A cause of lost time. `duplex_gap`: the part of the gap (g) that is added under duplex load. `host`: copies and page
/// faults by host threads, and the time by which pageable copies and moving pages exceed pinned copies.
enum class Cause : std::uint8_t { host, submission, duplex_gap, gap, latency };
Profile without_cost(const Profile&, Cause);

/// The term in words, as in "H2D copies, per byte".
std::string to_string(CostTerm);
/// The profile with the times of that term multiplied by `factor` (rates divided).
Profile slowed(const Profile&, CostTerm, double factor);

}  // namespace shiplap
