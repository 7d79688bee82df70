// The states of a link: how many bytes per second cross it in each direction while copies, zero-copy kernels or both
// are in flight. The least time of a mixture of states is the link's part of the lower bound (bound.hpp).
#pragma once

#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Rates of both directions at the same time, in bytes per second.
struct LinkState {
  double in = 0;   ///< to the GPU
  double out = 0;  ///< to the host
};

/// The bytes of a job that cross a link.
struct LinkBytes {
  double in = 0;       ///< to the GPU
  double out = 0;      ///< to the host
  double inputs = 0;   ///< of them, those of `in` arrays
  double inouts = 0;   ///< of them, those of `inout` arrays, in each direction
  double outputs = 0;  ///< of them, those of `out` arrays
};

/// A zero-copy launch over all items as it was measured of the job's kernel, in seconds at the fast end.
struct MeasuredZeroCopy {
  bool in = false;           ///< whether the `in` arrays are in host memory
  bool out = false;          ///< whether the `out` and `inout` arrays are in host memory
  double alone = 0;          ///< time while no copy moves
  double beside = 0;         ///< time while the remaining arrays are copied
  double copies_beside = 1;  ///< factor by which these copies take longer
};

/// Which states a job can bring the link into.
struct LinkUse {
  bool two_engines = true;  ///< whether copies of both directions can move at once
  bool pageable = false;    ///< whether an array is pageable
  bool managed = false;     ///< whether an array is in managed memory
};

/// All states of the link, each with the fast end of its rates.
std::vector<LinkState> link_states(const LinkModel&, const LinkUse&, const LinkBytes&,
                                   const std::vector<MeasuredZeroCopy>&);

/// The shortest time in which a mixture of the states moves the bytes of both directions; 0 without bytes.
Seconds least_time(const LinkBytes&, const std::vector<LinkState>&);

/// The least latency (L+o) of a copy of any size in either direction, at the fast end.
Seconds least_latency(const LinkModel&);

}  // namespace shiplap
