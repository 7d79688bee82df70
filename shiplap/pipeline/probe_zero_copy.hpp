// Measures the kernel of a job with zero-copy: the kernel accesses pinned arrays in host memory.
#pragma once

#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Measures three modes: inputs, outputs or both in host memory. Each mode is launched over chunks of about 32, 8 and
/// 2 MiB from all over the job (of a smaller job: the whole, a quarter and a sixteenth), alone and concurrent with
/// copies of the remaining arrays. The slow-down of these copies is measured too. The grids are the kernel's own and,
/// if the kernel takes any grid, SMs/4 and SMs/12 blocks. When a limited grid takes more than twice the time of
/// copying, smaller grids of its mode are not measured. Times are medians by events without the launch latency.
///
/// Every kind of launch runs at least twice; `budget` limits the GPU time of further repetitions. The kernel reads
/// inputs in place. It writes `out` arrays in place, at a few positions that get their content back afterwards; the
/// copies take at most 350 MiB of host memory for the largest array. `inout` arrays are not written. `job.cost` must
/// hold the times on resident data. Returns no rows for jobs without zero-copy and for arrays that are not pinned.
/// Throws Error when memory is short.
std::vector<KernelCost::ZeroCopy> probe_zero_copy(MeasurableDevice&, const Job&, const Limits&, Seconds budget);

}  // namespace shiplap
