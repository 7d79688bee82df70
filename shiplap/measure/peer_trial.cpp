#include "shiplap/measure/peer_trial.hpp"

#include <fmt/format.h>

#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {
namespace {

BufferId on_gpu(Trial& trial, std::string name, std::uint16_t gpu, Bytes size, MemoryKind kind = MemoryKind::device) {
  return trial.schedule.add_buffer({.name = std::move(name), .place = Place::gpu(gpu), .memory = kind, .size = size});
}

void add_copies(Trial& trial, Ends ends, StreamId stream, Bytes size, unsigned copies) {
  trial.transfers.push_back({ends.from, ends.to, size * copies});
  add_burst(trial, ends, stream, size, copies);
}

}  // namespace

Trial peer_copies(const PeerCopies& wanted) {
  Trial trial;
  trial.schedule.peer_access = wanted.access;
  const auto way = [&](std::uint16_t from, std::uint16_t to) {
    const BufferId source = on_gpu(trial, fmt::format("source on GPU {}", from), from, wanted.size * wanted.copies);
    const BufferId destination =
        on_gpu(trial, fmt::format("destination on GPU {}", to), to, wanted.size * wanted.copies);
    const StreamId stream = trial.schedule.add_stream(fmt::format("from GPU {}", from), Place::gpu(from));
    add_copies(trial, {source, destination}, stream, wanted.size, wanted.copies);
  };
  way(wanted.from, wanted.to);
  if (wanted.both) way(wanted.to, wanted.from);
  return trial;
}

Trial peer_kernels(MeasurableDevice& device, const PeerKernels& wanted) {
  const bool reads = wanted.mode == AccessMode::read;
  Trial trial;
  const auto on = [&](std::uint16_t gpu, std::uint16_t peer) {
    const BufferId from =
        on_gpu(trial, fmt::format("source of GPU {}'s kernels", gpu), reads ? peer : gpu, wanted.size);
    const BufferId to =
        on_gpu(trial, fmt::format("destination of GPU {}'s kernels", gpu), reads ? gpu : peer, wanted.size);
    trial.transfers.push_back({from, to, wanted.size});
    Kernel map = add_kernel(trial, "map", device.probe_kernel(ProbeKernel::Kind::map, wanted.blocks, widest_access));
    map.operands = {{{from, Bytes{0}, wanted.size}, AccessMode::read},
                    {{to, Bytes{0}, wanted.size}, AccessMode::write}};
    map.flows = {{.buffer = reads ? from : to,
                  .mode = wanted.mode,
                  .bytes = wanted.size,
                  .in_flight = Bytes{map_probe_threads} * widest_access * std::min(map.blocks, map.resident_blocks)}};
    const StreamId stream = trial.schedule.add_stream(fmt::format("kernels of GPU {}", gpu), Place::gpu(gpu));
    for (std::uint32_t i = 0; i < wanted.kernels; ++i)
      trial.schedule.add({.what = map, .stream = stream, .after = {}, .chunk = i});
  };
  on(0, 1);
  if (wanted.both) on(1, 0);
  return trial;
}

Trial peer_chase(MeasurableDevice& device, Bytes footprint, unsigned reads) {
  Trial trial;
  const BufferId buffer = on_gpu(trial, "what is read", 1, footprint);
  trial.kept.push_back(buffer);
  Kernel chase = add_kernel(trial, "chase", device.probe_kernel(ProbeKernel::Kind::chase, 1, reads));
  chase.operands = {{{buffer, Bytes{0}, footprint}, AccessMode::read}};
  chase.flows = {{.buffer = buffer, .bytes = chase_read_size * reads, .in_flight = chase_read_size}};
  trial.schedule.add({.what = chase, .stream = trial.schedule.add_stream("kernel"), .after = {}});
  return trial;
}

Trial all_copies(const AllCopies& wanted) {
  Trial trial;
  const Bytes all = wanted.size * wanted.copies;
  for (std::uint16_t gpu = 0; gpu < wanted.gpus; ++gpu) {
    const auto host = [&](const char* role) {
      return trial.schedule.add_buffer({.name = fmt::format("host {} for GPU {}", role, gpu),
                                        .place = Place::host(),
                                        .memory = MemoryKind::pinned,
                                        .size = all});
    };
    if (wanted.to_device)
      add_copies(trial, {host("source"), on_gpu(trial, fmt::format("destination on GPU {}", gpu), gpu, all)},
                 trial.schedule.add_stream(fmt::format("to GPU {}", gpu), Place::gpu(gpu)), wanted.size, wanted.copies);
    if (wanted.from_device)
      add_copies(trial, {on_gpu(trial, fmt::format("source on GPU {}", gpu), gpu, all), host("destination")},
                 trial.schedule.add_stream(fmt::format("from GPU {}", gpu), Place::gpu(gpu)), wanted.size,
                 wanted.copies);
  }
  return trial;
}

Trial managed_to_peer(MeasurableDevice& device, Bytes size, bool on_demand, bool both) {
  Trial trial;
  trial.schedule.agents.clear();
  const auto move = [&](std::uint16_t from, std::uint16_t to) {
    const BufferId buffer = on_gpu(trial, fmt::format("managed, on GPU {}", from), from, size, MemoryKind::managed);
    trial.kept.push_back(buffer);
    const StreamId stream = trial.schedule.add_stream(fmt::format("GPU {}", to), Place::gpu(to));
    const AgentId agent{static_cast<std::uint32_t>(trial.schedule.agents.size())};
    trial.schedule.agents.push_back({fmt::format("of GPU {}", to)});
    Op op{.what = Prefetch{.region = {buffer, Bytes{0}, size}, .to = Place::gpu(to)},
          .stream = stream,
          .agent = agent,
          .after = {}};
    if (on_demand) op.what = add_touching_kernel(trial, device, buffer, size);
    trial.schedule.add(op);
  };
  move(0, 1);
  if (both) move(1, 0);

  Schedule before;
  before.buffers = trial.schedule.buffers;
  const StreamId stream = before.add_stream("bring back");
  for (std::uint32_t b = 0; b < before.buffers.size(); ++b) {
    Buffer& buffer = before.buffers[b];
    before.add(
        {.what = Prefetch{.region = {BufferId{b}, Bytes{0}, size}, .to = buffer.place}, .stream = stream, .after = {}});
    buffer.place = Place::gpu(buffer.place.index == 0 ? 1 : 0);  // location after the previous run
  }
  trial.before = std::move(before);
  return trial;
}

}  // namespace shiplap
