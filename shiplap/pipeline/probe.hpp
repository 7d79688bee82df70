// Measures the kernel of a job on resident data and with zero-copy, so that the job can be planned.
#pragma once

#include <memory>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Prepares one launch of a kernel that does nothing. Its time is the launch latency, which timed launches contain.
std::unique_ptr<Execution> prepare_empty_launch(MeasurableDevice&);

/// Limits of the measurement of a kernel.
struct ProbeOptions {
  unsigned repeats = 7;  ///< timed repetitions of each launch on resident data
  /// GPU time of the zero-copy launches beyond two of each kind; 0: zero-copy is not measured.
  Seconds zero_copy{milliseconds(20)};
};

/// Measures the kernel on resident data. Times are by events, medians of `repeats`, without the launch latency, which
/// is measured between the launches.
///
/// A kernel that takes any grid is measured at up to three sizes: a thread block for each SM, one wave of thread
/// blocks, and the whole job or the part that fits. One wave is measured with few thread blocks too. Other kernels are
/// measured at an eighth of the job and at the whole. For a kernel that goes over its data in several launches, the
/// middle size is that whose data stay in the L2 cache from one launch to the next.
///
/// Unless the job says that the kernel touches bytes repeatedly, zero-copy launches over pinned arrays are measured too
/// (see probe_zero_copy). All arrays have the same content afterwards. Captures the kernel first unless
/// `cost.resident_blocks` is known (see as_captured).
KernelCost probe_kernel(MeasurableDevice&, const Job&, const Limits&, const ProbeOptions& = {});

}  // namespace shiplap
