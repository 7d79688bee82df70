#include "shiplap/measure/block_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/trial_parts.hpp"

namespace shiplap {
namespace {

/// Seed of the random places. The same blocks move in every run and in every visit.
constexpr std::uint64_t places_seed = 0xb10c'0001;
/// Distance between the starts of neighbouring blocks of a strided copy, in blocks.
constexpr std::uint64_t pitch_of_regular = 2;
/// Most blocks that are flushed one by one.
constexpr std::uint64_t most_flushed_blocks = 256;
/// Parts of the blocks concurrent with kernels. One op of the mover moves one part.
constexpr std::uint64_t parts_beside = 4;

/// `count` random numbers below `slots`, all different. There are at least twice as many slots.
std::vector<std::uint32_t> random_places(std::uint64_t slots, std::uint64_t count) {
  std::vector<bool> taken(slots);
  std::vector<std::uint32_t> places;
  places.reserve(count);
  for (std::mt19937_64 random(places_seed); places.size() < count;) {
    const auto place = static_cast<std::uint32_t>(random() % slots);
    if (!taken[place]) places.push_back(place);
    taken[place] = true;
  }
  return places;
}

/// The memory of one direction.
struct BlockSide {
  BlockListId list;
  Region pool;
  Region packed;      ///< contiguous memory on the GPU, or on the host where a host thread moves the blocks
  Region contiguous;  ///< contiguous memory on the host, from which the pool is filled and into which it is read back
};

BlockCopy all_blocks(const Trial& trial, const BlockSide& side, bool gather, const Region& packed) {
  return {.list = side.list,
          .first = 0,
          .count = trial.schedule.lists[side.list.index()].count,
          .gather = gather,
          .pool = side.pool,
          .packed = packed};
}

/// Adds the list and the memory of one direction. The bytes of a gather begin in contiguous host memory and reach the
/// pool when it is set up. Those of a scatter begin in the GPU's memory and are read back from the pool.
BlockSide add_side(Trial& trial, const BlockMoves& wanted, Place packed_place) {
  Schedule& schedule = trial.schedule;
  const bool regular = wanted.mover.kind == Mover::Kind::strided;
  const Bytes pitch = regular ? wanted.block * pitch_of_regular : wanted.block;
  const Bytes all = wanted.block * wanted.blocks;
  if (wanted.blocks == 0 || wanted.blocks > wanted.pool.count / pitch.count / 2)
    throw Error(fmt::format("{} blocks of {} are more than half of a pool of {}; use fewer blocks or a larger pool",
                            wanted.blocks, to_string(wanted.block), to_string(wanted.pool)));
  const auto add = [&](const char* name, Place place, MemoryKind memory, Bytes size) {
    return Region{schedule.add_buffer({.name = name, .place = place, .memory = memory, .size = size}), Bytes{0}, size};
  };
  const MemoryKind packed_memory = packed_place.is_host() ? MemoryKind::pinned : MemoryKind::device;
  BlockSide side;
  side.list = schedule.add_list({.name = wanted.gather ? "gathered blocks" : "scattered blocks",
                                 .block = wanted.block,
                                 .pitch = pitch,
                                 .count = wanted.blocks,
                                 .regular = regular});
  trial.lists.push_back(regular ? std::vector<std::uint32_t>()
                                : random_places(wanted.pool.count / pitch.count, wanted.blocks));
  side.pool =
      add(wanted.gather ? "pool to gather from" : "pool to scatter to", Place::host(), wanted.memory, wanted.pool);
  side.packed = add(wanted.gather ? "gathered blocks" : "blocks to scatter", packed_place, packed_memory, all);
  side.contiguous =
      add(wanted.gather ? "content of the blocks" : "blocks read back", Place::host(), MemoryKind::pinned, all);
  return side;
}

void add_host_op(std::optional<Schedule>& schedule, const Schedule& model, BlockCopy blocks) {
  if (!schedule) schedule = on_same_buffers(model);
  schedule->add(by_agent({0}, std::move(blocks)));
}

/// Adds flushes of the blocks from the caches of the CPU. To flush the whole pool takes longer than to flush a few
/// hundred blocks.
void add_flushes(Trial& trial, const BlockSide& side) {
  const BlockList& list = trial.schedule.lists[side.list.index()];
  const auto add = [&](const Region& region) {
    trial.set_up->add(by_agent({0}, HostCall{.kind = HostCall::Kind::flush, .region = region}));
  };
  if (list.count > most_flushed_blocks) return add(side.pool);
  for (std::uint64_t k = 0; k < list.count; ++k) {
    const std::uint64_t place = list.regular ? k : trial.lists[side.list.index()][k];
    add({side.pool.buffer, list.pitch * place, list.block});
  }
}

/// Adds the verification of one direction. It is called when all buffers and lists have been added.
void verify_blocks(Trial& trial, const BlockSide& side, bool gather) {
  const Region& from = gather ? side.contiguous : side.packed;
  const Region& to = gather ? side.packed : side.contiguous;
  trial.transfers.push_back({from.buffer, to.buffer, to.length});
  // A scatter begins with a pool whose blocks were overwritten, because the contiguous memory was.
  add_host_op(trial.set_up, trial.schedule, all_blocks(trial, side, false, side.contiguous));
  // A pool of a program is seldom in the caches of the CPU, from which a GPU reads at another rate.
  if (can_flush_caches()) add_flushes(trial, side);
  if (!gather) add_host_op(trial.read_back, trial.schedule, all_blocks(trial, side, true, side.contiguous));
}

Op move_op(const Mover& mover, BlockCopy blocks, StreamId stream) {
  blocks.mover = mover;
  return on_stream(stream, std::move(blocks));
}

/// Adds one op for all blocks of the side, in its own stream, by an agent of its own if wanted.
void add_move(Trial& trial, const BlockMoves& wanted, const BlockSide& side, std::uint32_t agent = 0) {
  const StreamId stream = trial.schedule.add_stream(wanted.gather ? "gather" : "scatter");
  Op op = move_op(wanted.mover, all_blocks(trial, side, wanted.gather, side.packed), stream);
  op.agent = AgentId{agent};
  op.chunk = agent;
  trial.schedule.add(std::move(op));
}

StreamId add_mover_stream(Trial& trial, const Mover& mover) {
  const StreamId stream = trial.schedule.add_stream("mover");
  trial.schedule.streams[stream.index()].urgent = mover.kind == Mover::Kind::kernel;
  return stream;
}

/// Adds the kernels of the neighbour to the stream, and returns the first one.
OpId add_neighbours(Trial& trial, MeasurableDevice& device, const NeighbourKernels& neighbour, StreamId stream) {
  Kernel kernel = add_working_kernel(trial, device, neighbour.kind, 1, neighbour.amount);
  kernel.full_rate_blocks = std::max<std::uint64_t>(1, kernel.resident_blocks);
  kernel.blocks = waves_beside * kernel.full_rate_blocks;
  kernel.memory_bound = neighbour.kind == ProbeKind::stream ? 1 : 0;
  const auto first = static_cast<std::uint32_t>(trial.schedule.ops.size());
  for (std::uint32_t i = 0; i < neighbour.kernels; ++i) trial.schedule.add(on_stream(stream, kernel, i));
  return OpId{first};
}

}  // namespace

Trial move_blocks(const BlockMoves& wanted) {
  Trial trial;
  const BlockSide side = add_side(trial, wanted, Place::gpu(0));
  add_move(trial, wanted, side);
  verify_blocks(trial, side, wanted.gather);
  if (wanted.memory == MemoryKind::managed) bring_back(trial, [](Place) { return Place::gpu(0); });
  trial.held = false;
  return trial;
}

Trial move_blocks_by_host(const BlockMoves& wanted) {
  Trial trial;
  const BlockSide side = add_side(trial, wanted, Place::host());
  trial.timed_op = trial.schedule.add(by_agent({0}, all_blocks(trial, side, wanted.gather, side.packed)));
  verify_blocks(trial, side, wanted.gather);
  return trial;
}

Trial move_blocks_both_ways(const BlockMoves& wanted) {
  Trial trial;
  const bool by_kernel = wanted.mover.kind == Mover::Kind::kernel;
  if (!by_kernel) trial.schedule.agents = {{"gather"}, {"scatter"}};
  trial.held = by_kernel;
  BlockMoves back = wanted;
  back.gather = false;
  const BlockSide in = add_side(trial, wanted, Place::gpu(0));
  const BlockSide out = add_side(trial, back, Place::gpu(0));
  add_move(trial, wanted, in);
  add_move(trial, back, out, by_kernel ? 0 : 1);
  verify_blocks(trial, in, true);
  verify_blocks(trial, out, false);
  return trial;
}

Trial move_blocks_in_graph(const BlockMoves& wanted) {
  Trial trial;
  const BlockSide side = add_side(trial, wanted, Place::gpu(0));
  const StreamId stream = trial.schedule.add_stream("copies");
  for (std::uint32_t i = 0; i < wanted.blocks; ++i) {
    const Region in_pool{side.pool.buffer, wanted.block * trial.lists.front()[i], wanted.block};
    const Region on_gpu{side.packed.buffer, wanted.block * i, wanted.block};
    const Copy copy = wanted.gather ? Copy{.from = in_pool, .to = on_gpu} : Copy{.from = on_gpu, .to = in_pool};
    trial.schedule.add(on_stream(stream, copy, i));
  }
  trial.schedule.as_graph = true;
  verify_blocks(trial, side, wanted.gather);
  return trial;
}

Trial kernels_beside_mover(MeasurableDevice& device, const BlockMoves& wanted, const NeighbourKernels& neighbour) {
  Trial trial;
  const BlockSide side = add_side(trial, wanted, Place::gpu(0));
  const StreamId movers = add_mover_stream(trial, wanted.mover);
  const std::uint64_t part = wanted.blocks / parts_beside;
  for (std::uint32_t i = 0; i < neighbour.moves; ++i) {
    BlockCopy blocks = all_blocks(trial, side, wanted.gather, side.packed);
    blocks.first = i % parts_beside * part;
    blocks.count = part;
    blocks.packed.offset = wanted.block * blocks.first;
    blocks.packed.length = wanted.block * part;
    Op op = move_op(wanted.mover, blocks, movers);
    op.chunk = i;
    trial.schedule.add(std::move(op));
  }
  trial.timed = trial.schedule.add_stream("kernels");
  add_neighbours(trial, device, neighbour, trial.timed);
  if (neighbour.moves >= parts_beside) verify_blocks(trial, side, wanted.gather);
  return trial;
}

Trial moves_beside_kernels(MeasurableDevice& device, const BlockMoves& wanted, const NeighbourKernels& neighbour) {
  Trial trial;
  const BlockSide side = add_side(trial, wanted, Place::gpu(0));
  std::vector<OpId> after;
  if (neighbour.kernels > 0) after = {add_neighbours(trial, device, neighbour, trial.schedule.add_stream("kernels"))};
  trial.timed = add_mover_stream(trial, wanted.mover);
  trial.held = false;
  const Region touched = add_touched_page(trial);
  for (std::uint32_t i = 0; i < neighbour.moves; ++i) {
    Op op = move_op(wanted.mover, all_blocks(trial, side, wanted.gather, side.packed), trial.timed);
    op.chunk = i;
    op.after = after;
    const OpId moved = trial.schedule.add(std::move(op));
    after = {trial.schedule.add(touch_by_agent(touched, {moved}, i))};
  }
  verify_blocks(trial, side, wanted.gather);
  return trial;
}

}  // namespace shiplap
