// Ops that move scattered blocks, for the simulator.
#include <algorithm>

#include "shiplap/sim/op_builder.hpp"

namespace shiplap::sim {

void OpBuilder::describe_blocks(OpIndex index, const BlockCopy& blocks, OpState& state) {
  const Op& op = schedule_.ops[index];
  if (op.stream.is_none()) return describe_blocks_by_host(blocks, state);
  const Buffer& pool = schedule_.buffers[blocks.pool.buffer.index()];
  const std::uint16_t gpu = schedule_.streams[op.stream.index()].place.index;
  state.gpu = gpu;
  state.to_device = blocks.gather;
  state.bytes = in_bytes(blocks.packed.length);
  const BlockCost cost = machine_.block_copy(gpu, pool.place.index, state.to_device, blocks.mover, pool.memory,
                                             schedule_.lists[blocks.list.index()].block, blocks.count);
  if (blocks.mover.kind == Mover::Kind::kernel)
    describe_blocks_by_kernel(blocks, cost, state);
  else
    describe_blocks_by_copies(blocks, cost, state);
}

// Threads that gather or scatter at the same time share the bandwidth of the host's memory like threads that copy. A
// block costs as many bytes as a thread would copy in its time.
void OpBuilder::describe_blocks_by_host(const BlockCopy& blocks, OpState& state) {
  state.is_host = true;
  need_host_copy_rates();
  const Buffer& pool = schedule_.buffers[blocks.pool.buffer.index()];
  const double time = machine_.block_copy_by_host(pool.place.index, blocks.gather,
                                                  schedule_.lists[blocks.list.index()].block, blocks.count);
  state.bytes = time * rate_of(host_copy_rates_, 1).bytes_per_second;
}

// The blocks move while the host still submits, so the op is queued when the first call begins. Copies in the opposite
// direction slow it down like copies of the size of a block.
void OpBuilder::describe_blocks_by_copies(const BlockCopy& blocks, const BlockCost& cost, OpState& state) const {
  const std::uint16_t numa_node = schedule_.buffers[blocks.pool.buffer.index()].place.index;
  const auto gpu = static_cast<std::uint16_t>(state.gpu);
  const Bytes block = schedule_.lists[blocks.list.index()].block;
  state.copy_engine = &gpus_[state.gpu].copy_engine(state.to_device);
  const CopyFigures one = machine_.copy(gpu, numa_node, state.to_device, block);
  const double alone = one.gap + one.per_byte * in_bytes(block);
  const double duplex = one.duplex_gap + one.duplex_per_byte * in_bytes(block);
  state.copy.per_byte = cost.time.count() / state.bytes;
  state.copy.duplex_per_byte = state.copy.per_byte * std::max(1.0, duplex / alone);
  if (const auto beside = machine_.beside_mover(gpu, numa_node, blocks.gather, 0)) {
    state.added = added_beside_kernels(blocks, *beside, state);
    const double part = std::min(1.0, state.bytes * one.per_byte / cost.time.count());
    state.slows = {.compute = part * beside->compute.value, .memory = part * beside->memory.value};
  }
  state.holds_call = state.blocks_agent;
  if (!state.holds_call) state.call = cost.call.count();
}

AddedBesideKernels OpBuilder::added_beside_kernels(const BlockCopy& blocks, const MutualSlowdown& beside,
                                                   OpState& state) const {
  GpuResources& gpu = gpus_[state.gpu];
  gpu.compute.affects(gpu.link);
  if (!beside.added) return {};
  const MovedBlocks moved{.block = schedule_.lists[blocks.list.index()].block,
                          .blocks = blocks.count,
                          .calls = calls_of(blocks.mover, blocks.count)};
  const auto added = [&](double memory_bound) {
    const Neighbour neighbour{.memory_bound = memory_bound, .thread_block = Seconds{0}};
    return added_to_move(*beside.added, neighbour, moved).value.count();
  };
  return {.compute = added(0), .memory = added(1), .wait = beside.added->wait.value};
}

// The kernel shares the link like a kernel that only accesses host memory. Its own time was measured alone, from the
// call on. The time of a single small block is that of the call and of the launch, which overlaps with the op before in
// the stream.
void OpBuilder::describe_blocks_by_kernel(const BlockCopy& blocks, const BlockCost& cost, OpState& state) {
  const auto gpu = static_cast<std::uint16_t>(state.gpu);
  const std::uint64_t in_flight = std::uint64_t{blocks.mover.grid} * mover_threads * mover_thread_in_flight;
  const Kernel access{.kernel = {},
                      .operands = {},
                      .flows = {{.buffer = blocks.pool.buffer,
                                 .mode = blocks.gather ? AccessMode::read : AccessMode::write,
                                 .bytes = blocks.packed.length,
                                 .in_flight = Bytes{in_flight}}}};
  ZeroCopyTimes times = zero_copy_times(schedule_, access, gpu, machine_);
  const double by_link = times.alone;
  const std::uint16_t numa_node = schedule_.buffers[blocks.pool.buffer.index()].place.index;
  const double start = machine_
                           .block_copy(gpu, numa_node, state.to_device, blocks.mover,
                                       schedule_.buffers[blocks.pool.buffer.index()].memory, 1_B, 1)
                           .time.count();
  state.latency = std::min(start, cost.time.count());
  times.alone = cost.time.count() - state.latency;
  for (double& beside : times.beside) beside = times.alone * std::max(1.0, beside / by_link);
  const BlockList& list = schedule_.lists[blocks.list.index()];
  const std::uint32_t busy = busy_grid(blocks.mover, list.block, list.pitch, blocks.count);
  if (const auto beside = machine_.beside_mover(gpu, numa_node, blocks.gather, busy))
    times.slows = {.compute = beside->compute.value, .memory = beside->memory.value};
  if (const auto beside = machine_.beside_mover(gpu, numa_node, blocks.gather, blocks.mover.grid))
    times.added = added_beside_kernels(blocks, *beside, state);
  zero_copy_.push_back(times);
  state.zero_copy = &zero_copy_.back();
  state.call = cost.call.count();
}

}  // namespace shiplap::sim
