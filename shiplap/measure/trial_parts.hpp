// What the trials are put together from: bursts of copies, kernels that can be launched many times.
#pragma once

#include <string>

#include "shiplap/device/host_work.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// The two buffers of a copy.
struct Ends {
  BufferId from;
  BufferId to;
};

/// Copy `number` of a burst: it has a place of its own in both buffers.
inline Op copy_op(Ends ends, QueueId queue, Bytes size, std::uint32_t number) {
  const Bytes offset = size * number;
  return {.what = Copy{.from = {ends.from, offset, size}, .to = {ends.to, offset, size}},
          .queue = queue,
          .after = {},
          .chunk = number};
}

inline void add_burst(Trial& trial, Ends ends, QueueId queue, Bytes size, std::uint32_t copies) {
  for (std::uint32_t i = 0; i < copies; ++i) trial.schedule.add(copy_op(ends, queue, size, i));
}

/// A kernel of the trial that can be launched many times.
inline Kernel add_kernel(Trial& trial, std::string name, const ProbeKernel& kernel) {
  trial.kernels.push_back(kernel.binding);
  return {.kernel = trial.schedule.add_kernel(std::move(name)),
          .first_item = 0,
          .items = 1,
          .work = kernel.work,
          .blocks = kernel.blocks,
          .resident_blocks = kernel.resident_blocks,
          .full_rate_blocks = kernel.resident_blocks,
          .operands = {},
          .flows = {}};
}

/// One that touches every page of a buffer; in 256 blocks of 256 threads as in Comm|Scope (Pearson et al. 2019).
inline Kernel add_touching_kernel(Trial& trial, MeasurableDevice& device, BufferId buffer, Bytes size,
                                  std::uint64_t blocks = 256) {
  Kernel touch = add_kernel(trial, "touch",
                            device.probe_kernel(ProbeKernel::Kind::touch, blocks, static_cast<double>(page_size())));
  touch.operands = {{{buffer, Bytes{0}, size}, AccessMode::write}};
  return touch;
}

}  // namespace shiplap
