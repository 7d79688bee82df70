// Profiles that differ from a given one in one respect: parameters moved to the ends of their intervals (for ranges)
// and causes of lost time taken out (for the distance to the bound).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Parameters that are uncertain together because they were measured together.
enum class ParameterGroup : std::uint8_t { rates, gaps, latencies, submission };
inline constexpr std::array parameter_groups{ParameterGroup::rates, ParameterGroup::gaps, ParameterGroup::latencies,
                                             ParameterGroup::submission};

/// Which end of the interval: `low` is the fast one.
enum class End : std::uint8_t { low, high };
Profile moved(const Profile&, ParameterGroup, End);

/// `duplex_gap`: what the gap is more under duplex load than alone. `host`: what host threads copy and fault,
/// and what pageable copies and moving pages take longer than page-locked copies.
enum class Cause : std::uint8_t { host, submission, duplex_gap, gap, latency };
Profile freed_of(const Profile&, Cause);

/// What a prediction of copies, kernels and zero-copy depends on besides the kernel's own time, for elasticities. The
/// latency of device memory is none of them: it says which part of a kernel's time another memory would save.
enum class CostTerm : std::uint8_t {
  h2d_rate,  ///< time per byte of copies to the GPU, alone and beside the other direction
  d2h_rate,
  zero_copy_rate,  ///< of kernels that access host memory, and of the copies beside them
  gaps,
  latencies,
  submission,
  host,  ///< copies and faults by host threads, pageable copies, prefetches
};
inline constexpr std::array cost_terms{CostTerm::h2d_rate, CostTerm::d2h_rate,  CostTerm::zero_copy_rate,
                                       CostTerm::gaps,     CostTerm::latencies, CostTerm::submission,
                                       CostTerm::host};
/// "H2D copies, per byte", "gaps between ops (g)".
std::string to_string(CostTerm);
/// The profile with the times of that term multiplied by `factor` (rates divided).
Profile slowed(const Profile&, CostTerm, double factor);

}  // namespace shiplap
