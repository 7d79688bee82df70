// The times of zero-copy kernels, alone and concurrent with copies. They come from measurements of the kernel itself,
// or else from the link's tables of kernels that only access host memory.
#pragma once

#include <cstdint>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/compute.hpp"
#include "shiplap/sim/sim_parameters.hpp"

namespace shiplap::sim {

/// The times of one kernel, in seconds.
struct ZeroCopyTimes {
  double alone = 0;              ///< time of the kernel while no copy moves
  double beside[2] = {};         ///< time of the kernel while copies move: [0] D2H, [1] H2D
  double bytes[2] = {};          ///< bytes over the link: [0] to the host, [1] to the GPU
  double copies_beside = 1;      ///< factor by which the time per byte of copies grows meanwhile
  double copy_per_byte[2] = {};  ///< least time per byte of copies meanwhile: [0] D2H, [1] H2D
  AddedBesideKernels added{};    ///< added to the kernel concurrent with other kernels
  KernelSlowdown slows{};        ///< added to other kernels meanwhile
};
/// Returns the measured times of the kernel where it has them. Otherwise the time is that of its work or that of its
/// bytes on the link, whichever is longer. Throws Unsupported when the profile has no zero-copy figures for the link.
ZeroCopyTimes zero_copy_times(const Schedule&, const Kernel&, std::uint16_t gpu, const SimParameters&);

}  // namespace shiplap::sim
