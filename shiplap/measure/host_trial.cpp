#include "shiplap/measure/host_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {
namespace {

/// Distance between faulting pages. The driver may move further pages of the same block, which has this size
/// (UVM_VA_BLOCK_SIZE in NVIDIA's open kernel modules).
constexpr Bytes fault_distance = 2_MiB;

/// Region number `i` of `parts` equal regions of a buffer, cut at page boundaries.
Region page_aligned_part(BufferId buffer, Bytes size, unsigned i, unsigned parts) {
  const auto border = [&](unsigned n) {
    return n == parts ? size.count : size.count / parts * n / page_size() * page_size();
  };
  return {buffer, Bytes{border(i)}, Bytes{border(i + 1) - border(i)}};
}

void set_agents(Schedule& schedule, unsigned threads) {
  schedule.agents.clear();
  for (unsigned t = 0; t < threads; ++t) schedule.agents.push_back({fmt::format("thread {}", t)});
}

/// Adds managed memory that `before` moves to the host or the GPU before the schedule starts.
BufferId add_managed(Trial& trial, Place place, Bytes size) {
  const BufferId buffer = place.is_host() ? add_on_host(trial, "managed, on the host", MemoryKind::managed, size)
                                          : add_on_gpu(trial, "managed, on the GPU", size, 0, MemoryKind::managed);
  trial.kept.push_back(buffer);
  return buffer;
}

void bring_back_from_other_side(Trial& trial) {
  bring_back(trial, [](Place place) { return place.is_host() ? Place::gpu(0) : Place::host(); });
}

Place source(CopyDirection way) { return way == host_to_device ? Place::host() : Place::gpu(0); }
Place destination(CopyDirection way) { return way == host_to_device ? Place::gpu(0) : Place::host(); }

void add_prefetch(Trial& trial, CopyDirection way, Bytes size, AgentId agent = {0}) {
  const BufferId buffer = add_managed(trial, source(way), size);
  trial.moved.push_back({buffer, destination(way)});
  Op op = on_stream(trial.schedule.add_stream("prefetch"),
                    Prefetch{.region = {buffer, Bytes{0}, size}, .to = destination(way)});
  op.agent = agent;
  trial.schedule.add(op);
}

void add_touching_launch(Trial& trial, MeasurableDevice& device, Bytes size) {
  const BufferId buffer = add_managed(trial, Place::host(), size);
  trial.moved.push_back({buffer, Place::gpu(0)});
  const StreamId stream = trial.schedule.add_stream("kernel");
  trial.schedule.add(on_stream(stream, add_touching_kernel(trial, device, buffer, size)));
}

void add_touches(Trial& trial, Bytes size, std::uint32_t first_agent, unsigned threads) {
  const BufferId buffer = add_managed(trial, Place::gpu(0), size);
  trial.moved.push_back({buffer, Place::host()});
  for (std::uint32_t t = 0; t < threads; ++t) {
    const Region region = page_aligned_part(buffer, size, t, threads);
    if (region.length.count > 0) trial.schedule.add(touch_by_agent(region, {}, t, AgentId{first_agent + t}));
  }
}

/// Makes the agents flush the buffers from the CPU caches before each run. How much a run leaves in the caches differs
/// between nodes and days.
void flush_before(Trial& trial, const std::vector<BufferId>& buffers) {
  if (!can_flush_caches()) return;
  Schedule before = on_same_buffers(trial.schedule);
  before.agents = trial.schedule.agents;
  const auto threads = static_cast<unsigned>(before.agents.size());
  for (const BufferId buffer : buffers) {
    for (std::uint32_t t = 0; t < threads; ++t) {
      const Region region = page_aligned_part(buffer, before.buffers[buffer.index()].size, t, threads);
      if (region.length.count > 0)
        before.add(by_agent(AgentId{t}, HostCall{.kind = HostCall::Kind::flush, .region = region}, {}, t));
    }
  }
  trial.before = std::move(before);
}

}  // namespace

Trial prefetch(CopyDirection way, Bytes size) {
  Trial trial;
  add_prefetch(trial, way, size);
  bring_back_from_other_side(trial);
  return trial;
}

Trial prefetch_duplex(Bytes size) {
  Trial trial;
  set_agents(trial.schedule, 2);  // a prefetch call takes part of the time itself, so each direction has its own thread
  add_prefetch(trial, host_to_device, size, AgentId{0});
  add_prefetch(trial, device_to_host, size, AgentId{1});
  bring_back_from_other_side(trial);
  return trial;
}

Trial demand_by_kernel(MeasurableDevice& device, Bytes size) {
  Trial trial;
  add_touching_launch(trial, device, size);
  bring_back_from_other_side(trial);
  return trial;
}

Trial demand_in_order(MeasurableDevice& device, Bytes size, ProbeKind order, MemoryAdvice advice) {
  Trial trial;
  const BufferId from = add_managed(trial, Place::host(), size);
  trial.schedule.buffers[from.index()].advice = advice;
  const BufferId to = add_on_gpu(trial, "kernel's destination", size);
  trial.transfers.push_back({from, to, size});
  constexpr std::uint64_t blocks = 1024;  // more than a GPU needs for the rate of the link
  Kernel read = add_kernel(trial, "read", device.probe_kernel(order, blocks, widest_access));
  read.operands = {{{from, Bytes{0}, size}, AccessMode::read}, {{to, Bytes{0}, size}, AccessMode::write}};
  trial.schedule.add(on_stream(trial.schedule.add_stream("kernel"), read));
  bring_back_from_other_side(trial);
  if (advice == MemoryAdvice::read_mostly) {
    trial.before = on_same_buffers(trial.schedule);
    trial.before->add(touch_by_agent({from, Bytes{0}, size}, {}, 0));
  }
  return trial;
}

Trial demand_by_host(Bytes size, unsigned threads) {
  Trial trial;
  set_agents(trial.schedule, threads);
  add_touches(trial, size, 0, threads);
  bring_back_from_other_side(trial);
  return trial;
}

Trial demand_duplex(MeasurableDevice& device, Bytes size) {
  Trial trial;
  set_agents(trial.schedule, 2);
  add_touching_launch(trial, device, size);
  add_touches(trial, size, 1, 1);
  bring_back_from_other_side(trial);
  return trial;
}

Trial host_copies(Bytes size, unsigned threads, bool both) {
  Trial trial;
  set_agents(trial.schedule, threads);
  std::array<Ends, 2> ways{};
  ways[0] = {add_on_host(trial, "pageable source", MemoryKind::pageable, size),
             add_on_host(trial, "pinned destination", MemoryKind::pinned, size)};
  if (both)
    ways[1] = {add_on_host(trial, "pinned source", MemoryKind::pinned, size),
               add_on_host(trial, "pageable destination", MemoryKind::pageable, size)};
  const unsigned lanes = both ? 2 : 1;
  const unsigned per_lane = std::max(1u, threads / lanes);
  if (size.count / per_lane < page_size())
    throw Unsupported(fmt::format("{} leave {} threads less than a page each", to_string(size), per_lane));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    trial.transfers.push_back({ways[lane].from, ways[lane].to, size});
    for (unsigned i = 0; i < per_lane; ++i)
      trial.schedule.add(by_agent(AgentId{(lane * per_lane + i) % threads},
                                  HostCopy{.from = page_aligned_part(ways[lane].from, size, i, per_lane),
                                           .to = page_aligned_part(ways[lane].to, size, i, per_lane)},
                                  {}, lane * per_lane + i));
  }
  std::vector<BufferId> buffers;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    buffers.push_back(ways[lane].from);
    buffers.push_back(ways[lane].to);
  }
  flush_before(trial, buffers);
  return trial;
}

namespace {

/// Adds the pieces of one direction. `threads` agents, numbered from `first`, copy them, each through its own ring and
/// stream. Returns the pageable memory.
BufferId add_staged(Trial& trial, CopyDirection way, Bytes size, Bytes piece, unsigned first, unsigned threads) {
  const bool to_device = way == host_to_device;
  Schedule& schedule = trial.schedule;
  const BufferId host =
      add_on_host(trial, to_device ? "pageable source" : "pageable destination", MemoryKind::pageable, size);
  const BufferId device = add_on_gpu(trial, to_device ? "device destination" : "device source", size);
  const BufferId ring = add_on_host(trial, "rings", MemoryKind::pinned, piece * (staging_slots * threads));
  trial.transfers.push_back({to_device ? host : device, to_device ? device : host, size});
  std::vector<StreamId> streams;
  for (unsigned t = 0; t < threads; ++t) streams.push_back(schedule.add_stream(fmt::format("ring {}", first + t)));

  // D2H copies run one piece ahead of the agent. It starts the copy of its next piece into one slot before it copies
  // the previous piece out of the other slot.
  const auto pieces = static_cast<std::uint32_t>(size.count / piece.count);
  std::vector<OpId> last_use(std::size_t{staging_slots} * threads);
  std::vector<Op> behind(threads);
  std::vector<bool> has_behind(threads, false);
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const std::uint32_t t = i % threads;
    const std::uint32_t place = t * staging_slots + i / threads % staging_slots;
    const Region far{host, piece * i, piece};
    const Region near{ring, piece * place, piece};
    const Region gpu{device, piece * i, piece};
    const auto after = last_use[place].is_none() ? std::vector<OpId>{} : std::vector<OpId>{last_use[place]};
    const AgentId agent{first + t};
    if (to_device) {
      const OpId filled = schedule.add(by_agent(agent, HostCopy{.from = far, .to = near}, after, i));
      Op copy = on_stream(streams[t], Copy{.from = near, .to = gpu}, i, {filled});
      copy.agent = agent;
      last_use[place] = schedule.add(copy);
    } else {
      Op copy = on_stream(streams[t], Copy{.from = gpu, .to = near}, i, after);
      copy.agent = agent;
      const OpId arrived = schedule.add(copy);
      if (has_behind[t]) last_use[t * staging_slots + (i / threads + 1) % staging_slots] = schedule.add(behind[t]);
      behind[t] = by_agent(agent, HostCopy{.from = near, .to = far}, {arrived}, i);
      has_behind[t] = true;
    }
  }
  for (unsigned t = 0; t < threads; ++t)
    if (has_behind[t]) schedule.add(behind[t]);
  return host;
}

}  // namespace

Trial staged_copies(const Staged& wanted) {
  Trial trial;
  set_agents(trial.schedule, wanted.threads);
  if (wanted.way) {
    flush_before(trial, {add_staged(trial, *wanted.way, wanted.size, wanted.piece, 0, wanted.threads)});
    return trial;
  }
  const unsigned half = wanted.threads / 2;
  add_staged(trial, host_to_device, wanted.size, wanted.piece, 0, half);
  add_staged(trial, device_to_host, wanted.size, wanted.piece, half, half);
  return trial;
}

Trial faults_of_kernels(MeasurableDevice& device, unsigned faults) {
  Trial trial;
  const BufferId buffer = add_managed(trial, Place::host(), fault_distance * faults);
  const StreamId stream = trial.schedule.add_stream("kernels");
  const Kernel touch = add_touching_kernel(trial, device, buffer, Bytes{page_size()}, 1);
  for (std::uint32_t i = 0; i < faults; ++i) {
    Kernel one = touch;
    one.operands.front().region.offset = fault_distance * i;
    trial.schedule.add(on_stream(stream, one, i));
  }
  bring_back_from_other_side(trial);
  return trial;
}

Trial faults_of_the_host(unsigned faults) {
  Trial trial;
  const BufferId buffer = add_managed(trial, Place::gpu(0), fault_distance * faults);
  for (std::uint32_t i = 0; i < faults; ++i)
    trial.schedule.add(touch_by_agent({buffer, fault_distance * i, Bytes{page_size()}}, {}, i));
  bring_back_from_other_side(trial);
  return trial;
}

Trial waits_for_kernels(MeasurableDevice& device, unsigned rounds) {
  Trial trial;
  const Kernel empty = add_kernel(trial, "empty", device.probe_kernel(ProbeKind::empty, 1, 0));
  const Region touched = add_touched_page(trial);
  const StreamId stream = trial.schedule.add_stream("kernels");
  std::vector<OpId> after;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const OpId launched = trial.schedule.add(on_stream(stream, empty, i, after));
    after = {trial.schedule.add(touch_by_agent(touched, {launched}, i))};
  }
  return trial;
}

Trial stream_call(HostCall::Kind timed) {
  Trial trial;
  for (const HostCall::Kind call : {HostCall::Kind::create_stream, HostCall::Kind::destroy_stream}) {
    const OpId op = trial.schedule.add(by_agent(AgentId{0}, HostCall{.kind = call}));
    if (call == timed) trial.timed_op = op;
  }
  return trial;
}

std::string call_primitive(HostCall::Kind kind, MemoryKind memory) {
  std::string name = "call." + name_in_profile(kind, memory);
  std::ranges::replace(name, ' ', '.');
  std::ranges::replace(name, '-', '_');
  return name;
}

Trial host_call(HostCall::Kind timed, MemoryKind kind, Bytes size) {
  using Kind = HostCall::Kind;
  Trial trial;
  const bool on_gpu = kind == MemoryKind::device;
  const std::string name = to_string(kind) + " memory";
  const BufferId buffer = on_gpu ? add_on_gpu(trial, name, size) : add_on_host(trial, name, kind, size);
  const auto add = [&](Kind call) {
    const OpId op =
        trial.schedule.add(by_agent(AgentId{0}, HostCall{.kind = call, .region = {buffer, Bytes{0}, size}}));
    if (call == timed) trial.timed_op = op;
  };
  switch (timed) {
    case Kind::pin:
    case Kind::unpin:
      add(Kind::pin);
      add(Kind::unpin);
      break;
    case Kind::allocate:
    case Kind::release:
      add(Kind::allocate);
      add(Kind::release);
      break;
    case Kind::touch:
    case Kind::flush: {
      // The memory has just been written, so that a flush must write it back.
      const BufferId source = add_on_host(trial, "source", MemoryKind::pageable, size);
      trial.before = trial.schedule;
      trial.before->add(
          by_agent(AgentId{0}, HostCopy{.from = {source, Bytes{0}, size}, .to = {buffer, Bytes{0}, size}}));
      trial.transfers.push_back({source, buffer, size});
      add(timed);
      break;
    }
    case Kind::create_stream:
    case Kind::destroy_stream:
    case Kind::wait:
      throw Error("`timed`: not a call that concerns memory");
  }
  return trial;
}

}  // namespace shiplap
