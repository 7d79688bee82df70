// Profiles that differ from a given one in one respect: parameters moved to the ends of their intervals (for ranges)
// and causes of lost time taken out (for the distance to the bound).
#pragma once

#include <array>
#include <cstdint>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Parameters that are uncertain together because they were measured together.
enum class ParameterGroup : std::uint8_t { rates, gaps, latencies, submission };
inline constexpr std::array parameter_groups{ParameterGroup::rates, ParameterGroup::gaps, ParameterGroup::latencies,
                                             ParameterGroup::submission};

/// Which end of the interval: `low` is the fast one.
enum class End : std::uint8_t { low, high };
Profile moved(const Profile&, ParameterGroup, End);

/// `duplex_gap`: what the gap is more under duplex load than alone.
enum class Cause : std::uint8_t { submission, duplex_gap, gap, latency };
Profile freed_of(const Profile&, Cause);

}  // namespace shiplap
