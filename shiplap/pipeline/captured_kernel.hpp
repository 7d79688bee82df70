// What a GPU tells of a kernel before it has run: whether a stream can capture it, and how many launches it is.
#pragma once

#include "shiplap/device/device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The job with what captures of its kernel show: `launches`, `launches_per_item`, and `cost.resident_blocks` where it
/// is 0. The kernel is captured for one item, for 64, and for an eighth of the items, or for fewer where that would be
/// more than 4096 launches or half of the device memory. Where the launches are on a line through the first and the
/// last count, the line is what holds; otherwise every chunk counts as the most launches that were seen. Nothing is
/// run. On a virtual device the job stays as it is. Throws Error when the kernel does more than enqueue work,
/// Unsupported when the device cannot capture.
Job as_captured(Device&, Job, const Limits&);

}  // namespace shiplap
