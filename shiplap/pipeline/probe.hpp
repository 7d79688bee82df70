// Measures what the kernel of a job takes: the only thing of a job that may be measured before it is planned.
#pragma once

#include <memory>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// One launch of a kernel that does nothing: what timing a kernel sees beside the kernel.
std::unique_ptr<Execution> prepare_empty_launch(MeasurableDevice&);

/// Limits of the measurement of a kernel.
struct ProbeOptions {
  unsigned repeats = 7;  ///< timed repetitions of each launch on resident data
  /// GPU time of the zero-copy launches beyond two of each kind; 0: zero-copy is not measured.
  Seconds zero_copy{milliseconds(20)};
};

/// Kernel time on resident data, event-timed, median of `repeats`, its launch latency measured beside it and taken off.
/// Of a kernel that takes any grid at up to 3 sizes: a block for each SM, one wave of blocks, and the whole
/// job or what fits, at one of them with few blocks too. Of others an eighth and the whole. A kernel that goes over its
/// data in several launches is measured at what the L2 cache keeps from one to the next instead of the middle size.
/// Unless the job says that the kernel touches bytes repeatedly, zero-copy launches over pinned arrays are measured
/// too: see probe_zero_copy. Outputs may be written (see there), nothing else is.
KernelCost probe_kernel(MeasurableDevice&, const Job&, const Limits&, const ProbeOptions& = {});

}  // namespace shiplap
