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
  double inputs = 0;   ///< bytes of `in` arrays, which are part of `in`
  double inouts = 0;   ///< bytes of `inout` arrays, which are part of `in` and of `out`
  double outputs = 0;  ///< bytes of `out` arrays, which are part of `out`
};

/// A measured zero-copy launch of the job's kernel over all items, in seconds at the fast end.
struct MeasuredZeroCopy {
  bool in = false;           ///< whether the `in` arrays are in host memory
  bool out = false;          ///< whether the `out` and `inout` arrays are in host memory
  double alone = 0;          ///< time while no copy moves
  double beside = 0;         ///< time while the remaining arrays are copied
  double copies_beside = 1;  ///< factor by which these copies take longer
};

/// The facts that decide which states of the link a job can use.
struct LinkUse {
  bool two_engines = true;  ///< whether the GPU has a copy engine for each direction
  bool pageable = false;    ///< whether an array is pageable
  bool managed = false;     ///< whether an array is in managed memory
};

/// All states of the link, each with the fast end of its rates.
std::vector<LinkState> link_states(const LinkModel&, const LinkUse&, const LinkBytes&,
                                   const std::vector<MeasuredZeroCopy>&);

/// The shortest time in which a mixture of the states moves the bytes of both directions; 0 without bytes.
Seconds least_time(const LinkBytes&, const std::vector<LinkState>&);

}  // namespace shiplap
