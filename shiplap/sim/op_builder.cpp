#include "shiplap/sim/op_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/constants.hpp"

namespace shiplap::sim {
namespace {

std::uint16_t gpu_of(const Schedule& schedule, const Copy& copy) {
  const Place from = schedule.buffers[copy.from.buffer.index()].place;
  return from.is_gpu() ? from.index : schedule.buffers[copy.to.buffer.index()].place.index;
}
std::uint16_t numa_node_of(const Schedule& schedule, const Copy& copy) {
  const Place from = schedule.buffers[copy.from.buffer.index()].place;
  return from.is_host() ? from.index : schedule.buffers[copy.to.buffer.index()].place.index;
}

std::uint64_t number_of_blocks(std::uint64_t blocks) { return std::clamp<std::uint64_t>(blocks, 1, most_blocks); }

/// Size of all pinned buffers that host threads fill for copy engines or empty after them (staging rings).
Bytes size_of_rings(const Schedule& schedule) {
  std::vector<bool> by_host(schedule.buffers.size(), false);
  std::vector<bool> by_engine(schedule.buffers.size(), false);
  for (const Op& op : schedule.ops) {
    if (const auto* copy = std::get_if<HostCopy>(&op.what))
      by_host[copy->from.buffer.index()] = by_host[copy->to.buffer.index()] = true;
    if (const auto* copy = std::get_if<Copy>(&op.what))
      by_engine[copy->from.buffer.index()] = by_engine[copy->to.buffer.index()] = true;
    if (const auto* blocks = std::get_if<BlockCopy>(&op.what); blocks != nullptr && op.stream.is_none())
      by_host[blocks->packed.buffer.index()] = true;
  }
  Bytes rings;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (by_host[b] && by_engine[b] && schedule.buffers[b].memory == MemoryKind::pinned)
      rings += schedule.buffers[b].size;
  return rings;
}

}  // namespace

OpBuilder::OpBuilder(const Schedule& schedule, const SimParameters& machine, std::deque<GpuResources>& gpus,
                     std::deque<ZeroCopyTimes>& zero_copy)
    : schedule_(schedule), machine_(machine), gpus_(gpus), zero_copy_(zero_copy), residency_(schedule) {
  for (const Buffer& buffer : schedule.buffers)
    if (buffer.advice == MemoryAdvice::read_mostly)
      throw Unsupported(
          fmt::format("the simulator has no figures for managed memory that is mostly read ({})", buffer.name));
  pinned_by_op_.resize(schedule.buffers.size());
  written_by_host_.resize(schedule.buffers.size());
  for (const Op& op : schedule.ops) {
    if (const auto* call = std::get_if<HostCall>(&op.what); call != nullptr && call->kind == HostCall::Kind::pin)
      pinned_by_op_[call->region.buffer.index()] = true;
    if (const auto* copy = std::get_if<HostCopy>(&op.what)) written_by_host_[copy->to.buffer.index()] = true;
  }
}

void OpBuilder::describe_op(OpIndex index, OpState& state) {
  const Op& op = schedule_.ops[index];
  state.stream = op.stream.value;
  state.blocks_agent = blocks_agent(schedule_, op);
  state.batched = op.batched;
  if (const auto* copy = std::get_if<Copy>(&op.what))
    describe_copy(index, *copy, state);
  else if (const auto* kernel = std::get_if<Kernel>(&op.what))
    describe_kernel(index, *kernel, state);
  else if (const auto* prefetch = std::get_if<Prefetch>(&op.what))
    describe_prefetch(op, *prefetch, state);
  else if (const auto* host_copy = std::get_if<HostCopy>(&op.what))
    describe_host_copy(*host_copy, state);
  else if (const auto* blocks = std::get_if<BlockCopy>(&op.what))
    describe_blocks(index, *blocks, state);
  else
    describe_host_call(std::get<HostCall>(op.what), state);
}

void OpBuilder::describe_copy(OpIndex index, const Copy& copy, OpState& state) {
  const Buffer& from = schedule_.buffers[copy.from.buffer.index()];
  const Buffer& to = schedule_.buffers[copy.to.buffer.index()];
  if (from.memory == MemoryKind::managed || to.memory == MemoryKind::managed)
    throw_no_figures(index, "copies of managed memory");
  if (pinned_by_op_[copy.from.buffer.index()] || pinned_by_op_[copy.to.buffer.index()])
    throw_no_figures(index, "copies of memory that the schedule itself pins");
  const CopyDirection copy_direction = direction(schedule_, copy);
  state.to_device = copy_direction == CopyDirection::host_to_device;
  state.bytes = in_bytes(copy.from.length);
  if (copy_direction == CopyDirection::device_to_device) {
    if (state.batched) throw_no_figures(index, "batches inside or between GPUs");
    state.gpu = from.place.index;
    state.copy_engine = &gpus_[state.gpu].d2d;
    state.copy = machine_.device_copy(from.place.index, to.place.index, schedule_.peer_access, copy.from.length);
  } else {
    describe_copy_over_link(copy, state);
  }
  state.latency = state.copy.latency;
}

void OpBuilder::describe_copy_over_link(const Copy& copy, OpState& state) {
  const Bytes size = copy.from.length;
  const std::uint16_t gpu = gpu_of(schedule_, copy);
  const std::uint16_t numa_node = numa_node_of(schedule_, copy);
  state.gpu = gpu;
  state.copy_engine = &gpus_[gpu].copy_engine(state.to_device);
  state.copy = copy_figures({.size = size,
                             .numa_node = numa_node,
                             .gpu = gpu,
                             .to_device = state.to_device,
                             .pageable = state.blocks_agent,
                             .written = state.to_device && written_by_host_[copy.from.buffer.index()]});
  if (state.batched) state.batched_gap = machine_.batched_gap(gpu, numa_node, state.to_device, size);
  state.holds_call = state.blocks_agent;
  if (copy.measured > Seconds{0}) use_measured_time(copy.measured.count(), state);
}

// Concurrent with copies of the opposite direction the copy becomes slower by the factor that the profile has.
void OpBuilder::use_measured_time(double seconds, OpState& state) {
  CopyFigures& figures = state.copy;
  figures.latency = std::min(figures.latency, seconds);
  if (state.bytes == 0) return;
  const double per_byte = (seconds - figures.latency) / state.bytes;
  const double slower = figures.per_byte > 0 ? per_byte / figures.per_byte : 1;
  figures.per_byte = per_byte;
  figures.duplex_per_byte *= slower;
}

// Consecutive chunks often have the same size, so the last figures are cached.
const CopyFigures& OpBuilder::copy_figures(const CopyKey& key) {
  if (key == last_key_) return last_figures_;
  last_key_ = key;
  last_figures_ = key.pageable ? machine_.pageable_copy(key.gpu, key.numa_node, key.to_device, key.size)
                               : machine_.copy(key.gpu, key.numa_node, key.to_device, key.size);
  if (key.written && !key.pageable) {
    const double longer = machine_.just_written_delay(key.size) / in_bytes(key.size);
    last_figures_.per_byte += longer;
    last_figures_.duplex_per_byte += longer;
  }
  return last_figures_;
}

void OpBuilder::describe_prefetch(const Op& op, const Prefetch& prefetch, OpState& state) {
  require_one_gpu_for_managed();
  const Bytes missing = residency_.move(prefetch.region, prefetch.to);
  const std::uint16_t gpu = prefetch.to.is_gpu() ? prefetch.to.index : schedule_.streams[op.stream.index()].place.index;
  const std::uint16_t numa_node = prefetch.to.is_host() ? prefetch.to.index : any_numa_node;
  state.gpu = gpu;
  state.to_device = prefetch.to.is_gpu();
  state.copy_engine = &gpus_[gpu].copy_engine(state.to_device);
  state.bytes = in_bytes(missing);
  state.holds_call = true;
  state.moves_pages = true;
  if (missing.count > 0) state.copy = machine_.prefetch(gpu, numa_node, state.to_device, missing);
}

namespace {

/// Bounds the number of waves, and keeps the fraction of the GPU's rate that the grid uses over its whole time: the
/// last wave is filled so that all waves together have the same fraction of their blocks as before. If it were emptier,
/// kernels that follow would use the rest, and all together be faster than the GPU's full rate. For the same reason the
/// last of several waves is made full where it lacks blocks only because the number per wave is whole.
void simplify_waves(Compute::Kernel& kernel) {
  const auto waves_of = [&](std::uint64_t blocks) { return (blocks - 1) / kernel.full_rate_blocks + 1; };
  const std::uint64_t waves = waves_of(kernel.blocks);
  const bool is_full = waves > 1 && waves * kernel.full_rate_blocks - kernel.blocks < waves;
  const std::uint64_t times_fewer = kernel.blocks / kernel.max_resident_blocks / (most_waves + 1) + 1;
  const std::uint64_t fewer_waves = (waves + times_fewer - 1) / times_fewer;
  const double filled =
      is_full ? 1 : static_cast<double>(kernel.blocks) / static_cast<double>(waves * kernel.full_rate_blocks);
  if (is_full || fewer_waves < waves)
    kernel.blocks =
        static_cast<std::uint64_t>(std::ceil(filled * static_cast<double>(fewer_waves * kernel.full_rate_blocks)));
}

}  // namespace

void OpBuilder::describe_kernel(OpIndex index, const Kernel& kernel, OpState& state) {
  if (schedule_.ops[index].stream.is_none()) {
    state.is_host = true;
    state.host_time = kernel.work.count();
    return;
  }
  const std::uint16_t gpu = schedule_.streams[schedule_.ops[index].stream.index()].place.index;
  Bytes missing;
  for (const Access& operand : kernel.operands)
    if (residency_.is_managed(operand.region.buffer)) {
      require_one_gpu_for_managed();
      missing += residency_.move(operand.region, Place::gpu(gpu));
    }
  state.gpu = gpu;
  state.further_launches = std::max<std::uint64_t>(1, kernel.launches) - 1;
  state.kernel_call = kernel.call.count();
  state.kernel = {.op = index,
                  .work = kernel.work.count() + machine_.demand(gpu, any_numa_node, missing),
                  .blocks = number_of_blocks(kernel.blocks),
                  .full_rate_blocks = number_of_blocks(kernel.full_rate_blocks),
                  .max_resident_blocks = number_of_blocks(kernel.resident_blocks),
                  .memory_bound = kernel.memory_bound,
                  .thread_block = 0};
  if (state.kernel.blocks >= state.kernel.max_resident_blocks && state.kernel.blocks > 1) {
    const std::uint64_t waves = (state.kernel.blocks - 1) / state.kernel.full_rate_blocks + 1;
    state.kernel.thread_block = state.kernel.work / static_cast<double>(waves * (state.further_launches + 1));
  }
  simplify_waves(state.kernel);
  if (kernel.launches > 1) state.kernel = Compute::many_launches(state.kernel);
  if (!kernel.flows.empty()) {
    if (missing.count > 0)
      throw_no_figures(index, "kernels that fault managed memory to the GPU and access host memory");
    zero_copy_.push_back(zero_copy_times(schedule_, kernel, gpu, machine_));
    state.zero_copy = &zero_copy_.back();
  }
  state.latency = machine_.gpu(gpu).launch_latency;
}

void OpBuilder::describe_host_copy(const HostCopy& copy, OpState& state) {
  if (residency_.is_managed(copy.from.buffer) || residency_.is_managed(copy.to.buffer))
    throw Unsupported("the simulator has no figures for copies of managed memory by host threads");
  state.is_host = true;
  state.bytes = in_bytes(copy.from.length);
  need_host_copy_rates();
}

void OpBuilder::need_host_copy_rates() {
  if (host_copy_rates_.empty()) host_copy_rates_ = machine_.host_copy_rates(size_of_rings(schedule_));
}

void OpBuilder::describe_host_call(const HostCall& call, OpState& state) {
  state.is_host = true;
  if (call.kind == HostCall::Kind::wait) {  // the agent has waited for the ops in `after` when the call begins
    state.host_time = call.work.count();
    return;
  }
  if (!has_region(call.kind)) {
    state.host_time = machine_.host_call(call.kind, MemoryKind::device, 1_B);
    return;
  }
  if (call.kind == HostCall::Kind::touch) {
    state.touches = true;
    if (!residency_.is_managed(call.region.buffer)) return;
    require_one_gpu_for_managed();
    state.bytes = in_bytes(residency_.move(call.region, Place::host()));
    return;
  }
  state.host_time =
      machine_.host_call(call.kind, schedule_.buffers[call.region.buffer.index()].memory, call.region.length);
}

void OpBuilder::require_one_gpu_for_managed() const {
  if (gpus_.size() > 1) throw Unsupported("the simulator has no figures for managed memory that several GPUs share");
}

void OpBuilder::throw_no_figures(OpIndex index, const char* what) const {
  throw Unsupported(fmt::format("{}: the simulator has no figures for {}", describe(schedule_, OpId{index}), what));
}

}  // namespace shiplap::sim
