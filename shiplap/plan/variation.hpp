// Profiles that differ from a given one in one respect: parameters moved to the ends of their intervals (for prediction
// intervals) and causes of lost time taken out (for the distance to ideal overlap).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Which end of the interval: `low` is the fast one.
enum class End : std::uint8_t { low, high };
Profile moved(const Profile&, ParameterGroup, End);
/// The job with all kernel times moved to that end of their intervals.
Job moved(const Job&, End);

/// `duplex_gap`: what the gap is more under duplex load than alone. `host`: what host threads copy and fault,
/// and what pageable copies and moving pages take longer than pinned copies.
enum class Cause : std::uint8_t { host, submission, duplex_gap, gap, latency };
Profile freed_of(const Profile&, Cause);

/// "H2D copies, per byte", "gaps between ops (g)".
std::string to_string(CostTerm);
/// The profile with the times of that term multiplied by `factor` (rates divided).
Profile slowed(const Profile&, CostTerm, double factor);

}  // namespace shiplap
