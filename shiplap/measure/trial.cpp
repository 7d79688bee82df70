#include "shiplap/measure/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {
namespace {

Ends add_ends(Trial& trial, CopyDirection way, Bytes size, MemoryKind kind = MemoryKind::pinned) {
  const bool to_device = way == host_to_device;
  const BufferId from =
      to_device ? add_on_host(trial, "host source", kind, size) : add_on_gpu(trial, "device source", size);
  const BufferId to =
      to_device ? add_on_gpu(trial, "device destination", size) : add_on_host(trial, "host destination", kind, size);
  trial.transfers.push_back({from, to, size});
  return {from, to};
}

/// Bytes that a kernel streams between two pointer chases, to evict the data of the first one from the caches: five
/// times the L2 cache of an H200 (50 MB, NVIDIA's white paper on the Hopper architecture).
constexpr Bytes more_than_caches_hold = 256_MiB;
/// Least number of regions that kernels on mapped memory cycle through, even if these exceed `zero_copy_footprint`.
constexpr unsigned fewest_places = 4;

/// Background copies in the other direction for each copy of a burst. fit_duplex.cpp rejects directions whose rates
/// differ so much that the background ends first.
constexpr unsigned load_of_duplex = 2;

/// Adds background copies that keep a direction busy, in a stream of their own. They alternate between two regions.
void add_load(Trial& trial, CopyDirection way, Bytes size, unsigned copies) {
  const Ends ends = add_ends(trial, way, size * 2);
  const StreamId stream = trial.schedule.add_stream("load");
  for (unsigned i = 0; i < copies; ++i) trial.schedule.add(copy_op(ends, stream, size, i % 2));
}

Kernel add_empty_kernel(Trial& trial, MeasurableDevice& device) {
  return add_kernel(trial, "empty", device.probe_kernel(ProbeKind::empty, 1, 0));
}

}  // namespace

Trial copy_burst(CopyDirection way, Bytes size, unsigned copies, MemoryKind host) {
  Trial trial;
  const Ends ends = add_ends(trial, way, size * copies, host);
  const StreamId stream = trial.schedule.add_stream("copies");
  add_burst(trial, ends, stream, size, copies);
  return trial;
}

Trial spread_burst(CopyDirection way, Bytes size, unsigned copies, unsigned streams) {
  Trial trial;
  const Ends ends = add_ends(trial, way, size * copies);
  for (unsigned q = 0; q < streams; ++q) trial.schedule.add_stream(fmt::format("stream {}", q));
  for (unsigned i = 0; i < copies; ++i) trial.schedule.add(copy_op(ends, StreamId{i % streams}, size, i));
  return trial;
}

Trial one_in_each(MeasurableDevice& device, Bytes size, unsigned streams, unsigned watched) {
  Trial trial = spread_burst(host_to_device, size, streams, streams);
  const Kernel empty = add_empty_kernel(trial, device);
  trial.timed = trial.schedule.add_stream("watcher");
  trial.schedule.add(on_stream(trial.timed, empty));
  trial.schedule.add(on_stream(trial.timed, empty, 0, {OpId{watched}}));
  return trial;
}

Trial copy_behind_kernel(MeasurableDevice& device, CopyDirection way, Bytes size, std::uint64_t blocks, bool followed) {
  Trial trial;
  const std::uint32_t copies = followed && blocks > 0 ? 2 : 1;  // without a kernel the other copy would be in the way
  const Ends ends = add_ends(trial, way, size * copies);
  const StreamId other = trial.schedule.add_stream("kernel");
  trial.timed = trial.schedule.add_stream("copy");
  // The start event is recorded before this kernel, and not when the copy engine serves the stream. The other kernel
  // waits for it, or else its blocks would hold it up.
  const OpId first = trial.schedule.add(on_stream(trial.timed, add_empty_kernel(trial, device)));
  if (blocks > 0)
    trial.schedule.add(on_stream(other, add_working_kernel(trial, device, ProbeKind::spin, blocks, 0), 0, {first}));
  if (copies > 1) trial.schedule.add(copy_op(ends, other, size, 0));
  trial.schedule.add(copy_op(ends, trial.timed, size, copies - 1));
  return trial;
}

Trial duplex_copies(Bytes size, MemoryKind host) {
  Trial trial;
  trial.schedule.agents = {{"to the GPU"}, {"from the GPU"}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Ends ends = add_ends(trial, both_directions[i], size, host);
    Op op = copy_op(ends, trial.schedule.add_stream(trial.schedule.agents[i].name), size, 0);
    op.agent = AgentId{i};
    op.chunk = i;
    trial.schedule.add(op);
  }
  return trial;
}

Trial device_copies(Bytes size, unsigned copies) {
  Trial trial;
  const Ends ends{add_on_gpu(trial, "source", size * copies), add_on_gpu(trial, "destination", size * copies)};
  trial.transfers.push_back({ends.from, ends.to, size * copies});
  const StreamId stream = trial.schedule.add_stream("copies");
  add_burst(trial, ends, stream, size, copies);
  return trial;
}

Trial pointer_chase(MeasurableDevice& device, MemoryKind kind, Bytes footprint, unsigned reads) {
  Trial trial;
  const bool on_host = kind != MemoryKind::device;
  Kernel chase = add_kernel(trial, "chase", device.probe_kernel(ProbeKind::chase, 1, reads));
  const BufferId buffer =
      on_host ? add_on_host(trial, "what is read", kind, footprint) : add_on_gpu(trial, "what is read", footprint);
  trial.kept.push_back(buffer);
  if (on_host) {
    chase.work = Seconds{0};
    chase.flows.push_back(
        {.buffer = buffer, .mode = AccessMode::read, .bytes = chase_read_size * reads, .in_flight = chase_read_size});
  }
  chase.operands = {{{buffer, Bytes{0}, footprint}, AccessMode::read}};
  const StreamId stream = trial.schedule.add_stream("kernel");
  if (!on_host) {
    // A kernel streams other memory through the GPU caches, which would otherwise still hold data of the previous run.
    const BufferId other = add_on_gpu(trial, "other memory", more_than_caches_hold);
    Kernel streaming =
        add_kernel(trial, "stream", device.probe_kernel(ProbeKind::stream, 1, in_bytes(more_than_caches_hold)));
    streaming.operands = {{{other, Bytes{0}, more_than_caches_hold}, AccessMode::write}};
    trial.before = trial.schedule;
    trial.before->add(on_stream(stream, streaming));
  }
  trial.schedule.add(on_stream(stream, chase));
  return trial;
}

// The clock of a duplex pipeline stops with one more copy of its direction. A kernel there would wait in one more
// stream.
Trial empty_pipeline(MeasurableDevice& device, const EmptyPipeline& wanted) {
  Trial trial;
  const Kernel empty = add_empty_kernel(trial, device);
  const Ends ends = add_ends(trial, wanted.way, wanted.size * (wanted.chunks + (wanted.duplex ? 1 : 0)));
  std::vector<StreamId> streams;
  for (unsigned q = 0; q < std::max(2u, wanted.streams); ++q)
    streams.push_back(trial.schedule.add_stream(fmt::format("stream {}", q)));
  OpId last_copy;
  for (unsigned i = 0; i < wanted.chunks; ++i) {
    std::vector<OpId> before;
    const auto add = [&](Op op, unsigned role) {
      op.stream = streams[wanted.streams > 1 ? i % wanted.streams : role];
      if (wanted.streams == 1) op.after = before;
      const OpId added = trial.schedule.add(op);
      before = {added};
      return added;
    };
    const bool to_device = wanted.way == host_to_device;
    if (!to_device) add(on_stream({}, empty, i), 0);
    last_copy = add(copy_op(ends, {}, wanted.size, i), 1);
    if (to_device) add(on_stream({}, empty, i), 0);
  }
  if (!wanted.duplex) return trial;
  trial.timed = trial.schedule.add_stream("end");
  trial.schedule.add(on_stream(trial.timed, empty));  // before it the start is recorded at once, as in `one_in_each`
  Op end = copy_op(ends, trial.timed, wanted.size, wanted.chunks);
  end.after = {last_copy};
  trial.schedule.add(end);
  add_load(trial, opposite(wanted.way), wanted.size, load_of_duplex * wanted.chunks + 4);
  return trial;
}

Trial duplex_burst(CopyDirection way, Bytes size, unsigned copies) {
  Trial trial = copy_burst(way, size, copies);
  trial.timed = StreamId{0};
  add_load(trial, opposite(way), size, load_of_duplex * copies + 4);
  return trial;
}

Trial kernel_row(MeasurableDevice& device, unsigned count) {
  Trial trial;
  const Kernel empty = add_empty_kernel(trial, device);
  const StreamId stream = trial.schedule.add_stream("kernels");
  for (unsigned i = 0; i < count; ++i) trial.schedule.add(on_stream(stream, empty, i));
  return trial;
}

Trial followers(MeasurableDevice& device, unsigned launches, unsigned followers) {
  Trial trial;
  const Kernel empty = add_empty_kernel(trial, device);
  const StreamId leader = trial.schedule.add_stream("leader");
  std::vector<StreamId> streams;
  for (unsigned f = 0; f < followers; ++f) streams.push_back(trial.schedule.add_stream(fmt::format("follower {}", f)));
  for (unsigned i = 0; i < launches; ++i) {
    const OpId first = trial.schedule.add(on_stream(leader, empty, i));
    for (const StreamId stream : streams) trial.schedule.add(on_stream(stream, empty, i, {first}));
  }
  return trial;
}

Trial chain(MeasurableDevice& device, const Chain& chain) {
  Trial trial;
  const Kernel empty = add_empty_kernel(trial, device);
  const Ends ends = add_ends(trial, chain.way, chain.size * chain.count);
  std::vector<StreamId> streams;
  for (unsigned q = 0; q < chain.streams; ++q) streams.push_back(trial.schedule.add_stream(fmt::format("chain {}", q)));
  std::vector<OpId> before;
  for (unsigned i = 0; i < chain.count; ++i) {
    const StreamId stream = streams[i % chain.streams];
    Op copy = copy_op(ends, stream, chain.size, i);
    copy.after = before;
    before = {trial.schedule.add(on_stream(stream, empty, i, {trial.schedule.add(copy)}))};
  }
  trial.timed = streams[(chain.count - 1) % chain.streams];
  return trial;
}

Trial zero_copy_kernels(MeasurableDevice& device, const ZeroCopyTrial& wanted) {
  using Mapped = ZeroCopyTrial::Access;
  const auto places = std::max(fewest_places, static_cast<unsigned>(zero_copy_footprint.count / wanted.size.count));
  Trial trial;
  const auto buffer = [&](const char* name, bool on_host, Bytes size) {
    if (!on_host) return add_on_gpu(trial, name, size);
    const BufferId added = add_on_host(trial, name, wanted.memory, size);
    trial.schedule.buffers[added.index()].advice = wanted.advice;
    return added;
  };
  const unsigned used = std::min(wanted.kernels, places);
  const Bytes all = wanted.size * used;
  const bool reads = wanted.access == Mapped::read || wanted.access == Mapped::both;
  const bool writes = wanted.access == Mapped::write || wanted.access == Mapped::both;
  const BufferId from = buffer("kernel's source", reads, all);
  const BufferId to = buffer("kernel's destination", writes, all);
  trial.transfers.push_back({from, to, all});
  const StreamId kernels = trial.schedule.add_stream("kernels");
  Kernel map = add_kernel(trial, "map", device.probe_kernel(wanted.kernel, wanted.blocks, wanted.width));
  const Bytes in_flight = Bytes{map_probe_threads} * wanted.width * std::min(map.blocks, map.resident_blocks);
  const auto flow = [&](BufferId of, AccessMode mode) {
    map.flows.push_back({.buffer = of, .mode = mode, .bytes = wanted.size, .in_flight = in_flight});
  };
  if (reads) flow(from, AccessMode::read);
  if (writes) flow(to, AccessMode::write);
  map.work = Seconds{0};
  for (unsigned i = 0; i < wanted.kernels; ++i) {
    const Bytes offset = wanted.size * (i % used);
    map.operands = {{{from, offset, wanted.size}, AccessMode::read}, {{to, offset, wanted.size}, AccessMode::write}};
    trial.schedule.add(on_stream(kernels, map, i));
  }
  trial.timed = kernels;
  if (!wanted.copies) return trial;
  // The copies use mapped memory like the kernels, because the GPU fills it, so the CPU caches hold none of it. Cached
  // data would make the copies faster.
  const auto ring =
      std::min(wanted.copy_count, static_cast<unsigned>(zero_copy_footprint.count / wanted.copy_size.count));
  const Ends ends = add_ends(trial, *wanted.copies, wanted.copy_size * ring, MemoryKind::mapped);
  const StreamId copies = trial.schedule.add_stream("copies");
  for (unsigned i = 0; i < wanted.copy_count; ++i)
    trial.schedule.add(copy_op(ends, copies, wanted.copy_size, i % ring));
  if (wanted.time_copies) trial.timed = copies;
  return trial;
}

Trial single_kernel(MeasurableDevice& device, ProbeKind kind, std::uint64_t blocks, double amount) {
  Trial trial;
  const Kernel kernel = add_working_kernel(trial, device, kind, blocks, amount);
  trial.schedule.add(on_stream(trial.schedule.add_stream("kernels"), kernel));
  return trial;
}

}  // namespace shiplap
