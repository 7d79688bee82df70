#include "shiplap/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/schedule/races.hpp"

namespace shiplap {
namespace {

template <class Table, class Entry>
auto append(Table& table, Entry entry) {
  table.push_back(std::move(entry));
  return static_cast<std::uint32_t>(table.size() - 1);
}

const Buffer& buffer_of(const Schedule& schedule, BufferId id) {
  if (id.index() >= schedule.buffers.size())
    throw Error(
        fmt::format("buffer {} does not exist: the schedule has {} buffers", id.value, schedule.buffers.size()));
  return schedule.buffers[id.index()];
}

bool same(const Buffer& a, const Buffer& b) {
  return a.name == b.name && a.place == b.place && a.memory == b.memory && a.size == b.size;
}
bool same(const Stream& a, const Stream& b) { return a.name == b.name && a.place == b.place && a.urgent == b.urgent; }
bool same(const BlockList& a, const BlockList& b) { return a == b; }
bool same(const Agent& a, const Agent& b) { return a.name == b.name && a.numa_node == b.numa_node; }
bool same(const std::string& a, const std::string& b) { return a == b; }

std::string shown(const Buffer& b) {
  return fmt::format("{} ({}, {}, {})", b.name, to_string(b.size), to_string(b.memory), to_string(b.place));
}
std::string shown(const Stream& s) {
  return fmt::format("{} ({}{})", s.name, to_string(s.place), s.urgent ? ", urgent" : "");
}
std::string shown(const BlockList& l) {
  return fmt::format("{} ({} blocks of {} at a pitch of {}, {})", l.name, l.count, to_string(l.block),
                     to_string(l.pitch), l.regular ? "regular" : "by indices");
}
std::string shown(const Agent& a) {
  const bool is_on_one = a.numa_node && *a.numa_node != any_numa_node;
  return is_on_one ? fmt::format("{} (on node {})", a.name, *a.numa_node) : a.name;
}
std::string shown(const std::string& kernel) { return kernel; }

template <class Entry>
void require_same(const char* what, const std::vector<Entry>& first, const std::vector<Entry>& second) {
  if (first.size() != second.size())
    throw Error(
        fmt::format("cannot concatenate schedules: the first has {} {}s, the second {}; both must have the same",
                    first.size(), what, second.size()));
  for (std::size_t i = 0; i < first.size(); ++i)
    if (!same(first[i], second[i]))
      throw Error(
          fmt::format("cannot concatenate schedules: {} {} is {} in the first and {} in the second; both must "
                      "have the same {}s",
                      what, i, shown(first[i]), shown(second[i]), what));
}

constexpr std::array direction_letters{
    std::pair{CopyDirection::host_to_device, "H2D"sv}, std::pair{CopyDirection::device_to_host, "D2H"sv},
    std::pair{CopyDirection::device_to_device, "D2D"sv}, std::pair{CopyDirection::host_to_host, "H2H"sv}};

using Call = HostCall::Kind;
constexpr std::array call_names{std::pair{Call::touch, "touch by the host"sv},
                                std::pair{Call::flush, "flush of the CPU's caches"sv},
                                std::pair{Call::pin, "pin"sv},
                                std::pair{Call::unpin, "unpin"sv},
                                std::pair{Call::allocate, "allocation"sv},
                                std::pair{Call::release, "release"sv},
                                std::pair{Call::create_stream, "creation of a stream"sv},
                                std::pair{Call::destroy_stream, "destruction of a stream"sv},
                                std::pair{Call::wait, "wait of the host"sv}};
/// The keys in profiles. Those of allocations have the kind of memory behind them.
constexpr std::array call_keys{std::pair{Call::touch, "touch"sv},
                               std::pair{Call::flush, "flush"sv},
                               std::pair{Call::pin, "pin"sv},
                               std::pair{Call::unpin, "unpin"sv},
                               std::pair{Call::allocate, "allocate"sv},
                               std::pair{Call::release, "release"sv},
                               std::pair{Call::create_stream, "create stream"sv},
                               std::pair{Call::destroy_stream, "destroy stream"sv},
                               std::pair{Call::wait, "wait"sv}};

// The name of an op in messages. The ids of the op may be invalid, because messages about unsound schedules name ops
// too.
struct Name {
  const Schedule& schedule;

  std::string operator()(const Copy& copy) const {
    const std::size_t n = schedule.buffers.size();
    if (copy.from.buffer.index() >= n || copy.to.buffer.index() >= n) return "copy";
    return fmt::format("copy {}", name_in(direction_letters, direction(schedule, copy)));
  }
  std::string operator()(const Kernel& kernel) const {
    if (kernel.kernel.index() >= schedule.kernels.size()) return "kernel";
    return fmt::format("kernel {}", schedule.kernels[kernel.kernel.index()]);
  }
  std::string operator()(const BlockCopy& blocks) const {
    const char* what = blocks.gather ? "gather" : "scatter";
    if (blocks.list.index() >= schedule.lists.size()) return what;
    return fmt::format("{} of {} blocks of {}", what, blocks.count, schedule.lists[blocks.list.index()].name);
  }
  std::string operator()(const HostCopy&) const { return "host copy"; }
  std::string operator()(const HostCall& call) const { return to_string(call.kind); }
  std::string operator()(const Prefetch& prefetch) const {
    return fmt::format("prefetch to {}", to_string(prefetch.to));
  }
};

}  // namespace

BufferId Schedule::add_buffer(Buffer buffer) { return {append(buffers, std::move(buffer))}; }
KernelId Schedule::add_kernel(std::string name) { return {append(kernels, std::move(name))}; }
BlockListId Schedule::add_list(BlockList list) { return {append(lists, std::move(list))}; }
StreamId Schedule::add_stream(std::string name, Place place) {
  return {append(streams, Stream{.name = std::move(name), .place = place})};
}
OpId Schedule::add(Op op) { return {append(ops, std::move(op))}; }

CopyDirection direction(const Schedule& schedule, const Copy& copy) {
  const bool from_host = buffer_of(schedule, copy.from.buffer).place.is_host();
  const bool to_host = buffer_of(schedule, copy.to.buffer).place.is_host();
  if (from_host) return to_host ? CopyDirection::host_to_host : CopyDirection::host_to_device;
  return to_host ? CopyDirection::device_to_host : CopyDirection::device_to_device;
}

CopyDirection direction(const Schedule& schedule, const BlockCopy& blocks) {
  return direction(schedule, Copy{.from = blocks.gather ? blocks.pool : blocks.packed,
                                  .to = blocks.gather ? blocks.packed : blocks.pool});
}

bool are_apart(const Schedule& schedule, OpId first, OpId second) {
  const auto* a = std::get_if<BlockCopy>(&schedule.ops[first.index()].what);
  const auto* b = std::get_if<BlockCopy>(&schedule.ops[second.index()].what);
  if (a == nullptr || b == nullptr || a->list != b->list || !(a->pool == b->pool)) return false;
  return a->first + a->count <= b->first || b->first + b->count <= a->first;
}

Schedule concatenate(const Schedule& first, const Schedule& second) {
  require_same("buffer", first.buffers, second.buffers);
  require_same("kernel", first.kernels, second.kernels);
  require_same("stream", first.streams, second.streams);
  require_same("agent", first.agents, second.agents);
  require_same("list", first.lists, second.lists);
  if (first.peer_access != second.peer_access)
    throw Error("cannot concatenate schedules: one lets GPUs address each other's memory and the other does not");
  if (first.as_graph != second.as_graph)
    throw Error("cannot concatenate schedules: one is submitted as a graph and the other op by op");
  Schedule result = first;
  result.ops.reserve(first.ops.size() + second.ops.size());
  const auto shift = static_cast<std::uint32_t>(first.ops.size());
  for (Op op : second.ops) {
    for (OpId& dependency : op.after) dependency.value += shift;
    result.ops.push_back(std::move(op));
  }
  order_conflicts(result, OpId{shift});
  return result;
}

Schedule copies_of_kept(const Schedule& schedule, std::span<const KeptArray> arrays, CopyDirection way) {
  Schedule copies;
  copies.buffers = schedule.buffers;
  copies.peer_access = schedule.peer_access;
  for (const KeptArray& array : arrays) {
    const Bytes size = buffer_of(schedule, array.gpu).size;
    const Region host{array.host, Bytes{0}, size};
    const Region gpu{array.gpu, Bytes{0}, size};
    const bool to_gpu = way == CopyDirection::host_to_device;
    const StreamId stream =
        copies.add_stream("copies of " + buffer_of(schedule, array.host).name, buffer_of(schedule, array.gpu).place);
    copies.add({.what = to_gpu ? Copy{host, gpu} : Copy{gpu, host},
                .stream = stream,
                .agent = AgentId{0},
                .after = {},
                .chunk = 0});
  }
  return copies;
}

std::string describe(const Schedule& schedule, OpId id) {
  if (id.index() >= schedule.ops.size()) return fmt::format("op {} (which does not exist)", id.value);
  const Op& op = schedule.ops[id.index()];
  return fmt::format("{} of chunk {} (op {})", std::visit(Name{schedule}, op.what), op.chunk, id.value);
}

Bytes memory_at(const Schedule& schedule, Place place) {
  Bytes total;
  for (const Buffer& buffer : schedule.buffers) {
    if (buffer.place != place) continue;
    // A sum beyond 64 bits is clamped to the largest value, so that it does not look small.
    const Bytes until_overflow = Bytes{std::numeric_limits<std::uint64_t>::max()} - total;
    total += std::min(buffer.size, until_overflow);
  }
  return total;
}

std::string to_string(Place place) {
  if (place == Place::host()) return "host";
  return fmt::format("{} {}", place.is_host() ? "host" : "gpu", place.index);
}

MemoryKind parse_array_memory(std::string_view name) {
  if (const auto kind = value_of<MemoryKind>(name)) return *kind;
  throw UsageError(fmt::format("memory \"{}\": give one of {}", name, all_names<MemoryKind>()));
}

std::string to_string(MemoryKind kind) { return std::string(name_in(memory_names, kind)); }
std::string to_string(HostCall::Kind kind) { return std::string(name_in(call_names, kind)); }

std::string name_in_profile(HostCall::Kind kind, MemoryKind memory) {
  const std::string name(name_in(call_keys, kind));
  if (kind != HostCall::Kind::allocate && kind != HostCall::Kind::release) return name;
  return name + " " + to_string(memory == MemoryKind::mapped ? MemoryKind::pinned : memory);
}

bool has_region(HostCall::Kind kind) {
  return kind != HostCall::Kind::create_stream && kind != HostCall::Kind::destroy_stream &&
         kind != HostCall::Kind::wait;
}

OpId first_of_batch(const Schedule& schedule, OpId id) {
  while (id.index() > 0 && schedule.ops[id.index()].batched) --id.value;
  return id;
}

OpId last_of_batch(const Schedule& schedule, OpId id) {
  while (id.index() + 1 < schedule.ops.size() && schedule.ops[id.index() + 1].batched) ++id.value;
  return id;
}

bool is_pinned(MemoryKind kind) {
  return kind == MemoryKind::pinned || kind == MemoryKind::mapped || kind == MemoryKind::driver_pinned ||
         kind == MemoryKind::write_combined;
}

bool blocks_agent(const Schedule& schedule, const Op& op) {
  if (std::holds_alternative<HostCopy>(op.what) || std::holds_alternative<HostCall>(op.what)) return true;
  const auto pageable = [&](const Region& r) { return buffer_of(schedule, r.buffer).memory == MemoryKind::pageable; };
  if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) return op.stream.is_none() || pageable(blocks->pool);
  if (const auto* kernel = std::get_if<Kernel>(&op.what)) return op.stream.is_none() || kernel->waits;
  const auto* copy = std::get_if<Copy>(&op.what);
  if (copy == nullptr) return false;
  return pageable(copy->from) || pageable(copy->to);
}

OpId first_blocking(const Schedule& schedule) {
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i)
    if (blocks_agent(schedule, schedule.ops[i])) return OpId{i};
  return {};
}

bool can_be_held(const Schedule& schedule) {
  const auto through_host = [&](const Op& op) {
    const auto* copy = std::get_if<Copy>(&op.what);
    if (copy == nullptr || schedule.peer_access) return false;
    const Place from = buffer_of(schedule, copy->from.buffer).place;
    const Place to = buffer_of(schedule, copy->to.buffer).place;
    return from.is_gpu() && to.is_gpu() && from != to;
  };
  return first_blocking(schedule).is_none() && std::ranges::none_of(schedule.ops, through_host) &&
         std::ranges::none_of(schedule.buffers, pages_move);
}

bool is_allocated_by_op(const Schedule& schedule, BufferId buffer) {
  for (const Op& op : schedule.ops)
    if (const auto* call = std::get_if<HostCall>(&op.what);
        call != nullptr && call->kind == HostCall::Kind::allocate && call->region.buffer == buffer)
      return true;
  return false;
}

}  // namespace shiplap
