#include "shiplap/strategy/chunk_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/block_ops.hpp"
#include "shiplap/strategy/chunk_kernel.hpp"

namespace shiplap {
namespace {

/// The arrays of these roles that are copied (`is_copied`), those of the first role first. `ChunkDependencies` relies
/// on this order.
std::vector<std::size_t> copied_arrays(const Job& job, const ChunkMemory& memory, Role first, Role second,
                                       bool (*is_copied)(const Array&)) {
  std::vector<std::size_t> order;
  for (const Role role : {first, second})
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (job.arrays[a].role == role && !memory.is_in_place(a) && is_copied(job.arrays[a])) order.push_back(a);
  return order;
}

}  // namespace

ChunkPipeline::ChunkPipeline(Schedule& schedule, const Job& job, const Choice& choice, const Limits& limits,
                             const ZeroCopyArrays& zero_copy, const Staging& staging, GpuChunks chunks)
    : schedule_(schedule),
      job_(job),
      choice_(choice),
      limits_(limits),
      chunks_(std::move(chunks)),
      main_{static_cast<std::uint32_t>(schedule.agents.size())},
      staging_(schedule, job, staging, chunks_.count()),
      memory_(schedule, job, choice, limits, zero_copy, staging_, chunks_),
      inputs_(copied_arrays(job, memory_, Role::in, Role::inout, is_copied_in)),
      outputs_(copied_arrays(job, memory_, Role::inout, Role::out, is_copied_out)),
      streams_(schedule, staging_.used() ? Layout::three : choice.layout, choice, chunks_),
      dependencies_(schedule, job, memory_, chunks_.count()),
      carries_(
          std::ranges::any_of(job.arrays, [](const Array& a) { return a.role == Role::carried && a.size.count > 0; })) {
  if (!staging_.used())
    schedule.agents.push_back(
        {.name = chunks_.gpus == 1 ? "main" : fmt::format("for GPU {}", chunks_.gpu), .numa_node = {}});
  if (choice.batched) require_batches();
}

// Strategies for pageable memory have refused batches before.
void ChunkPipeline::require_batches() const {
  if (choice_.graph)
    throw UsageError("`batched` and `graph`: copies in a graph cannot be batched; choose one of the two");
  require_contiguous(job_, choice_.strategy, "copies of several arrays cannot be batched with it; leave `batched` out");
  if (memory_.shares() || std::ranges::any_of(job_.arrays, [](const Array& a) { return a.prefix_of.has_value(); }))
    throw Unsupported(fmt::format(
        "{}: chunks share data that is copied within the GPU, so copies cannot be batched; leave `batched` out",
        job_.name));
  if (inputs_.size() < 2 && outputs_.size() < 2)
    throw Unsupported(fmt::format(
        "{}: a chunk has at most one copy in each direction, so there is nothing to batch; leave `batched` out",
        job_.name));
}

/// Number of consecutive chunks that are submitted breadth-first: all their copies in, then their kernels, then their
/// copies out.
std::uint32_t ChunkPipeline::chunks_at_once() const {
  if (choice_.order == IssueOrder::depth) return 1;
  // A ring with shared data may leave a slot unused before it wraps, so that it holds one chunk less.
  if (memory_.shares() && memory_.slots() < chunks_.count()) return std::max(1u, memory_.slots() - 1);
  return memory_.slots();
}

void ChunkPipeline::add_ops() {
  copy_resident_arrays();
  const std::uint32_t at_once = chunks_at_once();
  for (std::uint32_t first = 0; first < chunks_.count(); first += at_once) {
    const std::uint32_t end = std::min(chunks_.count(), first + at_once);
    for (std::uint32_t c = first; c < end; ++c) copy_in(c);
    for (std::uint32_t c = first; c < end; ++c) launch(c);
    for (std::uint32_t c = first; c < end; ++c) copy_out(c);
  }
  copy_carried_arrays_back();
}

Op ChunkPipeline::op_in(const Region& from, const Region& to, std::uint32_t chunk) const {
  return {.what = Copy{from, to},
          .stream = streams_.in(chunk),
          .agent = staging_.used() ? staging_.sender() : main_,
          .after = {},
          .chunk = chunks_.number(chunk)};
}

Op ChunkPipeline::op_out(const Region& from, const Region& to, std::uint32_t chunk) const {
  return {.what = Copy{from, to},
          .stream = streams_.out(chunk),
          .agent = staging_.used() ? staging_.fetcher() : main_,
          .after = {},
          .chunk = chunks_.number(chunk)};
}

void ChunkPipeline::copy_resident_arrays() {
  for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
    const Array& array = job_.arrays[a];
    if (!stays(array.role) || !arrives(array) || memory_.is_in_place(a) || array.size.count == 0) continue;
    const ByteRange all{Bytes{0}, array.size};
    const Region from = ChunkMemory::of_caller(array.prefix_of.value_or(a), all);
    if (array.kept) {
      schedule_.kept.push_back({.host = from.buffer, .gpu = memory_.on_gpu(a)});
      continue;
    }
    dependencies_.ops.last_resident = schedule_.add(op_in(from, {memory_.on_gpu(a), all.offset, all.length}, 0));
  }
}

void ChunkPipeline::copy_carried_arrays_back() {
  for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
    const Array& array = job_.arrays[a];
    if (array.role != Role::carried || array.kept || !leaves(array) || memory_.is_in_place(a) || array.size.count == 0)
      continue;
    const ByteRange all{Bytes{0}, array.size};
    Op op = op_out({memory_.on_gpu(a), all.offset, all.length}, ChunkMemory::of_caller(a, all), chunks_.count() - 1);
    dependencies_.wait_for(op, dependencies_.ops.last_kernel);
    schedule_.add(std::move(op));
  }
}

void ChunkPipeline::copy_in(std::uint32_t chunk) {
  std::vector<OpId>& copied = dependencies_.ops.copy_in[chunk];
  Copies copies;
  for (const std::size_t a : inputs_) {
    move_shared_bytes(a, chunk);
    const Bytes from_prefix = copy_from_prefix(a, chunk);
    const ByteRange& fresh = memory_.fresh(a, chunk);
    const ByteRange rest{fresh.offset + from_prefix, fresh.length - from_prefix};
    if (rest.length.count == 0) continue;
    const Region all_to = memory_.fresh_on_gpu(a, chunk);
    const Region to{all_to.buffer, all_to.offset + from_prefix, rest.length};
    if (memory_.is_staged(a)) {
      copy_in_pieces(a, rest, to, chunk);
      continue;
    }
    Op op = op_in(ChunkMemory::of_caller(a, rest), to, chunk);
    op.what = move_to(job_, a, rest, to, choice_.mover_h2d.value_or(Mover{}));
    dependencies_.wait_for_memory(op, a, chunk);
    copies.emplace_back(a, std::move(op));
    if (!choice_.batched) add_copies(std::exchange(copies, {}), copied);
  }
  add_copies(std::move(copies), copied);
}

void ChunkPipeline::copy_in_pieces(std::size_t array, const ByteRange& bytes, const Region& to, std::uint32_t chunk) {
  for (const ByteRange& piece : staging_.pieces(array, bytes)) {
    const auto filled = staging_.fill(array, chunks_.number(chunk), piece);
    Op op = op_in(filled.slot, {to.buffer, to.offset + (piece.offset - bytes.offset), piece.length}, chunk);
    op.after.push_back(filled.op);
    dependencies_.wait_for_memory(op, array, chunk);
    const OpId copy = dependencies_.ops.copy_in[chunk][array] = schedule_.add(std::move(op));
    staging_.sent(array, copy);
  }
}

/// Copies the bytes that the chunk shares with the one before to the start of the ring, when the ring wraps at this
/// chunk.
void ChunkPipeline::move_shared_bytes(std::size_t array, std::uint32_t chunk) {
  const DeviceRing::Placement& placement = memory_.placement(array, chunk);
  if (placement.moved.count == 0) return;
  const BufferId ring = memory_.on_gpu(array);
  Op op = op_in({ring, placement.moved_from, placement.moved}, {ring, placement.reach, placement.moved}, chunk);
  dependencies_.wait_for_memory(op, array, chunk);
  for (std::uint32_t c = placement.first_brought_by; c < chunk; ++c) dependencies_.wait_for_data_of(op, array, c);
  dependencies_.ops.moved[chunk][array] = schedule_.add(std::move(op));
}

/// Copies the fresh bytes that are already on the GPU in a broadcast array, the prefix of this array. Returns their
/// number.
Bytes ChunkPipeline::copy_from_prefix(std::size_t array, std::uint32_t chunk) {
  const auto prefix = memory_.prefix(array);
  const ByteRange& fresh = memory_.fresh(array, chunk);
  if (!prefix || fresh.length.count == 0 || job_.arrays[*prefix].size <= fresh.offset) return Bytes{};
  const Bytes length = std::min(job_.arrays[*prefix].size - fresh.offset, fresh.length);
  const Region to = memory_.fresh_on_gpu(array, chunk);
  Op op = op_in({memory_.on_gpu(*prefix), fresh.offset, length}, {to.buffer, to.offset, length}, chunk);
  dependencies_.wait_for(op, dependencies_.ops.last_resident);
  dependencies_.wait_for_memory(op, array, chunk);
  dependencies_.ops.copy_in[chunk][array] = schedule_.add(std::move(op));
  return length;
}

void ChunkPipeline::launch(std::uint32_t chunk) {
  ChunkOps& ops = dependencies_.ops;
  Op op{.what = chunk_kernel(job_, chunks_.items[chunk], chunk, limits_, memory_, choice_.max_grid,
                             streams_.kernel_streams()),
        .stream = streams_.kernel(chunk),
        .agent = staging_.used() ? staging_.launcher() : main_,
        .after = {},
        .chunk = chunks_.number(chunk)};
  dependencies_.wait_for_resident(op, chunk);
  if (carries_) dependencies_.wait_for(op, ops.last_kernel);
  for (const std::size_t a : inputs_) dependencies_.wait_for_reach(op, a, chunk);
  for (const std::size_t a : outputs_)
    if (job_.arrays[a].role == Role::out) dependencies_.wait_for_memory(op, a, chunk);
  dependencies_.wait_for_scratch(op, chunk);
  ops.last_kernel = ops.kernel[chunk] = schedule_.add(std::move(op));
}

void ChunkPipeline::copy_out(std::uint32_t chunk) {
  ChunkOps& ops = dependencies_.ops;
  // An emulated GPU with implicit synchronisation holds the copy until the last kernel submitted before it has ended.
  const bool is_held = choice_.layout == Layout::implicit_sync && !staging_.used();
  Copies copies;
  for (const std::size_t a : outputs_) {
    const ByteRange& bytes = memory_.returned(a, chunk);
    if (bytes.length.count == 0) continue;
    const Region from = memory_.returned_on_gpu(a, chunk);
    if (memory_.is_staged(a)) {
      copy_out_pieces(a, bytes, from, chunk);
      continue;
    }
    Op op = op_out(from, ChunkMemory::of_caller(a, bytes), chunk);
    op.what = move_back(job_, a, bytes, from, choice_.mover_d2h.value_or(Mover{}));
    dependencies_.wait_for(op, is_held ? ops.last_kernel : ops.kernel[chunk]);
    copies.emplace_back(a, std::move(op));
    if (!choice_.batched) add_copies(std::exchange(copies, {}), ops.copy_out[chunk]);
  }
  add_copies(std::move(copies), ops.copy_out[chunk]);
}

void ChunkPipeline::copy_out_pieces(std::size_t array, const ByteRange& bytes, const Region& from,
                                    std::uint32_t chunk) {
  for (const ByteRange& piece : staging_.pieces(array, bytes)) {
    const auto free = staging_.next_slot(array, piece.length);
    Op op = op_out({from.buffer, from.offset + (piece.offset - bytes.offset), piece.length}, free.slot, chunk);
    if (!free.op.is_none()) op.after.push_back(free.op);
    dependencies_.wait_for(op, dependencies_.ops.kernel[chunk]);
    const OpId copy = dependencies_.ops.copy_out[chunk][array] = schedule_.add(std::move(op));
    staging_.empty(array, chunks_.number(chunk), copy, piece);
  }
}

/// Adds the copies and enters them in `ids` by array. The first copy of a batch gets the dependencies of all its
/// copies.
void ChunkPipeline::add_copies(Copies&& copies, std::vector<OpId>& ids) {
  if (choice_.batched)
    for (std::size_t i = 1; i < copies.size(); ++i) {
      copies[i].second.batched = true;
      dependencies_.move_waits(copies[i].second, copies.front().second);
    }
  for (auto& [array, op] : copies) ids[array] = schedule_.add(std::move(op));
}

}  // namespace shiplap
