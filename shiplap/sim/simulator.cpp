#include "shiplap/sim/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/op_builder.hpp"

namespace shiplap::sim {
namespace {

// Events without an op that ends may share a time, as the waves of kernels that take no time. More than these show that
// the time does not advance.
constexpr std::size_t most_events_at_once = std::size_t{1} << 20;
constexpr std::size_t events_of_an_op = 16;

[[noreturn]] void refuse_times() {
  throw Error(
      "the simulated time is not a number, has no end or does not advance, because times of the profile or of the job "
      "are no numbers, or too large or too small to be added; check them");
}

/// Refuses figures that are no numbers: the longer one of a time and of what is no number is the time.
void require_numbers(const OpState& op) {
  for (const double figure : {op.latency, op.bytes, op.copy.gap, op.copy.duplex_gap, op.batched_gap, op.kernel_call})
    if (!std::isfinite(figure)) refuse_times();
}

}  // namespace

Simulator::Simulator(const Schedule& schedule, const SimParameters& machine, bool held)
    : machine_(machine),
      timers_([this](const Timer& timer) { return on_timer(timer); }),
      host_copies_([this](std::size_t threads) {
        return rate_of(host_copy_rates_, static_cast<unsigned>(threads)).bytes_per_second;
      }),
      host_touches_([this](std::size_t threads) { return machine_.host_demand_rate(threads); }),
      agents_(machine, ops_, timers_, held) {
  add_gpus(schedule);
  add_ops(schedule);
  agents_.start(schedule);
}

void Simulator::run() {
  double last = 0;
  std::size_t events = 0;  // since the time advanced or an op ended
  while (Resource* const resource = first_due()) {
    const double now = resource->next_event();
    if (now > last) events = 0;
    last = std::max(last, now);
    if (++events > most_events_at_once + events_of_an_op * ops_.size()) refuse_times();
    if (const OpIndex op = resource->advance(); op != no_op) {
      events = 0;
      ended(op, now);
    }
    resource->after_event(now);
  }
  for (const OpState& op : ops_)
    if (!std::isfinite(op.start) || !std::isfinite(op.end)) refuse_times();
  for (OpIndex op = 0; op < ops_.size(); ++op) {
    // Where no op waits for a later one, only a resource whose time is infinite or not a number, and so is never due,
    // can be what the op waits for.
    if (ops_[op].end < 0 && !waits_for_later_) refuse_times();
    if (ops_[op].end < 0)
      throw Error(
          fmt::format("the simulation ended before op {} could start, because ops of the schedule wait for each other; "
                      "check it with `validate`",
                      op));
  }
}

Resource* Simulator::first_due() const {
  Resource* first = nullptr;
  double time = never;
  for (Resource* resource : resources_) {
    if (!(resource->next_event() < time)) continue;  // also where it is not a number
    time = resource->next_event();
    first = resource;
  }
  return first;
}

void Simulator::add_gpus(const Schedule& schedule) {
  std::uint16_t count = 1;
  const auto add = [&](Place place) {
    if (place.is_gpu()) count = std::max<std::uint16_t>(count, place.index + 1);
  };
  for (const Buffer& buffer : schedule.buffers) add(buffer.place);
  for (const Stream& stream : schedule.streams) add(stream.place);
  for (const Op& op : schedule.ops)
    if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) add(prefetch->to);
  for (std::uint16_t g = 0; g < count; ++g) gpus_.emplace_back(machine_.gpu(g), schedule.streams.size(), ops_);

  if (std::vector<SharedPath> paths = machine_.shared(count); !paths.empty()) {
    std::vector<SharedPaths::Movers> movers;
    for (GpuResources& gpu : gpus_) movers.push_back({&gpu.copy_engine(true), &gpu.copy_engine(false), &gpu.zero_copy});
    shared_.emplace(std::move(paths), std::move(movers));
    for (GpuResources& gpu : gpus_) gpu.link.connect(*shared_);
  }
  for (GpuResources& gpu : gpus_) resources_.insert(resources_.end(), {&gpu.h2d, &gpu.d2h});
  for (GpuResources& gpu : gpus_) resources_.push_back(&gpu.d2d);
  for (GpuResources& gpu : gpus_) resources_.push_back(&gpu.zero_copy);
  resources_.push_back(&timers_);
  for (GpuResources& gpu : gpus_) resources_.push_back(&gpu.compute);
  resources_.insert(resources_.end(), {&host_copies_, &host_touches_});
}

void Simulator::add_ops(const Schedule& schedule) {
  const auto n = static_cast<OpIndex>(schedule.ops.size());
  struct Edge {
    OpIndex from, to;
  };
  std::vector<Edge> edges;
  edges.reserve(n * 2);
  std::vector<OpIndex> last_of_stream(schedule.streams.size(), no_op);
  OpBuilder builder(schedule, machine_, gpus_, zero_copy_);
  ops_.resize(n);
  for (OpIndex i = 0; i < n; ++i) {
    OpState& op = ops_[i];
    for (const OpId dependency : schedule.ops[i].after)
      waits_for_later_ |= last_of_batch(schedule, dependency).index() >= i;
    builder.describe_op(i, op);
    require_numbers(op);
    if (op.is_host) continue;  // its agent performs its ops in order
    const auto wait_for = [&](OpIndex before) {
      edges.push_back({before, i});
      ++op.pending;
    };
    for (const OpId dependency : schedule.ops[i].after)
      if (!ops_[dependency.index()].is_host) wait_for(last_of_batch(schedule, dependency).value);
    OpIndex& before = last_of_stream[op.stream];
    if (before != no_op && ops_[before].copy_engine == op.copy_engine) {
      op.stream_before = before;
      ops_[before].stream_after = i;
      ++op.pending;
    } else if (before != no_op) {
      wait_for(before);
    }
    before = i;
  }
  host_copy_rates_ = builder.host_copy_rates();

  std::vector<OpIndex> next(n + 1, 0);
  for (const Edge& edge : edges) ++next[edge.from];
  OpIndex sum = 0;
  for (OpIndex i = 0; i < n; ++i) {
    ops_[i].successors_begin = sum;
    sum += next[i];
    next[i] = ops_[i].successors_begin;
  }
  successors_.resize(sum);
  for (const Edge& edge : edges) successors_[next[edge.from]++] = edge.to;
}

OpIndex Simulator::on_timer(const Timer& timer) {
  const OpIndex index = timer.op;
  OpState& op = ops_[index];
  switch (timer.moment) {
    case Moment::queued:
      op.kernels_before = gpus_[op.gpu].kernels.count();
      if (!op.is_copy()) gpus_[op.gpu].kernels.add();
      if (op.is_copy())
        op.copy_engine->queued(index);
      else
        gpus_[op.gpu].link.set_kernel_waits(op.stream, true, timer.time);
      requirement_met(index, timer.time);
      break;
    case Moment::ready:
      requirement_met(index, timer.time);
      break;
    case Moment::kernel_arrives:
      kernel_arrives(index, timer.time);
      break;
    case Moment::host_starts:
      start_host(index, timer.time);
      break;
    case Moment::host_ends:
      return index;
  }
  return no_op;
}

void Simulator::requirement_met(OpIndex index, double time) {
  OpState& op = ops_[index];
  op.ready = std::max(op.ready, time);
  if (--op.pending > 0) return;
  if (op.is_copy())
    copy_ready(index, time);
  else
    kernel_ready(index, time);
}

void Simulator::copy_ready(OpIndex index, double now) {
  const OpState& op = ops_[index];
  op.copy_engine->ready(index);
  // The next copy of the stream need not wait for the end of this one, because the copy engine serves them in order.
  if (op.stream_after != no_op) requirement_met(op.stream_after, now);
  op.copy_engine->start_next(now);
}

// Kernels of one stream run one after the other. The launch latency of the later one overlaps with the earlier one.
void Simulator::kernel_ready(OpIndex index, double now) {
  const OpState& op = ops_[index];
  gpus_[op.gpu].link.set_kernel_waits(op.stream, false, now);
  double time = op.ready + op.latency;
  if (op.stream_before != no_op) {
    time = std::max(time, ops_[op.stream_before].end + gpus_[op.gpu].figures.kernel_gap);
  }
  timers_.set({.time = std::max(time, now), .op = index, .moment = Moment::kernel_arrives});
}

void Simulator::kernel_arrives(OpIndex index, double now) {
  const OpState& op = ops_[index];
  GpuResources& gpu = gpus_[op.gpu];
  gpu.last_kernel_stream = op.stream;
  if (op.zero_copy != nullptr) {
    gpu.zero_copy.arrive(index, now);
  } else {
    gpu.compute.arrive(op.kernel);
    gpu.compute.start_next(now);
  }
}

void Simulator::start_host(OpIndex index, double now) {
  OpState& op = ops_[index];
  op.start = now;
  if (op.bytes > 0)
    (op.touches ? host_touches_ : host_copies_).start(index, op.bytes, now);
  else
    timers_.set({.time = now + op.host_time, .op = index, .moment = Moment::host_ends});
}

void Simulator::ended(OpIndex index, double now) {
  OpState& op = ops_[index];
  op.end = now;
  agents_.ended(index, now);
  if (op.is_host) return;
  const auto end =
      index + 1 < ops_.size() ? ops_[index + 1].successors_begin : static_cast<std::uint32_t>(successors_.size());
  for (std::uint32_t s = op.successors_begin; s < end; ++s) {
    const OpIndex successor = successors_[s];
    if (const double delay = handover(op, ops_[successor]); delay > 0)
      timers_.set({.time = now + delay, .op = successor, .moment = Moment::ready});
    else
      requirement_met(successor, now);
  }
  if (op.is_copy()) return;
  // `ready` of the next kernel in the stream stays as it is, so that its launch latency overlaps with this kernel.
  if (op.stream_after != no_op && --ops_[op.stream_after].pending == 0) kernel_ready(op.stream_after, now);
  gpus_[op.gpu].kernels.ended(index, now);
}

// Kernels take over from each other without delay. The handover between a kernel and a copy has the figures of the
// copy's direction. The handover between two copies has the figures of D2H when the first copy is D2H, and otherwise
// those of the direction of the second copy.
double Simulator::handover(const OpState& from, const OpState& to) const {
  if (!from.is_copy() && !to.is_copy()) return 0;
  const GpuResources& gpu = gpus_[to.gpu];
  const OpState& copy = from.is_copy() && (!to.is_copy() || !from.to_device) ? from : to;
  const StreamIndex last = to.is_copy() ? to.copy_engine->last_stream() : gpu.last_kernel_stream;
  const bool same_stream = last == no_stream || last == to.stream;
  const HandoverFigures& figures = copy.to_device ? gpu.figures.h2d_handover : gpu.figures.d2h_handover;
  return same_stream ? figures.same_stream : figures.other_stream;
}

Timeline Simulator::timeline() const {
  Timeline result;
  result.spans.reserve(ops_.size());
  double makespan = 0;
  for (const OpState& op : ops_) {
    const Engine engine = op.is_host ? Engine::host : op.is_copy() ? op.copy_engine->name() : Engine::compute;
    result.spans.push_back({Seconds{op.start}, Seconds{op.end}, engine});
    makespan = std::max(makespan, op.end);
  }
  result.makespan = Seconds{makespan};
  return result;
}

}  // namespace shiplap::sim
