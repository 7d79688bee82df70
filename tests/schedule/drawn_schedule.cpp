#include "tests/schedule/drawn_schedule.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/strategy/shapes.hpp"

namespace shiplap::testing_orders {
namespace {

constexpr std::array host_memory{MemoryKind::pageable,      MemoryKind::pinned,         MemoryKind::mapped,
                                 MemoryKind::driver_pinned, MemoryKind::write_combined, MemoryKind::managed};

/// Indices of blocks for the jobs; strategies read only how many there are.
constexpr std::array<std::uint32_t, 64> any_indices{};

Role random_role(Draw& draw, bool stays_allowed) {
  constexpr std::array roles{Role::in, Role::out, Role::inout, Role::scratch, Role::broadcast, Role::carried};
  return roles[draw.below(stays_allowed ? roles.size() : 4)];
}

void make_blocks(Array& array, std::uint64_t items, Draw& draw) {
  const std::uint64_t block = draw.between(1, 4);
  const std::uint64_t count = items * draw.between(1, 2);
  const std::uint64_t pitch = block + draw.below(3);
  array.element = Bytes{block};
  array.size = Bytes{block * count};
  array.blocks =
      Blocks{.count = count, .block = Bytes{block}, .pitch = Bytes{pitch}, .pool = Bytes{pitch * (count + 3)}};
  if (draw.one_in(3)) return;
  array.blocks->indices = {.data = any_indices.data(), .count = count, .width = 4};
}

Job random_job(const Strategy& strategy, Draw& draw) {
  const std::uint64_t items = draw.between(1, 14);
  Job job = in_out_job(1_B, 1_B, microseconds(static_cast<double>(draw.between(1, 50))), items);
  job.arrays.clear();
  const std::uint64_t arrays = draw.between(1, 4);
  for (std::uint64_t a = 0; a < arrays; ++a) {
    const std::uint64_t element = draw.between(1, 3);
    Array array{.name = "a" + std::to_string(a),
                .role = random_role(draw, !strategy.zero_copy),
                .size = Bytes{items * element},
                .element = Bytes{element}};
    array.memory = strategy.memory == ArrayMemory::pinned     ? MemoryKind::pinned
                   : strategy.memory == ArrayMemory::pageable ? MemoryKind::pageable
                                                              : MemoryKind::managed;
    if (array.role == Role::in && draw.one_in(3))
      array.reach = halo(draw.below(3), draw.below(3));
    else if ((array.role == Role::in || array.role == Role::out) && draw.one_in(4))
      make_blocks(array, items, draw);
    job.arrays.push_back(array);
  }
  return job;
}

Choice random_choice(const Strategy& strategy, Draw& draw) {
  constexpr std::array layouts{Layout::per_chunk, Layout::few, Layout::three, Layout::one_engine,
                               Layout::implicit_sync};
  constexpr std::array movers{Mover{.kind = Mover::Kind::copies}, Mover{.kind = Mover::Kind::batch},
                              Mover{.kind = Mover::Kind::strided}, Mover{.kind = Mover::Kind::kernel, .grid = 2}};
  Choice choice{.strategy = std::string(strategy.name),
                .chunks = strategy.chunked ? 1 + draw.below(5) : 1,
                .layout = draw.one_of(layouts),
                .streams = 1 + draw.below(3),
                .order = draw.one_in(2) ? IssueOrder::depth : IssueOrder::breadth,
                .ring = draw.below(4),
                .threads = strategy.threaded ? draw.below(3) : 0,
                .gpus = draw.one_in(5) ? 2u : 1u};
  choice.graph = draw.one_in(6);
  choice.batched = draw.one_in(5);
  if (draw.one_in(2)) choice.mover_h2d = draw.one_of(movers);
  if (draw.one_in(2)) choice.mover_d2h = draw.one_of(movers);
  return choice;
}

/// Whether the ops move blocks at different positions of one list, so that they share no byte of its pool.
bool move_other_blocks(const Op& one, const Op& other) {
  const auto* a = std::get_if<BlockCopy>(&one.what);
  const auto* b = std::get_if<BlockCopy>(&other.what);
  return a != nullptr && b != nullptr && a->list == b->list && a->pool == b->pool &&
         a->packed.buffer != b->packed.buffer && (a->first + a->count <= b->first || b->first + b->count <= a->first);
}

bool share_written_bytes(const Op& one, const Op& other) {
  if (move_other_blocks(one, other)) return false;
  bool found = false;
  for_each_access(one, [&](const Region& a, AccessMode mode_a) {
    for_each_access(other, [&](const Region& b, AccessMode mode_b) {
      const bool apart = a.buffer != b.buffer || a.offset.count >= b.offset.count + b.length.count ||
                         b.offset.count >= a.offset.count + a.length.count;
      if (!apart && (mode_a == AccessMode::write || mode_b == AccessMode::write)) found = true;
    });
  });
  return found;
}

BufferId buffer_where(const Schedule& schedule, Draw& draw, const auto& fits) {
  std::vector<BufferId> found;
  for (std::uint32_t b = 0; b < schedule.buffers.size(); ++b)
    if (schedule.buffers[b].size.count > 0 && fits(schedule.buffers[b])) found.push_back(BufferId{b});
  return found.empty() ? BufferId{} : draw.one_of(found);
}

Region region_of(const Schedule& schedule, BufferId buffer, std::uint64_t length, Draw& draw) {
  return {buffer, Bytes{draw.between(0, schedule.buffers[buffer.index()].size.count - length)}, Bytes{length}};
}

// Two regions of one length in buffers that fit, without common bytes.
std::optional<std::pair<Region, Region>> two_regions(const Schedule& schedule, Draw& draw, const auto& fits_from,
                                                     const auto& fits_to) {
  const BufferId from = buffer_where(schedule, draw, fits_from);
  const BufferId to = buffer_where(schedule, draw, fits_to);
  if (from.is_none() || to.is_none()) return std::nullopt;
  const auto size = [&](BufferId b) { return schedule.buffers[b.index()].size.count; };
  const std::uint64_t length = draw.between(1, std::min(size(from), size(to)));
  const Region a = region_of(schedule, from, length, draw);
  const Region b = region_of(schedule, to, length, draw);
  if (from == to && a.offset < b.offset + b.length && b.offset < a.offset + a.length) return std::nullopt;
  return std::pair{a, b};
}

constexpr auto is_on_host = [](const Buffer& b) { return b.place.is_host(); };
constexpr auto is_on_gpu = [](const Buffer& b) { return b.place.is_gpu(); };
constexpr auto is_any = [](const Buffer&) { return true; };

std::optional<Op> random_copy(const Schedule& schedule, Draw& draw) {
  const std::uint32_t way = draw.below(5);
  const auto regions = way < 2   ? two_regions(schedule, draw, is_on_host, is_on_gpu)
                       : way < 4 ? two_regions(schedule, draw, is_on_gpu, is_on_host)
                                 : two_regions(schedule, draw, is_on_gpu, is_on_gpu);
  if (!regions) return std::nullopt;
  return Op{.what = Copy{.from = regions->first, .to = regions->second}, .stream = {}, .after = {}};
}

std::optional<Op> random_kernel(const Schedule& schedule, Draw& draw) {
  Kernel kernel{.kernel = {draw.below(schedule.kernels.size())}, .operands = {}, .flows = {}};
  kernel.items = 1;
  kernel.work = microseconds(draw.below(9));
  kernel.blocks = 1 + draw.below(6);
  kernel.resident_blocks = 1 + draw.below(6);
  kernel.full_rate_blocks = 1 + draw.below(6);
  kernel.launches = draw.one_in(6) ? 2 : 1;
  kernel.waits = draw.one_in(8);
  const std::uint32_t operands = draw.below(4);
  for (std::uint32_t o = 0; o < operands; ++o) {
    const BufferId buffer = buffer_where(schedule, draw, is_any);
    if (buffer.is_none()) return std::nullopt;
    const std::uint64_t length = draw.between(draw.one_in(8) ? 0 : 1, schedule.buffers[buffer.index()].size.count);
    const Region region = region_of(schedule, buffer, length, draw);
    const bool overlaps = std::ranges::any_of(kernel.operands, [&](const Access& other) {
      return other.region.buffer == buffer && region.offset < other.region.offset + other.region.length &&
             other.region.offset < region.offset + region.length;
    });
    if (overlaps && !draw.one_in(20)) continue;
    kernel.operands.push_back({.region = region, .mode = draw.one_in(2) ? AccessMode::write : AccessMode::read});
    const Buffer& memory = schedule.buffers[buffer.index()];
    if (memory.place.is_host() && is_pinned(memory.memory) && length > 0)
      kernel.flows.push_back(
          {.buffer = buffer, .mode = kernel.operands.back().mode, .bytes = Bytes{length}, .in_flight = 4_KiB});
  }
  return Op{.what = kernel, .stream = {}, .after = {}};
}

std::optional<Op> random_host_call(const Schedule& schedule, Draw& draw) {
  using Kind = HostCall::Kind;
  constexpr std::array often{Kind::touch, Kind::flush, Kind::wait};
  constexpr std::array rarely{Kind::pin,     Kind::unpin,         Kind::allocate,
                              Kind::release, Kind::create_stream, Kind::destroy_stream};
  HostCall call{.kind = draw.one_in(2) ? draw.one_of(rarely) : draw.one_of(often)};
  if (!has_region(call.kind)) return Op{.what = call, .stream = {}, .after = {}};
  const bool pins = call.kind == Kind::pin || call.kind == Kind::unpin;
  const BufferId buffer = buffer_where(schedule, draw, [&](const Buffer& b) {
    return pins ? b.memory == MemoryKind::pageable : b.place.is_host() || b.memory == MemoryKind::managed;
  });
  if (buffer.is_none()) return std::nullopt;
  const std::uint64_t size = schedule.buffers[buffer.index()].size.count;
  const bool whole = call.kind == Kind::allocate || call.kind == Kind::release;
  call.region = region_of(schedule, buffer, whole ? size : draw.between(1, size), draw);
  return Op{.what = call, .stream = {}, .after = {}};
}

std::optional<Op> random_block_copy(const Schedule& schedule, Draw& draw) {
  if (schedule.lists.empty()) return std::nullopt;
  BlockCopy blocks{.list = {draw.below(schedule.lists.size())}, .pool = {}, .packed = {}};
  const BlockList& list = schedule.lists[blocks.list.index()];
  blocks.first = draw.below(list.count);
  blocks.count = draw.between(1, list.count - blocks.first);
  blocks.gather = draw.one_in(2);
  const bool by_agent = draw.one_in(4);
  const std::uint64_t packed = blocks.count * list.block.count;
  const std::uint64_t pool = (list.count - 1) * list.pitch.count + list.block.count;
  const BufferId from = buffer_where(schedule, draw, [&](const Buffer& b) {
    return b.place.is_host() && b.size.count >= pool && b.memory != MemoryKind::managed;
  });
  const BufferId to = buffer_where(schedule, draw, [&](const Buffer& b) {
    return b.place.is_host() == by_agent && b.size.count >= packed && b.memory != MemoryKind::managed;
  });
  if (from.is_none() || to.is_none() || from == to) return std::nullopt;
  const std::uint64_t size = schedule.buffers[from.index()].size.count;
  blocks.pool = draw.one_in(3) ? region_of(schedule, from, pool, draw) : Region{from, 0_B, Bytes{size}};
  blocks.packed = region_of(schedule, to, packed, draw);
  const bool pinned = schedule.buffers[from.index()].memory != MemoryKind::pageable;
  blocks.mover.kind = draw.one_in(3) && pinned         ? Mover::Kind::kernel
                      : draw.one_in(3) && list.regular ? Mover::Kind::strided
                      : draw.one_in(2)                 ? Mover::Kind::batch
                                                       : Mover::Kind::copies;
  blocks.mover.grid = 1;
  Op op{.what = blocks, .stream = {}, .after = {}};
  if (!by_agent) op.stream = {draw.below(schedule.streams.size())};
  return op;
}

/// Joins copies that follow each other in batches, where the rules mostly allow it.
void batch_neighbours(Schedule& schedule, Draw& draw) {
  for (std::size_t i = 1; i < schedule.ops.size(); ++i) {
    Op& op = schedule.ops[i];
    const Op& before = schedule.ops[i - 1];
    const auto* copy = std::get_if<Copy>(&op.what);
    const auto* other = std::get_if<Copy>(&before.what);
    if (copy == nullptr || other == nullptr) continue;
    const bool fits = direction(schedule, *copy) == direction(schedule, *other) && !share_written_bytes(op, before) &&
                      !blocks_agent(schedule, op) && !blocks_agent(schedule, before);
    if (!draw.one_in(fits ? 1 : 20)) continue;
    op.batched = true;
    op.stream = before.stream;
    op.agent = before.agent;
  }
}

}  // namespace

void add_random_op(Schedule& schedule, Draw& draw) {
  std::optional<Op> op;
  while (!op) {
    const std::uint32_t kind = draw.below(20);
    if (kind < 7) {
      op = random_copy(schedule, draw);
    } else if (kind < 13) {
      op = random_kernel(schedule, draw);
    } else if (kind < 15) {
      if (const auto regions = two_regions(schedule, draw, is_on_host, is_on_host))
        op = Op{.what = HostCopy{.from = regions->first, .to = regions->second}, .stream = {}, .after = {}};
    } else if (kind < 17) {
      op = random_host_call(schedule, draw);
    } else if (kind < 19) {
      op = random_block_copy(schedule, draw);
    } else {
      const BufferId managed =
          buffer_where(schedule, draw, [](const Buffer& b) { return b.memory == MemoryKind::managed; });
      if (managed.is_none()) continue;
      const std::uint64_t length = draw.between(1, schedule.buffers[managed.index()].size.count);
      op = Op{.what = Prefetch{.region = region_of(schedule, managed, length, draw),
                               .to = draw.one_in(2) ? Place::host() : Place::gpu()},
              .stream = {},
              .after = {}};
    }
  }
  const bool by_agent = std::holds_alternative<HostCopy>(op->what) || std::holds_alternative<HostCall>(op->what) ||
                        std::holds_alternative<BlockCopy>(op->what);
  if (!by_agent) op->stream = {draw.below(schedule.streams.size())};
  op->agent = {draw.below(schedule.agents.size())};
  op->chunk = static_cast<std::uint32_t>(schedule.ops.size());
  schedule.add(*op);
}

void order_shared_bytes(Schedule& schedule, Draw& draw, std::uint64_t left_out) {
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i)
    for (std::uint32_t k = 0; k < i; ++k) {
      Op& op = schedule.ops[i];
      const Op& before = schedule.ops[k];
      if (!op.stream.is_none() && op.stream == before.stream) continue;
      if (op.batched || !share_written_bytes(op, before)) continue;
      if (left_out > 0 && draw.one_in(left_out)) continue;
      OpId awaited{k};
      while (awaited.value > 0 && schedule.ops[awaited.index()].batched && draw.one_in(2)) --awaited.value;
      op.after.push_back(awaited);
    }
}

DrawnSchedule draw_from_nothing(Draw& draw) {
  Schedule schedule;
  const std::uint64_t gpus = draw.one_in(6) ? 2 : 1;
  schedule.agents.resize(1 + draw.below(3), {"agent"});
  schedule.kernels = {"k", "l"};
  for (std::uint64_t q = draw.between(1, 4); q > 0; --q)
    schedule.add_stream("q", Place::gpu(static_cast<std::uint16_t>(draw.below(gpus))));
  const auto size = [&] { return Bytes{draw.between(1, 24)}; };
  for (std::uint64_t b = draw.between(1, 3); b > 0; --b)
    schedule.add_buffer({"d", Place::gpu(static_cast<std::uint16_t>(draw.below(gpus))), MemoryKind::device, size()});
  for (std::uint64_t b = draw.between(1, 3); b > 0; --b)
    schedule.add_buffer({"x", Place::host(), host_memory[draw.below(gpus == 1 ? 6 : 5)], size()});
  schedule.add_buffer({"p", Place::host(), MemoryKind::pinned, size()});
  for (std::uint64_t l = draw.below(3); l > 0; --l) {
    const std::uint64_t block = draw.between(1, 3);
    schedule.add_list({.name = "list",
                       .block = Bytes{block},
                       .pitch = Bytes{block + draw.below(3)},
                       .count = draw.between(1, 5),
                       .regular = draw.one_in(2)});
  }
  for (std::uint64_t ops = draw.between(1, 12); ops > 0; --ops) add_random_op(schedule, draw);
  batch_neighbours(schedule, draw);
  order_shared_bytes(schedule, draw, draw.one_in(2) ? 6 : 0);
  return {std::move(schedule), "random ops"};
}

/// Moves of single blocks of one list, all of them through one pool, and reads of the pool between them.
DrawnSchedule draw_moves_of_blocks(Draw& draw) {
  Schedule schedule;
  const std::uint64_t count = draw.between(2, 5);
  const BufferId pool = schedule.add_buffer({"pool", Place::host(), MemoryKind::pinned, Bytes{3 * count}});
  const BlockListId list =
      schedule.add_list({.name = "list", .block = 2_B, .pitch = 3_B, .count = count, .regular = draw.one_in(2)});
  for (std::uint64_t q = draw.between(2, 4); q > 0; --q) schedule.add_stream("q");
  for (std::uint64_t ops = draw.between(2, 10); ops > 0; --ops) {
    const StreamId stream{draw.below(schedule.streams.size())};
    const Region all{pool, 0_B, Bytes{3 * count}};
    if (draw.one_in(5)) {
      const BufferId target = schedule.add_buffer({"all", Place::gpu(), MemoryKind::device, all.length});
      schedule.add({.what = Copy{.from = all, .to = {target, 0_B, all.length}}, .stream = stream, .after = {}});
      continue;
    }
    const std::uint64_t first = draw.below(count);
    const std::uint64_t some = draw.between(1, count - first);
    const Bytes length = 2_B * some;
    const BufferId packed = schedule.add_buffer({"packed", Place::gpu(), MemoryKind::device, length});
    schedule.add({.what = BlockCopy{.list = list,
                                    .first = first,
                                    .count = some,
                                    .gather = draw.one_in(3),
                                    .pool = all,
                                    .packed = {packed, 0_B, length}},
                  .stream = stream,
                  .after = {}});
  }
  order_shared_bytes(schedule, draw, draw.one_in(2) ? 5 : 0);
  return {std::move(schedule), "moves of blocks"};
}

DrawnSchedule draw_from_strategy(Draw& draw) {
  for (;;) {
    const Strategy& strategy = strategies()[draw.below(strategies().size())];
    const Job job = random_job(strategy, draw);
    const Choice choice = random_choice(strategy, draw);
    try {
      Schedule schedule = strategy.schedule(job, choice, roomy);
      if (schedule.ops.empty()) continue;
      return {std::move(schedule), to_string(choice)};
    } catch (const Error&) {
      // The strategy does not offer this choice for this job.
    }
  }
}

std::optional<Indices> draw_indices(const Schedule& schedule, Draw& draw) {
  Indices indices(schedule.lists.size());
  for (std::uint32_t l = 0; l < schedule.lists.size(); ++l) {
    const BlockList& list = schedule.lists[l];
    std::uint64_t starts = ~std::uint64_t{0};
    bool written = false;
    for (const Op& op : schedule.ops)
      if (const auto* blocks = std::get_if<BlockCopy>(&op.what); blocks != nullptr && blocks->list == BlockListId{l}) {
        starts = std::min(starts, (blocks->pool.length - list.block).count / list.pitch.count + 1);
        written = written || !blocks->gather;
      }
    if (list.regular || starts == ~std::uint64_t{0}) continue;
    if (written && list.count > starts) return std::nullopt;
    std::vector<std::uint32_t> all(starts);
    std::iota(all.begin(), all.end(), 0u);
    std::shuffle(all.begin(), all.end(), draw.engine());
    for (std::uint64_t k = 0; k < list.count; ++k) indices[l].push_back(written ? all[k] : draw.one_of(all));
  }
  return indices;
}

DrawnSchedule draw_schedule(Draw& draw) {
  DrawnSchedule drawn = draw.one_in(2)   ? draw_from_strategy(draw)
                        : draw.one_in(5) ? draw_moves_of_blocks(draw)
                                         : draw_from_nothing(draw);
  constexpr std::array<std::uint32_t, 6> mutations{0, 0, 1, 1, 2, 4};
  for (std::uint32_t m = draw.one_of(mutations); m > 0; --m) drawn.origin += "; " + mutate(drawn.schedule, draw);
  return drawn;
}

}  // namespace shiplap::testing_orders
