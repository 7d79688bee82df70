// The times of the three stages of a job.
#pragma once

#include "shiplap/core/units.hpp"

namespace shiplap {

/// The total times of the three stages over all chunks, which the papers call t_Thd, t_E and t_Tdh.
struct StageTimes {
  Seconds h2d{0};     ///< t_Thd: copies to the GPU
  Seconds kernel{0};  ///< t_E: kernels
  Seconds d2h{0};     ///< t_Tdh: copies to the host

  /// t_T: the time of all copies when nothing overlaps.
  constexpr Seconds transfers() const { return h2d + d2h; }
  /// The time of all stages when nothing overlaps.
  constexpr Seconds total() const { return h2d + kernel + d2h; }
};

}  // namespace shiplap
