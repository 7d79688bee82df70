#include "shiplap/sim/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "shiplap/core/error.hpp"

namespace shiplap::sim {
namespace {

// The least that does (see WaitingQueues); what more than two do is taken to be the same.
constexpr std::uint32_t queues_that_slow_copies = 2;

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

Simulator::Simulator(const Schedule& schedule, const Machine& machine, bool held)
    : machine_(machine),
      held_(held),
      program_(shiplap::submission(schedule)),
      steps_done_(schedule.ops.size(), -1),
      residency_(schedule) {
  pinned_by_op_.resize(schedule.buffers.size());
  written_by_host_.resize(schedule.buffers.size());
  for (const Op& op : schedule.ops) {
    if (const auto* call = std::get_if<HostCall>(&op.what); call != nullptr && call->kind == HostCall::Kind::pin)
      pinned_by_op_[call->region.buffer.index()] = true;
    if (const auto* copy = std::get_if<HostCopy>(&op.what)) written_by_host_[copy->to.buffer.index()] = true;
  }
  build(schedule);
  if (schedule.as_graph) {
    launch_graph();
    return;
  }
  for (const auto& steps : program_.agents) {
    callers_.push_back({.steps = &steps});
    for (const Step& step : steps)
      if (step.kind == Step::Kind::record) nodes_[step.op.index()].recorded = true;
  }
  for (std::uint32_t a = 0; a < callers_.size(); ++a) advance(a);
}

std::uint32_t Simulator::engine_of(std::uint32_t gpu, bool to_device) const { return 2 * gpu + (to_device ? 0 : 1); }

std::uint32_t Simulator::gpu_of_op(const Node& node) const {
  return node.is_copy ? engines_[node.engine].gpu : node.engine - static_cast<std::uint32_t>(engines_.size());
}

// Of the two ops at most one is a kernel whose partner decides the direction; between two copies it is the way back.
double Simulator::handover(const Node& from, const Node& to) const {
  const std::uint32_t gpu = gpu_of_op(to);
  if (!from.is_copy && !to.is_copy) {
    const HandoverFigures& figures = figures_of(gpu, HandoverKind::kernels);
    return copies_move(gpu) ? figures.busy : figures.idle;
  }
  const Node& copy = from.is_copy && (!to.is_copy || !from.to_device) ? from : to;
  const std::uint32_t last = to.is_copy ? engines_[to.engine].last_queue : last_kernel_queue_[gpu];
  const bool same = last == none || last == to.queue;
  const HandoverFigures& figures =
      figures_of(gpu, copy.to_device ? (same ? HandoverKind::h2d_same_queue : HandoverKind::h2d_other_queue)
                                     : (same ? HandoverKind::d2h_same_queue : HandoverKind::d2h_other_queue));
  return is_occupied(engines_[copy.engine].opposite) ? figures.busy : figures.idle;
}

bool Simulator::is_occupied(std::uint32_t engine) const { return engine != none && engines_[engine].occupied; }

bool Simulator::copies_move(std::uint32_t gpu) const {
  return is_occupied(engine_of(gpu, true)) || is_occupied(engine_of(gpu, false));
}

const HandoverFigures& Simulator::figures_of(std::uint32_t gpu, HandoverKind kind) const {
  return machine_.gpu(static_cast<std::uint16_t>(gpu)).handovers[static_cast<std::size_t>(kind)];
}

void Simulator::run() {
  for (;;) {
    // The next moment of any resource; ties go to engines in their order, then to kernels that access host memory, then
    // to events in op order, then to blocks that end.
    double next = events_.empty() ? never : events_.top().time;
    std::uint32_t engine = none;
    for (std::uint32_t e = 0; e < engines_.size(); ++e) {
      if (engines_[e].current != none && engines_[e].next <= next && (engine == none || engines_[e].next < next)) {
        next = engines_[e].next;
        engine = e;
      }
    }
    std::uint32_t flow = none;
    for (std::uint32_t g = 0; g < flow_engines_.size(); ++g) {
      if (flow_engines_[g].current == none || flow_engines_[g].next > next) continue;
      if (flow_engines_[g].next == next && (engine != none || flow != none)) continue;
      next = flow_engines_[g].next;
      engine = none;
      flow = g;
    }
    std::uint32_t compute = none;
    for (std::uint32_t g = 0; g < computes_.size(); ++g) {
      if (computes_[g].next() >= next) continue;
      next = computes_[g].next();
      compute = g;
    }
    const double host = std::min(copying_.next(), touching_.next());
    if (host < next) {
      const std::uint32_t op =
          copying_.next() == host
              ? copying_.retire([&](std::size_t threads) { return host_copy_rate(threads); })
              : touching_.retire([&](std::size_t threads) { return machine_.host_demand_rate(threads); });
      finished(op, host);
      continue;
    }
    if (compute != none) {
      if (const std::uint32_t ended = computes_[compute].retire(); ended != none) finished(ended, next);
      dispatch_kernels(compute, next);
      continue;
    }
    if (engine != none) {
      if (engines_[engine].flowing)
        end_flow(engine, next);
      else
        start_flow(engine, next);
      continue;
    }
    if (flow != none) {
      end_kernel_flow(flow, next);
      continue;
    }
    if (events_.empty()) break;
    const Event event = events_.top();
    events_.pop();
    switch (event.kind) {
      case EventKind::queued: {
        const Node& node = nodes_[event.op];
        if (node.is_copy &&
            machine_.gpu(static_cast<std::uint16_t>(engines_[node.engine].gpu)).order == EngineOrder::submission)
          wait_for(engines_[node.engine], node, event.op);
        if (!node.is_copy) set_waiting(event.op, true, event.time);
        release(event.op, event.time);
        break;
      }
      case EventKind::ready:
        release(event.op, event.time);
        break;
      case EventKind::kernel_arrives: {
        const std::uint32_t gpu = gpu_of_op(nodes_[event.op]);
        last_kernel_queue_[gpu] = nodes_[event.op].queue;
        if (nodes_[event.op].flow != none) {
          flow_engines_[gpu].waiting.push_back(event.op);
          start_kernel_flow(gpu, event.time);
          break;
        }
        computes_[gpu].arrive(nodes_[event.op].kernel);
        dispatch_kernels(gpu, event.time);
        break;
      }
      case EventKind::host_starts:
        start_host(event.op, event.time);
        break;
      case EventKind::host_ends:
        finished(event.op, event.time);
        break;
    }
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].end < 0)
      throw Error(fmt::format("simulation stopped before op {} could start: the schedule waits for itself", i));
}

void Simulator::release(std::uint32_t op, double time) {
  Node& node = nodes_[op];
  node.ready = std::max(node.ready, time);
  if (--node.pending > 0) return;
  if (node.is_copy) {
    enqueue(op, time);
  } else {
    set_waiting(op, false, time);
    arrive_when_possible(op, time);
  }
}

void Simulator::enqueue(std::uint32_t op, double now) {
  Node& node = nodes_[op];
  CopyEngine& engine = engines_[node.engine];
  if (machine_.gpu(static_cast<std::uint16_t>(engine.gpu)).order == EngineOrder::readiness) wait_for(engine, node, op);
  // The copy behind it in its queue needs no end of this one: the engine serves them in order.
  if (const std::uint32_t after = queue_after_[op]; after != none) release(after, now);
  claim(node.engine, now);
}

double Simulator::event_gap(const Node& before) const {
  const Gpu& gpu = machine_.gpu(static_cast<std::uint16_t>(gpu_of_op(before)));
  return copies_move(gpu_of_op(before)) ? gpu.event_gap.busy : gpu.event_gap.idle;
}

// Kernels of one queue run one after the other; the latency of the later one passes while the earlier one runs.
void Simulator::arrive_when_possible(std::uint32_t op, double now) {
  const Node& node = nodes_[op];
  const std::uint32_t gpu = gpu_of_op(node);
  double time = node.ready + node.latency;
  if (node.queue_before != none) {
    const Node& before = nodes_[node.queue_before];
    const double gap = machine_.gpu(static_cast<std::uint16_t>(gpu)).kernel_gap;
    time = std::max(time, before.end + gap + (before.recorded ? event_gap(before) : 0));
  }
  events_.push({.time = std::max(time, now), .op = op, .kind = EventKind::kernel_arrives});
}

void Simulator::dispatch_kernels(std::uint32_t gpu, double now) {
  first_started_.clear();
  all_started_.clear();
  computes_[gpu].dispatch(now, first_started_, all_started_);
  for (const auto& started : first_started_) nodes_[started.op].start = started.time;
  if (machine_.gpu(static_cast<std::uint16_t>(gpu)).implicit_sync == ImplicitSync::until_started)
    for (std::size_t i = 0; i < all_started_.size(); ++i) pass_barrier(all_started_[i].op, now);
}

void Simulator::finished(std::uint32_t op, double now) {
  Node& node = nodes_[op];
  node.end = now;
  if (!for_end_.empty()) wake(for_end_, op, now);
  if (node.is_host) return;
  const std::uint32_t end =
      op + 1 < nodes_.size() ? nodes_[op + 1].successors_begin : static_cast<std::uint32_t>(successors_.size());
  for (std::uint32_t s = node.successors_begin; s < end; ++s) {
    const std::uint32_t successor = successors_[s];
    if (const double delay = handover(node, nodes_[successor]); delay > 0)
      events_.push({.time = now + delay, .op = successor, .kind = EventKind::ready});
    else
      release(successor, now);
  }
  if (node.is_copy) return;
  if (const std::uint32_t after = queue_after_[op]; after != none) {
    // Waiting for the kernel before it in its queue is no reason to pay the launch latency after its end.
    Node& next = nodes_[after];
    if (--next.pending == 0) {
      set_waiting(after, false, now);
      arrive_when_possible(after, now);
    }
  }
  const std::uint32_t gpu = gpu_of_op(node);
  if (machine_.gpu(static_cast<std::uint16_t>(gpu)).implicit_sync == ImplicitSync::until_ended) pass_barrier(op, now);
}

void Simulator::pass_barrier(std::uint32_t kernel, double now) {
  const std::uint32_t gpu = gpu_of_op(nodes_[kernel]);
  ImplicitBarrier& barrier = barriers_[gpu];
  barrier.passed[nodes_[kernel].kernel_number] = true;
  while (barrier.passed_up_to < barrier.passed.size() && barrier.passed[barrier.passed_up_to]) ++barrier.passed_up_to;
  for (std::uint32_t e = 2 * gpu; e < 2 * gpu + 2; ++e) claim(e, now);
  claim(static_cast<std::uint32_t>(2 * computes_.size()) + gpu, now);
}

// Implicit synchronisation: a copy back waits for every kernel that was submitted before it.
bool Simulator::may_start(const CopyEngine& engine, std::uint32_t op) const {
  const Node& node = nodes_[op];
  // The driver moves pages for one prefetch after the other, whichever way they go.
  if (node.moves_pages && engine.opposite != none) {
    const std::uint32_t other = engines_[engine.opposite].current;
    if (other != none && nodes_[other].moves_pages) return false;
  }
  if (node.to_device || machine_.gpu(static_cast<std::uint16_t>(engine.gpu)).implicit_sync == ImplicitSync::none)
    return true;
  return barriers_[engine.gpu].passed_up_to >= node.kernel_number;
}

void Simulator::wait_for(CopyEngine& engine, const Node& node, std::uint32_t op) {
  engine.waiting[node.queue % engine.waiting.size()].push_back(op);
}

// Goes on to the next group in turn if nothing of the present one waits; whether anything does.
bool Simulator::find_waiting(CopyEngine& engine) {
  for (std::size_t tried = 0; tried < engine.waiting.size(); ++tried) {
    if (!engine.waiting[engine.group].empty()) return true;
    engine.group = (engine.group + 1) % static_cast<std::uint32_t>(engine.waiting.size());
  }
  return false;
}

void Simulator::claim(std::uint32_t e, double now) {
  CopyEngine& engine = engines_[e];
  if (engine.current != none || !find_waiting(engine)) return;
  const std::uint32_t op = engine.waiting[engine.group].front();
  Node& node = nodes_[op];
  if (node.pending > 0 || !may_start(engine, op)) return;
  engine.waiting[engine.group].pop_front();
  // What held the copy back beyond its own queue counts as becoming ready.
  const bool held_back =
      machine_.gpu(static_cast<std::uint16_t>(engine.gpu)).implicit_sync != ImplicitSync::none && !node.to_device;
  if (held_back && engine.free_at < now) node.ready = std::max(node.ready, now);
  const bool opposite_busy = engine.opposite != none && engines_[engine.opposite].occupied;
  double start = node.ready + node.latency;
  bool in_gap = false;
  if (engine.free_at >= 0) {
    const bool turns = engine.last_to_device != node.to_device;
    const bool slowed = slowed_by_waiting_queues(engine.gpu);
    // Beside the other direction too: there the gaps of a batch were seen to be as small.
    const bool in_batch = node.batched && engine.last + 1 == op;
    const double gap = turns           ? node.latency
                       : in_batch      ? node.batched_gap
                       : opposite_busy ? node.copy.duplex_gap + (slowed ? node.copy.duplex_waiting_gap : 0)
                                       : node.copy.gap + (slowed ? node.copy.waiting_gap : 0);
    in_gap = engine.free_at + gap >= start;
    start = std::max(start, engine.free_at + gap);
  }
  engine.last_queue = node.queue;
  engine.last = op;
  engine.current = op;
  engine.flowing = false;
  engine.next = std::max(start, now);
  const bool turned = engine.last_to_device != node.to_device;
  engine.last_to_device = node.to_device;
  set_occupied(e, in_gap, now);
  if (turned) settle(engine.gpu, now);  // kernels that access host memory feel another direction
}

void Simulator::start_flow(std::uint32_t e, double now) {
  CopyEngine& engine = engines_[e];
  Node& node = nodes_[engine.current];
  settle(engine.gpu, now);  // what has moved so far moved at the old rates
  node.start = now;
  engine.flowing = true;
  engine.occupied = true;
  engine.remaining = node.bytes;
  engine.updated = now;
  settle(engine.gpu, now);
  update_flow(e, now);
}

void Simulator::end_flow(std::uint32_t e, double now) {
  CopyEngine& engine = engines_[e];
  const std::uint32_t op = engine.current;
  settle(engine.gpu, now);
  engine.current = none;
  engine.flowing = false;
  engine.free_at = now;
  if (flow_engines_[engine.gpu].current != none) update_kernel_flow(engine.gpu, now);
  // The next copy may keep the engine occupied; only if none does, the other direction speeds up.
  const bool was_occupied = engine.occupied;
  finished(op, now);
  // Prefetches of the two ways take turns.
  if (nodes_[op].moves_pages && engine.opposite != none) claim(engine.opposite, now);
  claim(e, now);
  if (was_occupied && engine.current == none) set_occupied(e, false, now);
}

void Simulator::set_occupied(std::uint32_t e, bool occupied, double now) {
  CopyEngine& engine = engines_[e];
  if (engine.occupied == occupied) return;
  settle(engine.gpu, now);  // what has moved so far moved at the old rates
  engine.occupied = occupied;
  settle(engine.gpu, now);
}

// Accounts for what has moved on the link of a GPU, and foresees the ends at the present rates.
void Simulator::settle(std::uint32_t gpu, double now) {
  for (std::uint32_t e = 2 * gpu; e < 2 * gpu + 2; ++e)
    if (engines_[e].flowing) update_flow(e, now);
  if (flow_engines_[gpu].current != none) update_kernel_flow(gpu, now);
}

bool Simulator::slowed_by_waiting_queues(std::uint32_t gpu) const {
  return waiting_queues_[gpu] >= queues_that_slow_copies;
}

// A queue waits while it holds a kernel that was submitted and cannot start yet.
void Simulator::set_waiting(std::uint32_t kernel, bool waits, double now) {
  std::uint32_t& kernels = waiting_kernels_[nodes_[kernel].queue];
  kernels += waits ? 1u : ~0u;
  if (kernels != (waits ? 1u : 0u)) return;
  const std::uint32_t gpu = gpu_of_op(nodes_[kernel]);
  const std::uint32_t before = waiting_queues_[gpu];
  const std::uint32_t after = before + (waits ? 1u : ~0u);
  if (std::max(before, after) != queues_that_slow_copies) {
    waiting_queues_[gpu] = after;
    return;
  }
  settle(gpu, now);
  waiting_queues_[gpu] = after;
  settle(gpu, now);
}

// Accounts for the bytes that moved since the last update and foresees the end at the present rate.
void Simulator::update_flow(std::uint32_t e, double now) {
  CopyEngine& engine = engines_[e];
  const Node& node = nodes_[engine.current];
  const bool duplex = engine.opposite != none && engines_[engine.opposite].occupied;
  const bool slowed = slowed_by_waiting_queues(engine.gpu);
  double per_byte = duplex ? node.copy.duplex_per_byte + (slowed ? node.copy.duplex_waiting_per_byte : 0)
                           : node.copy.per_byte + (slowed ? node.copy.waiting_per_byte : 0);
  if (const std::uint32_t felt = flow_engines_[engine.gpu].felt; felt != none)
    per_byte =
        std::max(per_byte * kernel_flows_[felt].copies_beside, kernel_flows_[felt].copy_per_byte[node.to_device]);
  if (now > engine.updated) {
    engine.remaining = std::max(0.0, engine.remaining - (now - engine.updated) / per_byte);
    engine.updated = now;
  }
  engine.next = now + engine.remaining * per_byte;
}

void Simulator::start_kernel_flow(std::uint32_t gpu, double now) {
  FlowEngine& flows = flow_engines_[gpu];
  if (flows.current != none || flows.waiting.empty()) return;
  settle(gpu, now);
  flows.current = flows.waiting.front();
  flows.waiting.pop_front();
  flows.felt = nodes_[flows.current].flow;
  flows.remaining = 1;
  flows.updated = now;
  nodes_[flows.current].start = now;
  settle(gpu, now);
  if (machine_.gpu(static_cast<std::uint16_t>(gpu)).implicit_sync == ImplicitSync::until_started)
    pass_barrier(flows.current, now);
}

void Simulator::end_kernel_flow(std::uint32_t gpu, double now) {
  FlowEngine& flows = flow_engines_[gpu];
  const std::uint32_t op = flows.current;
  settle(gpu, now);
  flows.current = none;
  finished(op, now);
  // In the short gap between two such kernels of a queue the link is taken as busy all the same.
  const std::uint32_t after = queue_after_[op];
  const bool goes_on = after != none && nodes_[after].flow != none && nodes_[after].pending == 0;
  if (!goes_on && flows.waiting.empty()) {
    flows.felt = none;
    settle(gpu, now);
  }
  start_kernel_flow(gpu, now);
}

void Simulator::update_kernel_flow(std::uint32_t gpu, double now) {
  FlowEngine& flows = flow_engines_[gpu];
  const CopyEngine& first = engines_[2 * gpu];
  const bool shared = first.opposite == none;
  const bool h2d = first.flowing && (!shared || first.last_to_device);
  const bool d2h = shared ? first.flowing && !first.last_to_device : engines_[2 * gpu + 1].flowing;
  if (now > flows.updated) {
    // The rate that held until now was foreseen by the last update.
    const double left = flows.next - flows.updated;
    flows.remaining *= left > 0 ? std::max(0.0, (flows.next - now) / left) : 0.0;
    flows.updated = now;
  }
  const KernelFlowTimes& times = kernel_flows_[nodes_[flows.current].flow];
  const double beside = std::max(h2d ? times.beside[1] : 0.0, d2h ? times.beside[0] : 0.0);
  flows.next = now + flows.remaining * (beside > 0 ? beside : times.alone);
}

Timeline Simulator::timeline() && {
  Timeline result;
  result.spans.reserve(nodes_.size());
  double makespan = 0;
  for (const Node& node : nodes_) {
    const Engine engine = node.is_host ? Engine::host : node.is_copy ? engines_[node.engine].name : Engine::compute;
    result.spans.push_back({Seconds{node.start}, Seconds{node.end}, engine});
    makespan = std::max(makespan, node.end);
  }
  result.makespan = Seconds{makespan};
  return result;
}

}  // namespace shiplap::sim
