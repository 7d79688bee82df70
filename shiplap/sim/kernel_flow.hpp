// What a kernel moves over the link by its own accesses to host memory, and what it and copies leave each other: as it
// was measured of the kernel itself, or else from the link's tables of kernels that do nothing but move bytes.
#pragma once

#include <cstdint>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/machine.hpp"

namespace shiplap::sim {

/// What the simulator asks of a kernel with flows.
struct KernelFlowTimes {
  double alone = 0;              ///< seconds while no copy moves
  double beside[2] = {};         ///< seconds while copies move: [0] from the GPU, [1] to it
  double copies_beside = 1;      ///< how many times as long as otherwise a byte of a copy takes meanwhile
  double copy_per_byte[2] = {};  ///< the least time in seconds that a byte of a copy takes, [1] of one to the GPU
};
/// Measured times as they are. Else a kernel takes as long as its bytes take on the link with so much under way, or as
/// its work, whichever is longer. Throws Unsupported when the machine has no figures for the link.
KernelFlowTimes kernel_flow_times(const Schedule&, const Kernel&, std::uint16_t gpu, const Machine&);

}  // namespace shiplap::sim
