// The times of zero-copy kernels, alone and beside copies: as they were measured of the kernel itself, or else from the
// link's tables of kernels that do nothing but access host memory.
#pragma once

#include <cstdint>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/machine.hpp"

namespace shiplap::sim {

/// The times of one kernel, in seconds.
struct ZeroCopyTimes {
  double alone = 0;              ///< of the kernel, while no copy moves
  double beside[2] = {};         ///< of the kernel, while copies move: [0] from the GPU, [1] to it
  double copies_beside = 1;      ///< factor on the time per byte of copies while the kernel runs
  double copy_per_byte[2] = {};  ///< least time per byte of copies meanwhile: [0] from the GPU, [1] to it
};
/// Measured times are used as they are. Without them a kernel takes the time of its bytes on the link at its bytes in
/// flight, or the time of its work, whichever is longer. Throws Unsupported when the machine has no figures for the
/// link.
ZeroCopyTimes zero_copy_times(const Schedule&, const Kernel&, std::uint16_t gpu, const Machine&);

}  // namespace shiplap::sim
