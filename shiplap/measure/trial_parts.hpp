// Helpers that trials of several files share: bursts of copies, kernels that can be launched many times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shiplap/device/host_work.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Bytes per load of a pointer chase: one address.
constexpr Bytes chase_read_size = 8_B;

/// An op that a host agent performs itself.
inline Op by_agent(AgentId agent, auto what, std::vector<OpId> after = {}, std::uint32_t chunk = 0) {
  return {.what = std::move(what), .stream = {}, .agent = agent, .after = std::move(after), .chunk = chunk};
}

inline Op on_stream(StreamId stream, auto what, std::uint32_t chunk = 0, std::vector<OpId> after = {}) {
  return {.what = std::move(what), .stream = stream, .after = std::move(after), .chunk = chunk};
}

inline BufferId add_on_host(Trial& trial, std::string name, MemoryKind kind, Bytes size) {
  return trial.schedule.add_buffer({.name = std::move(name), .place = Place::host(), .memory = kind, .size = size});
}
inline BufferId add_on_gpu(Trial& trial, std::string name, Bytes size, std::uint16_t gpu = 0,
                           MemoryKind kind = MemoryKind::device) {
  return trial.schedule.add_buffer({.name = std::move(name), .place = Place::gpu(gpu), .memory = kind, .size = size});
}

/// Adds a page of host memory for a host thread that touches it.
inline Region add_touched_page(Trial& trial) {
  const Bytes page{page_size()};
  trial.kept.push_back(add_on_host(trial, "a page", MemoryKind::pageable, page));
  return {trial.kept.back(), Bytes{0}, page};
}
inline Op touch_by_agent(Region region, std::vector<OpId> after, std::uint32_t chunk, AgentId agent = {0}) {
  return by_agent(agent, HostCall{.kind = HostCall::Kind::touch, .region = region}, std::move(after), chunk);
}

/// A schedule on the same buffers, without ops.
inline Schedule on_same_buffers(const Schedule& schedule) {
  Schedule other;
  other.buffers = schedule.buffers;
  other.lists = schedule.lists;
  return other;
}

/// Moves managed memory to where the trial needs it before each run. `after_run` is its place after the previous run.
inline void bring_back(Trial& trial, const auto& after_run) {
  Schedule before = on_same_buffers(trial.schedule);
  const StreamId stream = before.add_stream("bring back");
  for (std::uint32_t b = 0; b < before.buffers.size(); ++b) {
    Buffer& buffer = before.buffers[b];
    if (buffer.memory != MemoryKind::managed) continue;
    before.add(on_stream(stream, Prefetch{.region = {BufferId{b}, Bytes{0}, buffer.size}, .to = buffer.place}));
    buffer.place = after_run(buffer.place);
  }
  trial.before = std::move(before);
}

/// The two buffers of a copy.
struct Ends {
  BufferId from;
  BufferId to;
};

/// Copy `number` of a burst, with its own region in both buffers.
inline Op copy_op(Ends ends, StreamId stream, Bytes size, std::uint32_t number) {
  const Bytes offset = size * number;
  return on_stream(stream, Copy{.from = {ends.from, offset, size}, .to = {ends.to, offset, size}}, number);
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

/// Adds a kernel that works on no memory, or streams memory of its own on the GPU.
inline Kernel add_working_kernel(Trial& trial, MeasurableDevice& device, ProbeKind kind, std::uint64_t blocks,
                                 double amount) {
  constexpr std::array names{"empty", "spin", "stream", "multiply-add", "map", "touch", "chase", "strided", "random"};
  Kernel kernel =
      add_kernel(trial, names.at(static_cast<std::size_t>(kind)), device.probe_kernel(kind, blocks, amount));
  if (kind == ProbeKind::stream) {
    const Bytes size{static_cast<std::uint64_t>(amount)};
    kernel.operands = {{{add_on_gpu(trial, "device data", size), Bytes{0}, size}, AccessMode::write}};
  }
  return kernel;
}

/// Blocks of a kernel that touches pages, as in Comm|Scope's test of demand paging (Pearson et al. 2019).
constexpr std::uint64_t touching_blocks = 256;

/// Adds a kernel to the trial that touches every page of a buffer.
inline Kernel add_touching_kernel(Trial& trial, MeasurableDevice& device, BufferId buffer, Bytes size,
                                  std::uint64_t blocks = touching_blocks) {
  Kernel touch =
      add_kernel(trial, "touch", device.probe_kernel(ProbeKind::touch, blocks, static_cast<double>(page_size())));
  touch.operands = {{{buffer, Bytes{0}, size}, AccessMode::write}};
  return touch;
}

}  // namespace shiplap
