// Measures what the kernel of a job takes: the only thing of a job that may be measured before it is planned.
#pragma once

#include <memory>

#include "shiplap/device/device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// One launch of a kernel that does nothing: what timing a kernel sees beside the kernel.
std::unique_ptr<Execution> prepare_empty_launch(Device&);

/// Kernel time on resident data, event-timed, median of `repeats`, its launch latency measured beside it and taken off.
/// Of a kernel that takes any grid at up to 3 sizes: a block for each multiprocessor, one wave of blocks, and the whole
/// job or what fits, at one of them with few blocks too. Of others an eighth and the whole. A kernel that goes over its
/// data in several launches is measured at what the L2 cache keeps from one to the next instead of the middle size. The
/// arrays are read, and nothing of them is written.
KernelCost probe_kernel(Device&, const Job&, const Limits&, unsigned repeats = 7);

}  // namespace shiplap
