// Changes of a schedule at one place, each of which may break a rule.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "tests/schedule/drawn_schedule.hpp"

namespace shiplap::testing_orders {
namespace {

std::vector<Region*> regions_of(Op& op) {
  if (auto* copy = std::get_if<Copy>(&op.what)) return {&copy->from, &copy->to};
  if (auto* host = std::get_if<HostCopy>(&op.what)) return {&host->from, &host->to};
  if (auto* call = std::get_if<HostCall>(&op.what)) return {&call->region};
  if (auto* prefetch = std::get_if<Prefetch>(&op.what)) return {&prefetch->region};
  if (auto* blocks = std::get_if<BlockCopy>(&op.what)) return {&blocks->pool, &blocks->packed};
  std::vector<Region*> regions;
  for (Access& operand : std::get<Kernel>(op.what).operands) regions.push_back(&operand.region);
  return regions;
}

/// A value near the old one, or one that no table has.
void change(std::uint32_t& id, std::size_t table, Draw& draw) {
  if (draw.one_in(12))
    id = draw.one_in(2) ? static_cast<std::uint32_t>(table) : Id<void>::none_value;
  else if (table > 0)
    id = draw.below(table);
}
void change(Bytes& bytes, Draw& draw) {
  constexpr std::array<std::int64_t, 8> steps{-4, -2, -1, 1, 1, 2, 3, 8};
  if (draw.one_in(16))
    bytes.count = draw.one_in(2) ? std::numeric_limits<std::uint64_t>::max() - draw.below(4) : 0;
  else
    bytes.count += static_cast<std::uint64_t>(draw.one_of(steps));
}

Op& any_op(Schedule& schedule, Draw& draw) { return draw.one_of(schedule.ops); }

std::string drop_wait(Schedule& schedule, Draw& draw) {
  Op& op = any_op(schedule, draw);
  if (op.after.empty()) return "no wait dropped";
  op.after.erase(op.after.begin() + draw.below(op.after.size()));
  return "a wait dropped";
}
std::string add_wait(Schedule& schedule, Draw& draw) {
  const std::uint32_t op = draw.below(schedule.ops.size());
  const std::size_t n = schedule.ops.size();
  const bool earlier = op > 0 && !draw.one_in(6);
  schedule.ops[op].after.push_back(OpId{draw.below(earlier ? op : n + 1)});
  return fmt::format("op {} waits more", op);
}
std::string change_wait(Schedule& schedule, Draw& draw) {
  const std::uint32_t op = draw.below(schedule.ops.size());
  auto& after = schedule.ops[op].after;
  if (after.empty() || op == 0) return "no wait changed";
  draw.one_of(after) = OpId{draw.below(op)};
  return fmt::format("op {} waits for another", op);
}
std::string change_buffer(Schedule& schedule, Draw& draw) {
  const auto regions = regions_of(any_op(schedule, draw));
  if (!regions.empty()) change(draw.one_of(regions)->buffer.value, schedule.buffers.size(), draw);
  return "another buffer";
}
std::string swap_regions(Schedule& schedule, Draw& draw) {
  const auto regions = regions_of(any_op(schedule, draw));
  if (regions.size() > 1) std::swap(*regions[0], *regions[draw.below(regions.size() - 1) + 1]);
  return "regions swapped";
}
std::string shift_region(Schedule& schedule, Draw& draw) {
  const auto regions = regions_of(any_op(schedule, draw));
  if (!regions.empty()) change(draw.one_of(regions)->offset, draw);
  return "another offset";
}
std::string change_lengths(Schedule& schedule, Draw& draw) {
  const auto regions = regions_of(any_op(schedule, draw));
  if (regions.empty()) return "no length changed";
  change(draw.one_of(regions)->length, draw);
  if (!draw.one_in(4))
    for (Region* region : regions) region->length = regions.front()->length;
  return "another length";
}
std::string change_stream(Schedule& schedule, Draw& draw) {
  Op& op = any_op(schedule, draw);
  if (draw.one_in(8))
    op.stream = op.stream.is_none() && !schedule.streams.empty() ? StreamId{0} : StreamId{};
  else if (!op.stream.is_none())
    change(op.stream.value, schedule.streams.size(), draw);
  return "another stream";
}
std::string change_agent(Schedule& schedule, Draw& draw) {
  if (draw.one_in(4)) schedule.agents.push_back({"one more"});
  change(any_op(schedule, draw).agent.value, schedule.agents.size(), draw);
  return "another agent";
}
std::string toggle_batch(Schedule& schedule, Draw& draw) {
  const std::uint32_t i = draw.below(schedule.ops.size());
  Op& op = schedule.ops[i];
  op.batched = !op.batched;
  if (!op.batched || i == 0 || draw.one_in(3)) return "a batch begins or ends";
  op.stream = schedule.ops[i - 1].stream;
  op.agent = schedule.ops[i - 1].agent;
  op.after.clear();
  return "a copy joins a batch";
}
std::string toggle_graph(Schedule& schedule, Draw& draw) {
  schedule.as_graph = !schedule.as_graph;
  if (schedule.as_graph && draw.one_in(2)) {
    schedule.agents.resize(1);
    for (Op& op : schedule.ops) op.agent = {0};
  }
  return "a graph or not";
}
std::string repeat_op(Schedule& schedule, Draw& draw) {
  schedule.ops.push_back(any_op(schedule, draw));
  if (draw.one_in(2)) schedule.ops.back().batched = false;
  return "an op again at the end";
}
std::string add_op(Schedule& schedule, Draw& draw) {
  if (schedule.streams.empty() || schedule.kernels.empty() || schedule.agents.empty()) return "no op added";
  for (const BlockList& list : schedule.lists)
    if (list.count == 0 || list.count > 99 || list.block.count == 0 || list.block > 99_B || list.pitch > 99_B)
      return "no op added";
  add_random_op(schedule, draw);
  if (draw.one_in(2)) order_shared_bytes(schedule, draw, 0);
  return "one more op";
}
std::string exchange_neighbours(Schedule& schedule, Draw& draw) {
  if (schedule.ops.size() < 2) return "no op moved";
  const std::uint32_t i = draw.below(schedule.ops.size() - 1);
  std::swap(schedule.ops[i], schedule.ops[i + 1]);
  for (Op& op : schedule.ops)
    for (OpId& before : op.after)
      if (before.value == i || before.value == i + 1) before.value = 2 * i + 1 - before.value;
  return fmt::format("ops {} and {} exchanged", i, i + 1);
}
std::string remove_op(Schedule& schedule, Draw& draw) {
  if (schedule.ops.size() < 2) return "no op removed";
  const std::uint32_t i = draw.below(schedule.ops.size());
  schedule.ops.erase(schedule.ops.begin() + i);
  for (Op& op : schedule.ops) {
    std::erase(op.after, OpId{i});
    for (OpId& before : op.after)
      if (before.value > i) --before.value;
  }
  return fmt::format("op {} removed", i);
}
std::string change_memory(Schedule& schedule, Draw& draw) {
  Buffer& buffer = draw.one_of(schedule.buffers);
  constexpr std::array kinds{MemoryKind::pageable, MemoryKind::pinned, MemoryKind::managed, MemoryKind::device};
  if (draw.one_in(2))
    buffer.memory = draw.one_of(kinds);
  else if (draw.one_in(2))
    buffer.place = buffer.place.is_host() ? Place::gpu() : Place::host();
  else
    change(buffer.size, draw);
  buffer.size = std::min(buffer.size, 4_KiB);
  return "another memory";
}
std::string change_list(Schedule& schedule, Draw& draw) {
  if (schedule.lists.empty()) return "no list changed";
  BlockList& list = draw.one_of(schedule.lists);
  const std::uint32_t what = draw.below(4);
  if (what == 0) list.regular = !list.regular;
  if (what == 1) change(list.block, draw);
  if (what == 2) change(list.pitch, draw);
  if (what == 3) list.count = draw.below(2 * list.count + 2);
  return "another list";
}
std::string change_blocks(Schedule& schedule, Draw& draw) {
  std::vector<BlockCopy*> all;
  for (Op& op : schedule.ops)
    if (auto* blocks = std::get_if<BlockCopy>(&op.what)) all.push_back(blocks);
  if (all.empty()) return "no blocks changed";
  BlockCopy& blocks = *draw.one_of(all);
  const std::size_t lists = schedule.lists.size();
  switch (draw.below(7)) {
    case 0:
      blocks.gather = !blocks.gather;
      break;
    case 1:
      blocks.mover = {.kind = static_cast<Mover::Kind>(draw.below(4)), .grid = draw.below(2)};
      break;
    case 2:
      blocks.first = draw.below(blocks.first + 3);
      break;
    case 3:
      blocks.count = draw.below(blocks.count + 3);
      break;
    case 4:
      blocks.list = {draw.below(lists + 1)};
      break;
    case 5:
      blocks.pool.length = Bytes{draw.between(1, 2)};
      break;
    default:
      blocks.mover = {.kind = Mover::Kind::kernel, .grid = draw.below(2)};
      if (blocks.mover.grid > 0 && blocks.pool.buffer.index() < schedule.buffers.size())
        schedule.buffers[blocks.pool.buffer.index()].memory = MemoryKind::pageable;
  }
  return "another move of blocks";
}
std::string change_call(Schedule& schedule, Draw& draw) {
  std::vector<Op*> all;
  for (Op& op : schedule.ops)
    if (std::holds_alternative<HostCall>(op.what) || std::holds_alternative<Prefetch>(op.what)) all.push_back(&op);
  if (all.empty()) return "no call changed";
  Op& op = *draw.one_of(all);
  auto* call = std::get_if<HostCall>(&op.what);
  Region& region = call != nullptr ? call->region : std::get<Prefetch>(op.what).region;
  if (call != nullptr && draw.one_in(2)) call->kind = static_cast<HostCall::Kind>(draw.below(9));
  if (draw.one_in(2)) region.buffer = BufferId{draw.below(schedule.buffers.size())};
  if (region.buffer.index() < schedule.buffers.size() && draw.one_in(2))
    region = {region.buffer, 0_B, Bytes{draw.between(1, schedule.buffers[region.buffer.index()].size.count + 1)}};
  return "another call";
}
std::string change_kind(Schedule& schedule, Draw& draw) {
  Op& op = any_op(schedule, draw);
  if (auto* copy = std::get_if<Copy>(&op.what)) {
    op.what = HostCopy{.from = copy->from, .to = copy->to};
    if (!draw.one_in(4)) op.stream = {};
  } else if (auto* host = std::get_if<HostCopy>(&op.what)) {
    op.what = Copy{.from = host->from, .to = host->to};
    if (!draw.one_in(4) && !schedule.streams.empty()) op.stream = {0};
  } else if (auto* prefetch = std::get_if<Prefetch>(&op.what)) {
    op.what = HostCall{.kind = HostCall::Kind::touch, .region = prefetch->region};
    op.stream = {};
  } else if (auto* call = std::get_if<HostCall>(&op.what)) {
    call->kind = static_cast<HostCall::Kind>(draw.below(9));
  } else if (auto* kernel = std::get_if<Kernel>(&op.what)) {
    if (draw.one_in(8)) kernel->kernel = {draw.below(schedule.kernels.size() + 1)};
    if (draw.one_in(4) && !kernel->flows.empty())
      change(kernel->flows.front().buffer.value, schedule.buffers.size(), draw);
    if (!kernel->operands.empty()) {
      Access& operand = draw.one_of(kernel->operands);
      operand.mode = operand.mode == AccessMode::read ? AccessMode::write : AccessMode::read;
    }
  }
  return "another kind of op";
}

double odd_number(Draw& draw) {
  constexpr std::array numbers{
      -1e-6, 0.0, 1e-300, 1e6, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  return draw.one_of(numbers);
}
std::uint64_t odd_count(Draw& draw) {
  constexpr std::array<std::uint64_t, 6> counts{0, 1, 7, 1000, 1u << 20, ~std::uint64_t{0}};
  return draw.one_of(counts);
}
std::string change_figures(Schedule& schedule, Draw& draw) {
  Op& op = any_op(schedule, draw);
  if (auto* copy = std::get_if<Copy>(&op.what)) copy->measured = Seconds{odd_number(draw)};
  if (auto* call = std::get_if<HostCall>(&op.what)) call->work = Seconds{odd_number(draw)};
  auto* kernel = std::get_if<Kernel>(&op.what);
  if (kernel == nullptr) return "another figure";
  const std::uint32_t what = draw.below(9);
  if (what == 0) kernel->work = Seconds{odd_number(draw)};
  if (what == 1) kernel->call = Seconds{odd_number(draw)};
  if (what == 2) kernel->memory_bound = odd_number(draw);
  if (what == 3)
    kernel->measured = MeasuredFlow{Seconds{odd_number(draw)}, Seconds{odd_number(draw)}, odd_number(draw)};
  if (what == 4) kernel->blocks = odd_count(draw);
  if (what == 5) kernel->resident_blocks = odd_count(draw);
  if (what == 6) kernel->full_rate_blocks = odd_count(draw);
  if (what == 7) kernel->launches = odd_count(draw) % 2000;
  if (what == 8 && !kernel->flows.empty())
    kernel->flows.front().in_flight = kernel->flows.front().bytes = Bytes{odd_count(draw)};
  return "another figure";
}
std::string change_places(Schedule& schedule, Draw& draw) {
  const auto place = [&] {
    const auto index = static_cast<std::uint16_t>(draw.below(4));
    return draw.one_in(3) ? Place::host(index) : Place::gpu(index);
  };
  Op& op = any_op(schedule, draw);
  if (auto* prefetch = std::get_if<Prefetch>(&op.what))
    prefetch->to = place();
  else if (!schedule.streams.empty() && draw.one_in(2))
    draw.one_of(schedule.streams).place = place();
  else
    schedule.peer_access = !schedule.peer_access;
  return "another place";
}

}  // namespace

std::string mutate(Schedule& schedule, Draw& draw) {
  if (schedule.ops.empty() || schedule.buffers.empty()) return "nothing";
  using Mutation = std::string (*)(Schedule&, Draw&);
  constexpr std::array<Mutation, 25> mutations{
      drop_wait,    drop_wait,      drop_wait,     add_wait,       change_wait,         change_wait,   change_buffer,
      swap_regions, shift_region,   shift_region,  change_lengths, change_stream,       change_stream, change_agent,
      toggle_batch, toggle_graph,   repeat_op,     add_op,         exchange_neighbours, remove_op,     change_memory,
      change_kind,  change_figures, change_places, change_call};
  if (!schedule.lists.empty() && draw.one_in(3))
    return draw.one_in(4) ? change_list(schedule, draw) : change_blocks(schedule, draw);
  return draw.one_of(mutations)(schedule, draw);
}

Schedule enlarged(Schedule schedule) {
  constexpr std::uint64_t factor = 1 << 20;
  for (Buffer& buffer : schedule.buffers) buffer.size = buffer.size * factor;
  for (BlockList& list : schedule.lists) {
    list.block = list.block * factor;
    list.pitch = list.pitch * factor;
  }
  for (Op& op : schedule.ops)
    for (Region* region : regions_of(op)) {
      region->offset = region->offset * factor;
      region->length = region->length * factor;
    }
  return schedule;
}

}  // namespace shiplap::testing_orders
