// The simulator's nodes and engines, made from a schedule.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulator.hpp"

namespace shiplap::sim {
namespace {

std::uint16_t gpu_of(const Schedule& schedule, const Copy& copy) {
  const Place from = schedule.buffers[copy.from.buffer.index()].place;
  return from.is_gpu() ? from.index : schedule.buffers[copy.to.buffer.index()].place.index;
}
std::uint16_t node_of(const Schedule& schedule, const Copy& copy) {
  const Place from = schedule.buffers[copy.from.buffer.index()].place;
  return from.is_host() ? from.index : schedule.buffers[copy.to.buffer.index()].place.index;
}

/// The page-locked memory that host threads fill for copy engines, or empty behind them.
Bytes rings_of(const Schedule& schedule) {
  std::vector<bool> by_host(schedule.buffers.size(), false);
  std::vector<bool> by_engine(schedule.buffers.size(), false);
  for (const Op& op : schedule.ops) {
    if (const auto* copy = std::get_if<HostCopy>(&op.what))
      by_host[copy->from.buffer.index()] = by_host[copy->to.buffer.index()] = true;
    if (const auto* copy = std::get_if<Copy>(&op.what))
      by_engine[copy->from.buffer.index()] = by_engine[copy->to.buffer.index()] = true;
  }
  Bytes rings;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (by_host[b] && by_engine[b] && schedule.buffers[b].memory == MemoryKind::pinned)
      rings += schedule.buffers[b].size;
  return rings;
}

}  // namespace

void Simulator::build(const Schedule& schedule) {
  const auto n = static_cast<std::uint32_t>(schedule.ops.size());
  std::uint32_t gpus = 1;
  for (const Buffer& buffer : schedule.buffers)
    if (buffer.place.is_gpu()) gpus = std::max(gpus, buffer.place.index + 1u);
  for (const Queue& queue : schedule.queues)
    if (queue.place.is_gpu()) gpus = std::max(gpus, queue.place.index + 1u);
  // Two engines of the link for each GPU, and behind them all one for copies inside and between the memories of GPUs.
  engines_.resize(3 * gpus);
  barriers_.resize(gpus);
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const Gpu& gpu = machine_.gpu(static_cast<std::uint16_t>(g));
    computes_.emplace_back(gpu.concurrent_kernels);
    last_kernel_queue_.push_back(none);
    waiting_queues_.push_back(0);
    flow_engines_.emplace_back();
    const bool shared = gpu.copy_engines < 2;
    engines_[2 * g] = {.name = shared ? Engine::copy_shared : Engine::copy_h2d,
                       .gpu = g,
                       .opposite = shared ? none : 2 * g + 1,
                       .waiting = {}};
    engines_[2 * g + 1] = {.name = Engine::copy_d2h, .gpu = g, .opposite = shared ? none : 2 * g, .waiting = {}};
    engines_[2 * gpus + g] = {.name = Engine::copy_d2d, .gpu = g, .opposite = none, .waiting = {}};
    for (const std::uint32_t e : {2 * g, 2 * g + 1, 2 * gpus + g}) engines_[e].waiting.resize(gpu.queue_groups);
  }

  waiting_kernels_.assign(schedule.queues.size(), 0);
  nodes_.resize(n);
  queue_after_.assign(n, none);
  std::vector<std::uint32_t> tail(schedule.queues.size(), none);
  std::vector<std::uint32_t> counts(n + 1, 0);
  struct Edge {
    std::uint32_t from, to;
  };
  std::vector<Edge> edges;
  edges.reserve(n * 2);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Op& op = schedule.ops[i];
    Node& node = nodes_[i];
    node.queue = op.queue.value;
    node.blocks_agent = blocks_agent(schedule, op);
    node.batched = op.batched;
    if (const auto* copy = std::get_if<Copy>(&op.what)) {
      build_copy(schedule, OpId{i}, *copy, node);
    } else if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
      build_kernel(schedule, OpId{i}, *kernel, node);
    } else if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) {
      build_prefetch(schedule, op, *prefetch, node);
    } else {
      build_host(schedule, op, node);
      continue;  // its agent sees to the order
    }

    for (OpId dependency : op.after) {
      if (nodes_[dependency.index()].is_host) continue;
      edges.push_back({last_of_batch(schedule, dependency).value, i});
      ++node.pending;
    }
    std::uint32_t& before = tail[op.queue.index()];
    if (before != none) {
      if (nodes_[before].engine == node.engine) {
        node.queue_before = before;
        queue_after_[before] = i;
        ++node.pending;
      } else {
        edges.push_back({before, i});
        ++node.pending;
      }
    }
    before = i;
  }

  for (const Edge& edge : edges) ++counts[edge.from];
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    nodes_[i].successors_begin = sum;
    sum += counts[i];
    counts[i] = nodes_[i].successors_begin;
  }
  successors_.resize(sum);
  for (const Edge& edge : edges) successors_[counts[edge.from]++] = edge.to;
}

void Simulator::build_copy(const Schedule& schedule, OpId id, const Copy& copy, Node& node) {
  const Buffer& from = schedule.buffers[copy.from.buffer.index()];
  const Buffer& to = schedule.buffers[copy.to.buffer.index()];
  if (from.memory == MemoryKind::managed || to.memory == MemoryKind::managed)
    throw Unsupported(
        fmt::format("{}: the simulator has no figures for copies of managed memory", describe(schedule, id)));
  if (pinned_by_op_[copy.from.buffer.index()] || pinned_by_op_[copy.to.buffer.index()])
    throw Unsupported(fmt::format("{}: the simulator has no figures for copies of memory that the schedule itself pins",
                                  describe(schedule, id)));
  const Bytes size = copy.from.length;
  const CopyDirection way = direction(schedule, copy);
  node.is_copy = true;
  node.to_device = way == CopyDirection::host_to_device;
  node.bytes = static_cast<double>(size.count);
  if (way == CopyDirection::device_to_device) {
    if (node.batched)
      throw Unsupported(
          fmt::format("{}: the simulator has no figures for batches inside or between GPUs", describe(schedule, id)));
    node.engine = static_cast<std::uint32_t>(2 * computes_.size()) + from.place.index;
    node.copy = machine_.device_copy(from.place.index, to.place.index, schedule.peer_access, size);
  } else {
    const std::uint16_t gpu = gpu_of(schedule, copy);
    node.engine = machine_.gpu(gpu).copy_engines < 2 ? 2u * gpu : engine_of(gpu, node.to_device);
    const std::uint16_t numa = node_of(schedule, copy);
    // Chunks of one size follow each other.
    const bool written = node.to_device && written_by_host_[copy.from.buffer.index()];
    const CopyKey key{size, numa, gpu, node.to_device, node.blocks_agent, written};
    if (key != last_copy_) {
      last_figures_ = node.blocks_agent ? machine_.pageable_copy(gpu, numa, node.to_device, size)
                                        : machine_.copy(gpu, numa, node.to_device, size);
      if (written && !node.blocks_agent) {
        const double longer = machine_.written(size) / node.bytes;
        last_figures_.per_byte += longer;
        last_figures_.duplex_per_byte += longer;
      }
    }
    last_copy_ = key;
    node.copy = last_figures_;
    if (node.batched) node.batched_gap = machine_.batched_gap(gpu, numa, node.to_device, size);
    node.holds_call = node.blocks_agent;
  }
  node.latency = node.copy.latency;
  node.kernel_number = static_cast<std::uint32_t>(barriers_[engines_[node.engine].gpu].passed.size());
}

void Simulator::build_prefetch(const Schedule& schedule, const Op& op, const Prefetch& prefetch, Node& node) {
  require_one_gpu_for_managed();
  const Bytes missing = residency_.move(prefetch.region, prefetch.to);
  const std::uint16_t gpu = prefetch.to.is_gpu() ? prefetch.to.index : schedule.queues[op.queue.index()].place.index;
  const std::uint16_t numa = prefetch.to.is_host() ? prefetch.to.index : std::uint16_t{0};
  node.is_copy = true;
  node.to_device = prefetch.to.is_gpu();
  node.bytes = static_cast<double>(missing.count);
  node.engine = machine_.gpu(gpu).copy_engines < 2 ? 2u * gpu : engine_of(gpu, node.to_device);
  node.holds_call = true;
  node.moves_pages = true;
  if (missing.count > 0) node.copy = machine_.prefetch(gpu, numa, node.to_device, missing);
  node.kernel_number = static_cast<std::uint32_t>(barriers_[gpu].passed.size());
}

void Simulator::require_one_gpu_for_managed() const {
  if (computes_.size() > 1)
    throw Unsupported("the simulator has no figures for managed memory that several GPUs share");
}

void Simulator::build_kernel(const Schedule& schedule, OpId id, const Kernel& kernel, Node& node) {
  const std::uint16_t gpu = schedule.queues[schedule.ops[id.index()].queue.index()].place.index;
  Bytes missing;
  for (const Access& operand : kernel.operands)
    if (residency_.is_managed(operand.region.buffer)) {
      require_one_gpu_for_managed();
      missing += residency_.move(operand.region, Place::gpu(gpu));
    }
  node.engine = static_cast<std::uint32_t>(engines_.size()) + gpu;
  node.further_launches = std::max<std::uint64_t>(1, kernel.launches) - 1;
  node.kernel = {.op = id.value,
                 .work = kernel.work.count() + machine_.demand(gpu, 0, missing),
                 .blocks = std::max<std::uint64_t>(kernel.blocks, 1),
                 .full_rate = std::max<std::uint64_t>(kernel.full_rate_blocks, 1),
                 .room = std::max<std::uint64_t>(kernel.resident_blocks, 1)};
  if (kernel.launches > 1) node.kernel = Compute::fine_grained(node.kernel);
  if (!kernel.flows.empty()) {
    if (missing.count > 0)
      throw Unsupported(
          fmt::format("{}: the simulator has no figures for kernels that fault managed memory over and "
                      "access host memory",
                      describe(schedule, id)));
    kernel_flows_.push_back(kernel_flow_times(schedule, kernel, gpu, machine_));
    node.flow = static_cast<std::uint32_t>(kernel_flows_.size() - 1);
  }
  node.latency = machine_.gpu(gpu).launch_latency;
  node.kernel_number = static_cast<std::uint32_t>(barriers_[gpu].passed.size());
  barriers_[gpu].passed.push_back(false);
}

void Simulator::build_host(const Schedule& schedule, const Op& op, Node& node) {
  node.is_host = true;
  if (const auto* copy = std::get_if<HostCopy>(&op.what)) {
    if (residency_.is_managed(copy->from.buffer) || residency_.is_managed(copy->to.buffer))
      throw Unsupported("the simulator has no figures for copies of managed memory by host threads");
    node.bytes = static_cast<double>(copy->from.length.count);
    if (host_copy_rates_.empty()) host_copy_rates_ = machine_.host_copy_rates(rings_of(schedule));
    return;
  }
  const auto& call = std::get<HostCall>(op.what);
  if (call.kind == HostCall::Kind::wait) return;  // takes as long as what it waits for
  if (!has_region(call.kind)) {
    node.host_time = machine_.host_call(call.kind, MemoryKind::device, 1_B);
    return;
  }
  if (call.kind == HostCall::Kind::touch) {
    node.touches = true;
    if (residency_.is_managed(call.region.buffer)) require_one_gpu_for_managed();
    if (residency_.is_managed(call.region.buffer))
      node.bytes = static_cast<double>(residency_.move(call.region, Place::host()).count);
    return;
  }
  node.host_time =
      machine_.host_call(call.kind, schedule.buffers[call.region.buffer.index()].memory, call.region.length);
}

}  // namespace shiplap::sim
