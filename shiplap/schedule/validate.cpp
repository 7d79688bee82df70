#include "shiplap/schedule/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/order.hpp"
#include "shiplap/schedule/races.hpp"

namespace shiplap {
namespace {

bool overlap(const Region& a, const Region& b) {
  if (a.length.count == 0 || b.length.count == 0) return false;
  return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

// What ops have allocated and not released, and what they have pinned and not unpinned, in the order of the schedule.
struct Obtained {
  std::vector<bool> allocated{};  // by buffer
  std::vector<Region> pinned{};
};

// The checks of an op that concern no other op, except those of its batch and of what earlier ops have obtained.
class OpCheck {
 public:
  OpCheck(const Schedule& schedule, OpId id, Obtained& obtained, std::vector<std::string>& found)
      : schedule_(schedule), id_(id), obtained_(obtained), found_(found) {}

  void check() {
    const Op& op = schedule_.ops[id_.index()];
    if (!op.stream.is_none() && op.stream.index() >= schedule_.streams.size())
      add("{} is on stream {}, but the schedule has {} streams", name(), op.stream.value, schedule_.streams.size());
    if (op.agent.index() >= schedule_.agents.size())
      add("{} is submitted by agent {}, but the schedule has {} agents", name(), op.agent.value,
          schedule_.agents.size());
    if (op.batched) check_batch(op);
    if (schedule_.as_graph) check_graph(op);
    std::visit(*this, op.what);
  }

  void operator()(const Copy& copy) {
    needs_stream();
    time(copy.measured, "measured time");
    if (!both_regions(copy.from, copy.to)) return;
    if (on_host(copy.from) && on_host(copy.to))
      add("{} joins two host places, which no copy engine can; use a host copy", name());
  }
  void operator()(const HostCopy& copy) {
    needs_no_stream();
    if (!both_regions(copy.from, copy.to)) return;
    if (!on_host(copy.from) || !on_host(copy.to))
      add("{} accesses memory on a GPU, which a host thread cannot; use a copy on a stream", name());
  }
  void operator()(const HostCall& call) {
    using Kind = HostCall::Kind;
    needs_no_stream();
    time(call.work, "time of other work");
    if (!has_region(call.kind) || !region(call.region)) return;
    const Buffer& buffer = schedule_.buffers[call.region.buffer.index()];
    const bool pins = call.kind == Kind::pin || call.kind == Kind::unpin;
    const bool reaches = call.kind == Kind::touch || call.kind == Kind::flush;
    if (pins && buffer.memory != MemoryKind::pageable)
      add("{} concerns buffer {}, which is {} memory; only pageable memory can be pinned", name(), buffer.name,
          to_string(buffer.memory));
    if (reaches && !buffer.place.is_host() && buffer.memory != MemoryKind::managed)
      add("{} accesses buffer {} on a GPU, which a host thread cannot; use managed memory", name(), buffer.name);
    if (pins) check_pin(call);
    if (pins || reaches) return;
    if (call.region.length != buffer.size)
      add("{} concerns {} B of buffer {}, which has {} B; give the whole buffer", name(), call.region.length.count,
          buffer.name, buffer.size.count);
    const bool allocates = call.kind == Kind::allocate;
    if (obtained_.allocated[call.region.buffer.index()] == allocates)
      add("{} concerns buffer {}, which is {}", name(), buffer.name, allocates ? "allocated already" : "not allocated");
    obtained_.allocated[call.region.buffer.index()] = allocates;
  }
  void operator()(const Kernel& kernel) {
    const bool by_agent = schedule_.ops[id_.index()].stream.is_none();
    if (by_agent && !kernel.flows.empty()) add("{} has flows, and without a stream it runs on the host", name());
    if (kernel.kernel.index() >= schedule_.kernels.size())
      add("{} runs kernel {}, but the schedule has {} kernels", name(), kernel.kernel.value, schedule_.kernels.size());
    for (const Flow& flow : kernel.flows) has_buffer(flow.buffer);
    check_times(kernel);
    bool sound = true;
    // An operand without bytes is allowed, because the kernel expects all operands at their positions.
    for (const Access& operand : kernel.operands)
      sound = (operand.region.length.count == 0 ? starts_inside(operand.region) : region(operand.region)) && sound;
    if (!sound) return;
    for (const Access& operand : kernel.operands)
      if (by_agent && operand.region.length.count > 0 && !on_host(operand.region))
        add("{} has no stream, so it runs on the host, and accesses buffer {} on a GPU; give it a stream", name(),
            schedule_.buffers[operand.region.buffer.index()].name);
    // Nothing orders the reads and writes within one kernel. Two operands may have the same region (in place), because
    // each item accesses only its own bytes then.
    for (std::size_t i = 0; i < kernel.operands.size(); ++i)
      for (std::size_t j = i + 1; j < kernel.operands.size(); ++j) {
        const Access& a = kernel.operands[i];
        const Access& b = kernel.operands[j];
        const bool both_read = a.mode == AccessMode::read && b.mode == AccessMode::read;
        if (both_read || a.region == b.region || !overlap(a.region, b.region)) continue;
        add("operands {} and {} of {} overlap in buffer {} and one is written; they must be apart or the same region",
            i, j, name(), schedule_.buffers[a.region.buffer.index()].name);
      }
  }
  void operator()(const BlockCopy& blocks) {
    const bool by_agent = schedule_.ops[id_.index()].stream.is_none();
    const bool sound_pool = region(blocks.pool);
    const bool sound_packed = region(blocks.packed);
    if (blocks.list.index() >= schedule_.lists.size())
      return add("{} uses list {}, but the schedule has {} lists", name(), blocks.list.value, schedule_.lists.size());
    const BlockList& list = schedule_.lists[blocks.list.index()];
    if (list.block.count == 0 || list.pitch < list.block)
      return add("{} has blocks of {} B at a pitch of {} B; blocks have at least one byte and lie apart", name(),
                 list.block.count, list.pitch.count);
    if (blocks.count > list.count || blocks.first > list.count - blocks.count)
      add("{} moves {} blocks from position {} on of list {}, which has {} blocks; use positions of the list", name(),
          blocks.count, blocks.first, list.name, list.count);
    if (!sound_pool || !sound_packed) return;
    if (blocks.packed.length.count % list.block.count != 0 ||
        blocks.packed.length.count / list.block.count != blocks.count)
      add("{} moves {} blocks of {} B, and its contiguous memory has {} B; use {} B", name(), blocks.count,
          list.block.count, blocks.packed.length.count, blocks.count * list.block.count);
    if (blocks.pool.length < list.block)
      add("{} moves blocks of {} B of a pool of {} B; use a larger pool or smaller blocks", name(), list.block.count,
          blocks.pool.length.count);
    else if (list.regular && list.count > blocks_of_pool(blocks.pool.length, list.block, list.pitch))
      add("{} uses list {}, whose {} blocks at a pitch of {} B reach beyond the pool of {} B; use a larger pool or "
          "fewer blocks",
          name(), list.name, list.count, list.pitch.count, blocks.pool.length.count);
    if (!on_host(blocks.pool)) add("{} has a pool on a GPU; a pool is in host memory", name());
    if (on_host(blocks.packed) != by_agent)
      add("{} has contiguous memory {}; use memory {}", name(),
          by_agent ? "on a GPU and no stream" : "on the host and a stream",
          by_agent ? "on the host, or a stream" : "on a GPU, or no stream");
    if (overlap(blocks.pool, blocks.packed))
      add("{} reads and writes overlapping bytes of buffer {}; use other contiguous memory", name(),
          schedule_.buffers[blocks.pool.buffer.index()].name);
    if (!by_agent) check_mover(blocks, list);
  }
  void operator()(const Prefetch& prefetch) {
    needs_stream();
    if (!region(prefetch.region)) return;
    const Buffer& buffer = schedule_.buffers[prefetch.region.buffer.index()];
    if (buffer.memory != MemoryKind::managed)
      add("{} moves buffer {}, which is {} memory; only managed memory can be prefetched", name(), buffer.name,
          to_string(buffer.memory));
  }

 private:
  void check_batch(const Op& op) {
    if (id_.index() == 0) return add("{} is batched with the op before it, and there is none", name());
    const Op& before = schedule_.ops[id_.index() - 1];
    if (!std::holds_alternative<Copy>(op.what) || !std::holds_alternative<Copy>(before.what))
      return add("{} is batched with {}; only copies can be", name(), describe(schedule_, OpId{id_.value - 1}));
    for (const Copy* copy : {&std::get<Copy>(op.what), &std::get<Copy>(before.what)})
      for (const Region* r : {&copy->from, &copy->to})
        if (r->buffer.index() >= schedule_.buffers.size()) return;  // reported by another check
    if (before.stream != op.stream || before.agent != op.agent)
      add("{} is batched with the op before it, which has another stream or agent", name());
    if (!op.after.empty()) add("{} is batched and waits for other ops; let the first of its batch wait", name());
    if (direction(schedule_, std::get<Copy>(op.what)) != direction(schedule_, std::get<Copy>(before.what)))
      add("{} is batched with a copy of another direction", name());
    if (blocks_agent(schedule_, op) || blocks_agent(schedule_, before))
      add("{} is batched, but the host waits for copies of pageable memory; pin it", name());
    // The copies of a batch are not ordered, so their bytes must not overlap.
    const Copy& copy = std::get<Copy>(op.what);
    for (std::uint32_t i = id_.value; i > 0 && schedule_.ops[i].batched; --i) {
      const auto* other = std::get_if<Copy>(&schedule_.ops[i - 1].what);
      if (other == nullptr) break;
      if (overlap(copy.to, other->to) || overlap(copy.to, other->from) || overlap(copy.from, other->to))
        add("{} and {} share bytes, but the copies of a batch have no order; put them into separate batches", name(),
            describe(schedule_, OpId{i - 1}));
    }
  }

  void check_times(const Kernel& kernel) {
    time(kernel.work, "time of work");
    time(kernel.call, "time of the call");
    if (!(kernel.memory_bound >= 0 && kernel.memory_bound <= 1))
      add("{} is limited by device memory to {}; use 0 to 1", name(), kernel.memory_bound);
    if (!kernel.measured) return;
    time(kernel.measured->alone, "measured time alone");
    time(kernel.measured->beside_copies, "measured time concurrent with copies");
    const double factor = kernel.measured->copies_beside;
    if (!(factor > 0 && std::isfinite(factor)))
      add("{} makes copies take {} times as long; use a finite factor above 0", name(), factor);
  }

  void time(Seconds seconds, const char* what) {
    if (!(seconds >= Seconds{0} && std::isfinite(seconds.count())))
      add("{} has a {} of {} s; use a finite time of at least 0 s", name(), what, seconds.count());
  }

  void check_mover(const BlockCopy& blocks, const BlockList& list) {
    const MemoryKind memory = schedule_.buffers[blocks.pool.buffer.index()].memory;
    if (blocks.mover.kind == Mover::Kind::kernel && memory == MemoryKind::pageable)
      add("{} is moved by a kernel, which cannot access pageable memory; pin it, or use copies", name());
    if (blocks.mover.kind == Mover::Kind::kernel && blocks.mover.grid == 0)
      add("{} is moved by a kernel without thread blocks; use at least one", name());
    if (blocks.mover.kind == Mover::Kind::strided && !list.regular)
      add("{} is moved by a strided copy, and list {} has indices; use another mover", name(), list.name);
    if (schedule_.as_graph && blocks.mover.kind == Mover::Kind::batch)
      add("{} is moved by a batch in a graph, which has a node for each copy; use copies or a strided copy", name());
    if (schedule_.as_graph && !list.regular)
      add("{} is part of a graph, which would keep the indices of the time when it was made; submit the ops one by one",
          name());
  }

  void check_pin(const HostCall& call) {
    const std::string& buffer = schedule_.buffers[call.region.buffer.index()].name;
    if (call.kind == HostCall::Kind::unpin) {
      const auto pinned = std::ranges::find(obtained_.pinned, call.region);
      if (pinned == obtained_.pinned.end())
        return add("{} concerns a region of buffer {} that no op has pinned; pin it before", name(), buffer);
      obtained_.pinned.erase(pinned);
      return;
    }
    if (std::ranges::any_of(obtained_.pinned, [&](const Region& pinned) { return overlap(pinned, call.region); }))
      add("{} concerns bytes of buffer {} that an op has pinned; unpin them before", name(), buffer);
    obtained_.pinned.push_back(call.region);
  }

  void check_graph(const Op& op) {
    if (op.batched) add("{} is batched in a graph, which has a node for each copy; leave the batch out", name());
    if (schedule_.agents.size() != 1) add("{} is part of a graph, which one agent submits", name());
    if (op.stream.is_none()) add("{} is performed by the host, which a graph cannot hold", name());
  }

  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    found_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  std::string name() const { return describe(schedule_, id_); }
  bool on_host(const Region& r) const { return schedule_.buffers[r.buffer.index()].place.is_host(); }

  void needs_stream() {
    if (schedule_.ops[id_.index()].stream.is_none()) add("{} has no stream; every op of a device needs one", name());
  }

  void needs_no_stream() {
    if (!schedule_.ops[id_.index()].stream.is_none())
      add("{} has a stream, but its agent performs it; leave the stream out", name());
  }

  bool has_buffer(BufferId buffer) {
    if (buffer.index() < schedule_.buffers.size()) return true;
    add("{} refers to buffer {}, but the schedule has {} buffers", name(), buffer.value, schedule_.buffers.size());
    return false;
  }

  // The address of a region without bytes is computed too.
  bool starts_inside(const Region& r) {
    if (!has_buffer(r.buffer)) return false;
    const Buffer& buffer = schedule_.buffers[r.buffer.index()];
    if (r.offset > buffer.size)
      add("{} has an operand at offset {} of buffer {}, which has only {} B", name(), r.offset.count, buffer.name,
          buffer.size.count);
    return r.offset <= buffer.size;
  }

  bool region(const Region& r) {
    if (!has_buffer(r.buffer)) return false;
    const Buffer& buffer = schedule_.buffers[r.buffer.index()];
    if (r.length.count == 0) {
      add("{} accesses a region of no bytes in buffer {}; leave it out", name(), buffer.name);
      return false;
    }
    // The sum offset + length could exceed 64 bits, so it is not computed.
    if (r.length > buffer.size || r.offset > buffer.size - r.length) {
      add("{} accesses {} B at offset {} of buffer {}, which has only {} B", name(), r.length.count, r.offset.count,
          buffer.name, buffer.size.count);
      return false;
    }
    return true;
  }

  bool both_regions(const Region& from, const Region& to) {
    const bool sound_from = region(from);
    const bool sound_to = region(to);
    if (!sound_from || !sound_to) return false;
    if (from.length != to.length)
      add("{} reads {} B and writes {} B; both lengths must be equal", name(), from.length.count, to.length.count);
    if (overlap(from, to))
      add("{} reads and writes overlapping bytes of buffer {}", name(), schedule_.buffers[from.buffer.index()].name);
    return true;
  }

  const Schedule& schedule_;
  OpId id_;
  Obtained& obtained_;
  std::vector<std::string>& found_;
};

/// Returns one sentence for each stream that belongs to no GPU.
std::vector<std::string> streams_without_gpu(const Schedule& schedule) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < schedule.streams.size(); ++i)
    if (const Stream& stream = schedule.streams[i]; !stream.place.is_gpu())
      found.push_back(fmt::format("stream {} ({}) is at {}, where no stream is; give the place of a GPU", i,
                                  stream.name, to_string(stream.place)));
  return found;
}

/// Returns one sentence for each buffer with advice that its memory cannot follow.
std::vector<std::string> advice_in_vain(const Schedule& schedule) {
  std::vector<std::string> found;
  for (const Buffer& buffer : schedule.buffers)
    if (buffer.advice != MemoryAdvice::none && buffer.memory != MemoryKind::managed)
      found.push_back(fmt::format("buffer {} has advice, but is {} memory; only managed memory follows advice",
                                  buffer.name, to_string(buffer.memory)));
  return found;
}

/// Returns one sentence for each op that uses a buffer which an op of the schedule allocates. Allocations in schedules
/// only exist to be timed; other ops do not get the address.
std::vector<std::string> uses_of_allocated(const Schedule& schedule, std::size_t limit) {
  std::vector<bool> obtained(schedule.buffers.size());
  bool any = false;
  const auto obtains = [](const Op& op) {
    const auto* call = std::get_if<HostCall>(&op.what);
    return call != nullptr && (call->kind == HostCall::Kind::allocate || call->kind == HostCall::Kind::release);
  };
  for (const Op& op : schedule.ops)
    if (obtains(op)) any = obtained[std::get<HostCall>(op.what).region.buffer.index()] = true;
  std::vector<std::string> found;
  for (std::uint32_t i = 0; any && i < schedule.ops.size() && found.size() < limit; ++i) {
    if (obtains(schedule.ops[i])) continue;
    for_each_access(schedule.ops[i], [&](const Region& region, AccessMode) {
      if (obtained[region.buffer.index()])
        found.push_back(
            fmt::format("{} uses buffer {}, which an op of the schedule allocates; bind memory to another one",
                        describe(schedule, OpId{i}), schedule.buffers[region.buffer.index()].name));
    });
  }
  return found;
}

/// Returns one sentence for each kept array that cannot be copied to its GPU.
std::vector<std::string> unsound_kept(const Schedule& schedule) {
  std::vector<std::string> found;
  for (const auto& [host, gpu] : schedule.kept) {
    if (host.index() >= schedule.buffers.size() || gpu.index() >= schedule.buffers.size()) {
      found.push_back(
          fmt::format("a kept array is in buffers {} and {}, and the schedule has {} buffers; add them first",
                      host.value, gpu.value, schedule.buffers.size()));
      continue;
    }
    const Buffer& from = schedule.buffers[host.index()];
    const Buffer& to = schedule.buffers[gpu.index()];
    if (!from.place.is_host() || !to.place.is_gpu() || from.size != to.size)
      found.push_back(
          fmt::format("kept array {} is {} at {} and {} at {}; it needs as much memory of the host as of a GPU",
                      from.name, to_string(from.size), to_string(from.place), to_string(to.size), to_string(to.place)));
  }
  return found;
}

/// Returns one sentence for each op that destroys a stream when its agent has created none before.
std::vector<std::string> destroyed_too_often(const Schedule& schedule) {
  std::vector<std::string> found;
  // Streams are counted per agent, because the order of ops of different agents is not known.
  std::vector<int> created(schedule.agents.size());
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const auto* call = std::get_if<HostCall>(&schedule.ops[i].what);
    if (call == nullptr || has_region(call->kind) || call->kind == HostCall::Kind::wait) continue;
    int& own = created[schedule.ops[i].agent.index()];
    own += call->kind == HostCall::Kind::create_stream ? 1 : -1;
    if (own < 0)
      found.push_back(fmt::format("{} finds no stream that its agent has created before; create one first",
                                  describe(schedule, OpId{i})));
    own = std::max(own, 0);
  }
  return found;
}

}  // namespace

std::vector<std::string> problems(const Schedule& schedule, std::size_t limit) {
  std::vector<std::string> found = streams_without_gpu(schedule);
  std::ranges::copy(advice_in_vain(schedule), std::back_inserter(found));
  std::ranges::copy(unsound_kept(schedule), std::back_inserter(found));
  Obtained obtained{.allocated = std::vector<bool>(schedule.buffers.size())};
  for (std::uint32_t i = 0; i < schedule.ops.size() && found.size() < limit; ++i)
    OpCheck(schedule, OpId{i}, obtained, found).check();
  if (found.empty()) found = uses_of_allocated(schedule, limit);
  if (found.empty()) found = destroyed_too_often(schedule);
  if (found.empty() && schedule.as_graph && !can_be_held(schedule))
    found.emplace_back(
        "the schedule is a graph, but the host or the driver waits for some of its ops; pin the memory, or submit the "
        "ops "
        "one by one");
  if (found.size() < limit)
    for (std::string& problem : order_problems(schedule, limit - found.size())) found.push_back(std::move(problem));
  // The search for races requires that all ids exist and no op waits for a later one.
  if (found.empty()) found = race_problems(schedule, limit);
  if (found.size() > limit) found.resize(limit);
  return found;
}

void validate(const Schedule& schedule) {
  constexpr std::size_t limit = 8;
  const std::vector<std::string> found = problems(schedule, limit);
  if (found.empty()) return;
  throw Error(fmt::format("the schedule is not sound: {}{}", fmt::join(found, "\n  "),
                          found.size() == limit ? "\n  (there may be more)" : ""));
}

}  // namespace shiplap
