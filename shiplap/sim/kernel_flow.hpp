// What a kernel moves over the link by its own accesses to host memory, and what it and copies leave each other.
#pragma once

#include <cstdint>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/machine.hpp"

namespace shiplap::sim {

struct KernelFlow {
  const ZeroCopyModel* link = nullptr;
  /// One way. Accesses of a thread to several buffers wait for none of each other: what is under way of them adds up.
  struct Way {
    double bytes = 0;
    double in_flight = 0;  ///< bytes under way at once at most
    double busy = 0;       ///< bytes under way that keep the GPU busy
    friend bool operator==(const Way&, const Way&) = default;
  };
  Way reads;
  Way writes;
  double work = 0;              ///< seconds with its data in device memory, and with the GPU and the link to itself
  double thread_work = 0;       ///< what of it a thread takes for its own share, one access after the other
  double accesses_ahead = 0;    ///< in a row, of threads that work on what they have while the next is under way
  double accesses_in_turn = 1;  ///< of a thread, until it has the first of its data
  double memory_latency = 0;    ///< of an access to device memory, which `thread_work` has for each
  double exponent = 1;          ///< of the superellipse on which its rates lie while it moves bytes both ways
  double accessed = 0;          ///< bytes of host memory that kernels of its schedule access on its GPU
  friend bool operator==(const KernelFlow&, const KernelFlow&) = default;
};

/// Bytes of host memory that the kernels of a schedule on this GPU access, however often.
double accessed_by_kernels(const Schedule&, std::uint16_t gpu);
/// Of a kernel with flows. Throws Unsupported when the machine has no figures for them.
KernelFlow kernel_flow(const Schedule&, const Kernel&, std::uint16_t gpu, const Machine&, double accessed);

/// What the simulator asks of it.
struct KernelFlowTimes {
  /// Seconds while no copy moves, [1][0] while one to the device does, [0][1] from it, [1][1] both: as long as its
  /// bytes take on the link, or as its work takes with the transfers that the work does not hide, whichever is longer.
  double duration[2][2] = {};
  /// Seconds that it takes longer while copies to the device move.
  double end_beside_h2d = 0;
  /// The least time in seconds that a byte of a copy takes beside it, [1] of a copy to the device.
  double copy_per_byte[2] = {};
  /// The least time in seconds between two copies beside it, likewise: what starts a copy is read from host memory, and
  /// comes behind the bytes that the kernel has under way.
  double copy_gap[2] = {};
};
KernelFlowTimes times(const KernelFlow&);

}  // namespace shiplap::sim
