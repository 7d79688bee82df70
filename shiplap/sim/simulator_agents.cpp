// Host agents: they make their calls one after the other, wait in some, and do work themselves.
#include <algorithm>

#include "shiplap/sim/simulator.hpp"

namespace shiplap::sim {

// Makes the agent's calls up to one that it has to wait in.
void Simulator::advance(std::uint32_t agent) {
  Caller& caller = callers_[agent];
  const auto wait_for = [&](std::vector<WaitingCaller>& waiting, std::uint32_t op) { waiting.push_back({op, agent}); };
  note_steps_done(caller);
  while (caller.next < caller.steps->size()) {
    const Step& step = (*caller.steps)[caller.next];
    if (step.kind == Step::Kind::await) {
      const double done = steps_done_[step.awaited.index()];
      if (done < 0) return wait_for(for_steps_, step.awaited.value);
      caller.clock = std::max(caller.clock, done);
    } else if (step.kind == Step::Kind::synchronize) {
      std::uint32_t awaited = step.awaited.value;
      while (awaited + 1 < nodes_.size() && nodes_[awaited + 1].batched) ++awaited;
      const double end = nodes_[awaited].end;
      if (end < 0) return wait_for(for_end_, awaited);
      caller.clock = std::max(caller.clock, end);
    } else if (step.kind == Step::Kind::wait) {
      caller.clock += machine_.wait;
    } else if (step.kind == Step::Kind::submit) {
      submit(caller, step);
      if (nodes_[step.op.index()].blocks_agent) {
        ++caller.next;
        return wait_for(for_end_, step.op.value);
      }
    } else {
      caller.clock += machine_.record;
    }
    ++caller.next;
    note_steps_done(caller);
  }
  submission_ = std::max(submission_, caller.clock);
}

void Simulator::submit(Caller& caller, const Step& step) {
  const Node& node = nodes_[step.op.index()];
  // The times of pageable copies and of prefetches hold their calls.
  if (!node.is_host && !node.holds_call) {
    caller.clock += node.is_copy ? machine_.submit_copy : machine_.submit_launch;
    if (step.batch > 1) caller.clock += (step.batch - 1) * machine_.batched_copy();
  }
  for (std::uint32_t op = step.op.value; op < step.op.value + step.batch; ++op)
    events_.push({.time = held_ ? 0.0 : caller.clock,
                  .op = op,
                  .kind = node.is_host ? EventKind::host_starts : EventKind::queued});
  // The first of several launches may begin meanwhile.
  caller.clock += static_cast<double>(node.further_launches) * machine_.submit_launch;
}

// On an H200 a graph of kernels begins as soon as a single kernel does, a graph with copies about as much later as its
// launch takes.
void Simulator::launch_graph() {
  std::size_t launches = nodes_.size();
  for (const Node& node : nodes_) launches += node.further_launches;
  submission_ = machine_.graph_launch(launches);
  const bool copies = std::ranges::any_of(nodes_, &Node::is_copy);
  const double queued = copies && !held_ ? submission_ : 0.0;
  for (std::uint32_t op = 0; op < nodes_.size(); ++op)
    events_.push({.time = queued, .op = op, .kind = EventKind::queued});
}

// Where the next call belongs to another op, those of the last one have all been made.
void Simulator::note_steps_done(Caller& caller) {
  if (caller.next == 0) return;
  const std::uint32_t op = (*caller.steps)[caller.next - 1].op.value;
  const bool more = caller.next < caller.steps->size() && (*caller.steps)[caller.next].op.value == op;
  if (more || steps_done_[op] >= 0) return;
  steps_done_[op] = caller.clock;
  if (!for_steps_.empty()) wake(for_steps_, op, caller.clock);
}

void Simulator::wake(std::vector<WaitingCaller>& waiting, std::uint32_t op, double now) {
  std::vector<std::uint32_t> agents;
  std::erase_if(waiting, [&](const WaitingCaller& one) {
    if (one.op != op) return false;
    agents.push_back(one.agent);
    return true;
  });
  for (const std::uint32_t agent : agents) {
    callers_[agent].clock = std::max(callers_[agent].clock, now);
    advance(agent);
  }
}

double Simulator::host_copy_rate(std::size_t threads) const {
  return rate_of(host_copy_rates_, static_cast<unsigned>(threads)).bytes_per_second;
}

void Simulator::start_host(std::uint32_t op, double now) {
  Node& node = nodes_[op];
  node.start = now;
  if (node.bytes > 0 && node.touches)
    touching_.start(op, node.bytes, now, [&](std::size_t threads) { return machine_.host_demand_rate(threads); });
  else if (node.bytes > 0)
    copying_.start(op, node.bytes, now, [&](std::size_t threads) { return host_copy_rate(threads); });
  else
    events_.push({.time = now + node.host_time, .op = op, .kind = EventKind::host_ends});
}

}  // namespace shiplap::sim
