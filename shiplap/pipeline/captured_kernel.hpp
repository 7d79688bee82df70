// Captures the kernel of a job before it has run: whether a stream can capture it, and how many launches it makes.
#pragma once

#include "shiplap/device/device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The job with what captures of its kernel show: `launches`, `launches_per_item`, and `cost.resident_blocks` where it
/// is 0. The kernel is captured for one item, for 64, and for an eighth of the items (for fewer when that would need
/// more than 4096 launches or half of the device memory). When all counts are on the line through the first and the
/// last one, `launches` and `launches_per_item` are those of the line. Otherwise `launches` is the largest count.
/// Nothing is run. On a virtual device, and when the kernel is not capturable, the job is returned unchanged. Throws
/// Error when the kernel does more than enqueue work, Unsupported when the device cannot capture.
Job as_captured(Device&, Job, const Limits&);

}  // namespace shiplap
