#include "shiplap/measure/peer_trial.hpp"

#include <fmt/format.h>

#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {
namespace {

BufferId on_gpu(Trial& trial, std::string name, std::uint16_t gpu, Bytes size, MemoryKind kind = MemoryKind::device) {
  return trial.schedule.add_buffer({.name = std::move(name), .place = Place::gpu(gpu), .memory = kind, .size = size});
}

void add_copies(Trial& trial, Ends ends, QueueId queue, Bytes size, unsigned copies) {
  trial.transfers.push_back({ends.from, ends.to, size * copies});
  add_burst(trial, ends, queue, size, copies);
}

}  // namespace

Trial peer_copies(const PeerCopies& wanted) {
  Trial trial;
  trial.schedule.peer_access = wanted.access;
  const auto way = [&](std::uint16_t from, std::uint16_t to) {
    const BufferId source = on_gpu(trial, fmt::format("source on GPU {}", from), from, wanted.size * wanted.copies);
    const BufferId destination =
        on_gpu(trial, fmt::format("destination on GPU {}", to), to, wanted.size * wanted.copies);
    const QueueId queue = trial.schedule.add_queue(fmt::format("from GPU {}", from), Place::gpu(from));
    add_copies(trial, {source, destination}, queue, wanted.size, wanted.copies);
  };
  way(wanted.from, wanted.to);
  if (wanted.both) way(wanted.to, wanted.from);
  return trial;
}

Trial peer_kernels(Device& device, AccessMode mode, Bytes size, unsigned kernels, std::uint64_t blocks) {
  constexpr std::uint32_t width = 16;
  const bool reads = mode == AccessMode::read;
  Trial trial;
  const BufferId from = on_gpu(trial, "kernel's source", reads ? 1 : 0, size);
  const BufferId to = on_gpu(trial, "kernel's destination", reads ? 0 : 1, size);
  trial.transfers.push_back({from, to, size});
  Kernel map = add_kernel(trial, "map", device.probe_kernel(ProbeKernel::Kind::map, blocks, width));
  map.operands = {{{from, Bytes{0}, size}, AccessMode::read}, {{to, Bytes{0}, size}, AccessMode::write}};
  map.flows = {{.buffer = reads ? from : to,
                .mode = mode,
                .bytes = size,
                .access_width = width,
                .in_flight = Bytes{map_probe_threads} * width * std::min(map.blocks, map.resident_blocks)}};
  const QueueId queue = trial.schedule.add_queue("kernels");
  for (std::uint32_t i = 0; i < kernels; ++i)
    trial.schedule.add({.what = map, .queue = queue, .after = {}, .chunk = i});
  return trial;
}

Trial peer_chase(Device& device, Bytes footprint, unsigned reads) {
  constexpr std::uint32_t width = 8;
  Trial trial;
  const BufferId buffer = on_gpu(trial, "what is read", 1, footprint);
  trial.kept.push_back(buffer);
  Kernel chase = add_kernel(trial, "chase", device.probe_kernel(ProbeKernel::Kind::chase, 1, reads));
  chase.operands = {{{buffer, Bytes{0}, footprint}, AccessMode::read}};
  chase.flows = {{.buffer = buffer, .bytes = Bytes{width} * reads, .access_width = width, .in_flight = Bytes{width}}};
  trial.schedule.add({.what = chase, .queue = trial.schedule.add_queue("kernel"), .after = {}});
  return trial;
}

Trial all_copies(const AllCopies& wanted) {
  Trial trial;
  const Bytes all = wanted.size * wanted.copies;
  for (std::uint16_t gpu = 0; gpu < wanted.gpus; ++gpu) {
    const auto host = [&](const char* role) {
      return trial.schedule.add_buffer({.name = fmt::format("host {} for GPU {}", role, gpu),
                                        .place = Place::host(0),
                                        .memory = MemoryKind::pinned,
                                        .size = all});
    };
    if (wanted.to_device)
      add_copies(trial, {host("source"), on_gpu(trial, fmt::format("destination on GPU {}", gpu), gpu, all)},
                 trial.schedule.add_queue(fmt::format("to GPU {}", gpu), Place::gpu(gpu)), wanted.size, wanted.copies);
    if (wanted.from_device)
      add_copies(trial, {on_gpu(trial, fmt::format("source on GPU {}", gpu), gpu, all), host("destination")},
                 trial.schedule.add_queue(fmt::format("from GPU {}", gpu), Place::gpu(gpu)), wanted.size,
                 wanted.copies);
  }
  return trial;
}

Trial managed_to_peer(Device& device, Bytes size, bool on_demand) {
  Trial trial;
  const BufferId buffer = on_gpu(trial, "managed, on GPU 0", 0, size, MemoryKind::managed);
  trial.kept.push_back(buffer);
  Schedule before = trial.schedule;
  before.buffers.front().place = Place::gpu(1);  // where the last run has left it
  before.add({.what = Prefetch{.region = {buffer, Bytes{0}, size}, .to = Place::gpu(0)},
              .queue = before.add_queue("bring back"),
              .after = {}});
  trial.before = std::move(before);
  const QueueId queue = trial.schedule.add_queue("GPU 1", Place::gpu(1));
  if (on_demand) {
    trial.schedule.add({.what = add_touching_kernel(trial, device, buffer, size), .queue = queue, .after = {}});
  } else {
    trial.schedule.add(
        {.what = Prefetch{.region = {buffer, Bytes{0}, size}, .to = Place::gpu(1)}, .queue = queue, .after = {}});
  }
  return trial;
}

}  // namespace shiplap
