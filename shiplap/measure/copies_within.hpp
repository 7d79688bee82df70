// Copies of one GPU during a period that several processes agree on, so that all GPUs of a node copy at once.
#pragma once

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// A period on the host's clock (`steady_time`).
struct Period {
  Seconds begin{0};
  Seconds end{0};
};

/// The rate at which a GPU copies to or from pinned memory during a period. It copies from shortly before to shortly
/// after, so that others who copy during the same period have this load all the time. Bursts of 256 MiB follow each
/// other, and one that reaches over an end of the period counts in proportion. Throws Error when the period has begun
/// before the GPU copied, or when bytes did not arrive; Unsupported for a simulated device, whose time is not the
/// host's.
Bandwidth copy_rate_within(MeasurableDevice&, CopyDirection, const Period&);

}  // namespace shiplap
