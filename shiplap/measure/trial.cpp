#include "shiplap/measure/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace shiplap {
namespace {

struct Ends {
  BufferId from;
  BufferId to;
};

Ends add_ends(Trial& trial, CopyDirection way, Bytes size) {
  const bool to_device = way == CopyDirection::host_to_device;
  const Buffer host{.name = to_device ? "host source" : "host destination",
                    .place = Place::host(0),
                    .memory = MemoryKind::pinned,
                    .size = size};
  const Buffer device{.name = to_device ? "device destination" : "device source",
                      .place = Place::gpu(0),
                      .memory = MemoryKind::device,
                      .size = size};
  const BufferId from = trial.schedule.add_buffer(to_device ? host : device);
  const BufferId to = trial.schedule.add_buffer(to_device ? device : host);
  trial.transfers.push_back({from, to, size});
  return {from, to};
}

Op copy_op(Ends ends, QueueId queue, Bytes size, std::uint32_t number) {
  const Bytes offset = size * number;
  return {.what = Copy{.from = {ends.from, offset, size}, .to = {ends.to, offset, size}},
          .queue = queue,
          .after = {},
          .chunk = number};
}

/// A kernel of the trial that can be launched many times.
struct Launchable {
  KernelId id;
  Kernel op;
};

Launchable add_kernel(Trial& trial, std::string_view name, const ProbeKernel& kernel) {
  const KernelId id = trial.schedule.add_kernel(std::string(name));
  trial.kernels.push_back(kernel.binding);
  return {id,
          {.kernel = id,
           .first_item = 0,
           .items = 1,
           .work = kernel.work,
           .blocks = kernel.blocks,
           .resident_blocks = kernel.resident_blocks,
           .operands = {},
           .flows = {}}};
}

Launchable add_empty_kernel(Trial& trial, Device& device) {
  return add_kernel(trial, "empty", device.probe_kernel(ProbeKernel::Kind::empty, 1, 0));
}

}  // namespace

Trial copy_burst(CopyDirection way, Bytes size, unsigned copies) {
  Trial trial;
  const Ends ends = add_ends(trial, way, size * copies);
  const QueueId queue = trial.schedule.add_queue("copies");
  for (unsigned i = 0; i < copies; ++i) trial.schedule.add(copy_op(ends, queue, size, i));
  return trial;
}

Trial queues_burst(Bytes size, unsigned copies, unsigned queues) {
  Trial trial;
  for (const CopyDirection way : {CopyDirection::host_to_device, CopyDirection::device_to_host}) {
    const Ends ends = add_ends(trial, way, size * copies);
    std::vector<QueueId> dealt;
    for (unsigned q = 0; q < queues; ++q) dealt.push_back(trial.schedule.add_queue(fmt::format("queue {}", q)));
    for (unsigned i = 0; i < copies; ++i) trial.schedule.add(copy_op(ends, dealt[i % queues], size, i));
  }
  return trial;
}

Trial duplex_burst(Bytes size, unsigned to_device, unsigned to_host) {
  Trial trial;
  const Ends in = add_ends(trial, CopyDirection::host_to_device, size * to_device);
  const Ends out = add_ends(trial, CopyDirection::device_to_host, size * to_host);
  const QueueId in_queue = trial.schedule.add_queue("to device");
  const QueueId out_queue = trial.schedule.add_queue("to host");
  for (unsigned i = 0; i < std::max(to_device, to_host); ++i) {
    if (i < to_device) trial.schedule.add(copy_op(in, in_queue, size, i));
    if (i < to_host) trial.schedule.add(copy_op(out, out_queue, size, i));
  }
  return trial;
}

Trial kernel_row(Device& device, unsigned count) {
  Trial trial;
  const Launchable empty = add_empty_kernel(trial, device);
  const QueueId queue = trial.schedule.add_queue("kernels");
  for (unsigned i = 0; i < count; ++i) trial.schedule.add({.what = empty.op, .queue = queue, .after = {}, .chunk = i});
  return trial;
}

Trial followers(Device& device, unsigned launches, unsigned followers) {
  Trial trial;
  const Launchable empty = add_empty_kernel(trial, device);
  const QueueId leader = trial.schedule.add_queue("leader");
  std::vector<QueueId> queues;
  for (unsigned f = 0; f < followers; ++f) queues.push_back(trial.schedule.add_queue(fmt::format("follower {}", f)));
  for (unsigned i = 0; i < launches; ++i) {
    const OpId first = trial.schedule.add({.what = empty.op, .queue = leader, .after = {}, .chunk = i});
    for (const QueueId queue : queues)
      trial.schedule.add({.what = empty.op, .queue = queue, .after = {first}, .chunk = i});
  }
  return trial;
}

Trial handoff(Device& device, unsigned pairs, bool two_queues) {
  Trial trial;
  const Launchable empty = add_empty_kernel(trial, device);
  const Ends ends = add_ends(trial, CopyDirection::host_to_device, Bytes{pairs});
  const QueueId copies = trial.schedule.add_queue("copies");
  const QueueId kernels = two_queues ? trial.schedule.add_queue("kernels") : copies;
  std::vector<OpId> before;
  for (unsigned i = 0; i < pairs; ++i) {
    Op copy = copy_op(ends, copies, Bytes{1}, i);
    copy.after = before;
    before = {trial.schedule.add(copy)};
    before = {trial.schedule.add({.what = empty.op, .queue = kernels, .after = before, .chunk = i})};
  }
  return trial;
}

Trial single_kernel(Device& device, ProbeKernel::Kind kind, std::uint64_t blocks, double amount) {
  constexpr std::array names{"empty", "spin", "stream", "multiply-add"};
  Trial trial;
  Launchable kernel =
      add_kernel(trial, names.at(static_cast<std::size_t>(kind)), device.probe_kernel(kind, blocks, amount));
  if (kind == ProbeKernel::Kind::stream) {
    const Bytes size{static_cast<std::uint64_t>(amount)};
    const BufferId data = trial.schedule.add_buffer(
        {.name = "device data", .place = Place::gpu(0), .memory = MemoryKind::device, .size = size});
    kernel.op.operands.push_back({.region = {data, Bytes{0}, size}, .mode = AccessMode::write});
  }
  trial.schedule.add({.what = kernel.op, .queue = trial.schedule.add_queue("kernels"), .after = {}});
  return trial;
}

}  // namespace shiplap
