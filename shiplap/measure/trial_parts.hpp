// Helpers that trials of several files share: bursts of copies, kernels that can be launched many times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shiplap/device/host_work.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Bytes per load of a pointer chase: one address.
constexpr Bytes chase_read_size = 8_B;

/// An op that a host agent performs itself.
inline Op by_agent(AgentId agent, auto what, std::vector<OpId> after = {}, std::uint32_t chunk = 0) {
  return {.what = std::move(what), .stream = {}, .agent = agent, .after = std::move(after), .chunk = chunk};
}

/// The two buffers of a copy.
struct Ends {
  BufferId from;
  BufferId to;
};

/// Copy `number` of a burst, with its own region in both buffers.
inline Op copy_op(Ends ends, StreamId stream, Bytes size, std::uint32_t number) {
  const Bytes offset = size * number;
  return {.what = Copy{.from = {ends.from, offset, size}, .to = {ends.to, offset, size}},
          .stream = stream,
          .after = {},
          .chunk = number};
}

inline void add_burst(Trial& trial, Ends ends, StreamId stream, Bytes size, std::uint32_t copies) {
  for (std::uint32_t i = 0; i < copies; ++i) trial.schedule.add(copy_op(ends, stream, size, i));
}

/// Adds a kernel to the trial that can be launched many times.
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

/// Blocks of a kernel that touches pages, as in Comm|Scope's test of demand paging (Pearson et al. 2019).
constexpr std::uint64_t touching_blocks = 256;

/// Adds a kernel to the trial that touches every page of a buffer.
inline Kernel add_touching_kernel(Trial& trial, MeasurableDevice& device, BufferId buffer, Bytes size,
                                  std::uint64_t blocks = touching_blocks) {
  Kernel touch = add_kernel(trial, "touch",
                            device.probe_kernel(ProbeKernel::Kind::touch, blocks, static_cast<double>(page_size())));
  touch.operands = {{{buffer, Bytes{0}, size}, AccessMode::write}};
  return touch;
}

}  // namespace shiplap
