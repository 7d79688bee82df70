// A kernel that runs on the GPU while blocks move.
#pragma once

#include "shiplap/core/units.hpp"

namespace shiplap {

/// A kernel that fills the GPU concurrent with a mover.
struct Neighbour {
  /// How far the bandwidth of device memory limits the kernel, from 0 (the kernel only computes) to 1.
  double memory_bound = 1;
  /// Time of one of its thread blocks. The kernel of a mover waits until thread blocks of the neighbour end and SMs
  /// become free.
  Seconds thread_block{10e-6};
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

}  // namespace shiplap
