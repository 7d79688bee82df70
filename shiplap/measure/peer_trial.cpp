#include "shiplap/measure/peer_trial.hpp"

#include <fmt/format.h>

#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {
namespace {

void add_copies(Trial& trial, Ends ends, StreamId stream, Bytes size, unsigned copies) {
  trial.transfers.push_back({ends.from, ends.to, size * copies});
  add_burst(trial, ends, stream, size, copies);
}

}  // namespace

Trial peer_copies(const PeerCopies& wanted) {
  Trial trial;
  trial.schedule.peer_access = wanted.access;
  const auto way = [&](std::uint16_t from, std::uint16_t to) {
    const BufferId source = add_on_gpu(trial, fmt::format("source on GPU {}", from), wanted.size * wanted.copies, from);
    const BufferId destination =
        add_on_gpu(trial, fmt::format("destination on GPU {}", to), wanted.size * wanted.copies, to);
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
        add_on_gpu(trial, fmt::format("source of GPU {}'s kernels", gpu), wanted.size, reads ? peer : gpu);
    const BufferId to =
        add_on_gpu(trial, fmt::format("destination of GPU {}'s kernels", gpu), wanted.size, reads ? gpu : peer);
    trial.transfers.push_back({from, to, wanted.size});
    Kernel map = add_kernel(trial, "map", device.probe_kernel(ProbeKind::map, wanted.blocks, widest_access));
    map.operands = {{{from, Bytes{0}, wanted.size}, AccessMode::read},
                    {{to, Bytes{0}, wanted.size}, AccessMode::write}};
    map.flows = {{.buffer = reads ? from : to,
                  .mode = wanted.mode,
                  .bytes = wanted.size,
                  .in_flight = Bytes{map_probe_threads} * widest_access * std::min(map.blocks, map.resident_blocks)}};
    const StreamId stream = trial.schedule.add_stream(fmt::format("kernels of GPU {}", gpu), Place::gpu(gpu));
    for (std::uint32_t i = 0; i < wanted.kernels; ++i) trial.schedule.add(on_stream(stream, map, i));
  };
  on(0, 1);
  if (wanted.both) on(1, 0);
  return trial;
}

Trial peer_chase(MeasurableDevice& device, Bytes footprint, unsigned reads) {
  Trial trial;
  const BufferId buffer = add_on_gpu(trial, "what is read", footprint, 1);
  trial.kept.push_back(buffer);
  Kernel chase = add_kernel(trial, "chase", device.probe_kernel(ProbeKind::chase, 1, reads));
  chase.operands = {{{buffer, Bytes{0}, footprint}, AccessMode::read}};
  chase.flows = {{.buffer = buffer, .bytes = chase_read_size * reads, .in_flight = chase_read_size}};
  trial.schedule.add(on_stream(trial.schedule.add_stream("kernel"), chase));
  return trial;
}

Trial all_copies(const AllCopies& wanted) {
  Trial trial;
  const Bytes all = wanted.size * wanted.copies;
  for (const std::uint16_t gpu : wanted.gpus) {
    const auto host = [&](const char* role) {
      return add_on_host(trial, fmt::format("host {} for GPU {}", role, gpu), MemoryKind::pinned, all);
    };
    if (wanted.to_device)
      add_copies(trial, {host("source"), add_on_gpu(trial, fmt::format("destination on GPU {}", gpu), all, gpu)},
                 trial.schedule.add_stream(fmt::format("to GPU {}", gpu), Place::gpu(gpu)), wanted.size, wanted.copies);
    if (wanted.from_device)
      add_copies(trial, {add_on_gpu(trial, fmt::format("source on GPU {}", gpu), all, gpu), host("destination")},
                 trial.schedule.add_stream(fmt::format("from GPU {}", gpu), Place::gpu(gpu)), wanted.size,
                 wanted.copies);
  }
  return trial;
}

Trial managed_to_peer(MeasurableDevice& device, Bytes size, bool on_demand, bool both) {
  Trial trial;
  trial.schedule.agents.clear();
  const auto move = [&](std::uint16_t from, std::uint16_t to) {
    const BufferId buffer = add_on_gpu(trial, fmt::format("managed, on GPU {}", from), size, from, MemoryKind::managed);
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

  bring_back(trial, [](Place place) { return Place::gpu(place.index == 0 ? 1 : 0); });
  return trial;
}

}  // namespace shiplap
