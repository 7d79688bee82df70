// Measures what the kernel of a job takes when it accesses page-locked arrays where they are.
#pragma once

#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Of every set of arrays that a strategy leaves in host memory (inputs, outputs, both), launches of three sizes: over
/// slices of about 32, 8 and 2 MiB from all over the job, or the whole of a smaller one, a quarter and a sixteenth of
/// it: alone, and where copies of the other arrays would move beside them, both the launches and such copies. With the
/// kernel's own grid and, where it does its work with any grid, with a block for every fourth and every twelfth
/// multiprocessor. What is clearly slower than copying is not looked into further. Event-timed, medians, the launch
/// latency taken off. Each kind of launch is timed once at least; when `budget` of GPU time is spent, no more often.
/// Inputs are read where they are, and outputs written there: what they hold afterwards is undefined, as before a run.
/// Arrays that go in and come back are not touched. `job.cost` has the times on resident data. Empty for a job whose
/// kernel is not to access host memory, and for arrays that are not page-locked.
std::vector<KernelCost::ZeroCopy> probe_zero_copy(Device&, const Job&, const Limits&, Seconds budget);

}  // namespace shiplap
