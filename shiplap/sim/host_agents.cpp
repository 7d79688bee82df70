#include "shiplap/sim/host_agents.hpp"

#include <algorithm>

namespace shiplap::sim {

HostAgents::HostAgents(const SimParameters& machine, const OpStates& ops, Timers& timers, bool held)
    : machine_(machine), ops_(ops), timers_(timers), held_(held) {}

void HostAgents::start(const Schedule& schedule) {
  if (schedule.as_graph) return launch_graph();
  submission_ = submission(schedule);
  steps_done_.assign(schedule.ops.size(), -1);
  for (const auto& steps : submission_.agents) agents_.push_back({.steps = &steps});
  for (AgentIndex a = 0; a < agents_.size(); ++a) make_calls(a);
}

// Measured on an H200: a graph without copies starts as early as a single kernel. A graph with copies starts later by
// about the time of its launch call.
void HostAgents::launch_graph() {
  std::size_t launches = ops_.size();
  for (const OpState& op : ops_) launches += op.further_launches;
  submission_time_ = machine_.graph_launch(launches);
  const bool copies = std::ranges::any_of(ops_, &OpState::is_copy);
  const double queued = copies && !held_ ? submission_time_ : 0.0;
  for (OpIndex op = 0; op < ops_.size(); ++op) timers_.set({.time = queued, .op = op, .moment = Moment::queued});
}

// Makes the calls of the agent up to the first one in which it has to wait.
void HostAgents::make_calls(AgentIndex index) {
  Agent& agent = agents_[index];
  note_steps_done(agent);
  while (agent.next < agent.steps->size()) {
    if (!make_call(index, (*agent.steps)[agent.next])) return;
    note_steps_done(agent);
  }
  submission_time_ = std::max(submission_time_, agent.clock);
}

// Returns false when the agent has to wait. `wake` then continues it.
bool HostAgents::make_call(AgentIndex index, const SubmissionStep& step) {
  Agent& agent = agents_[index];
  switch (step.kind) {
    case SubmissionStep::Kind::await: {
      const double done = steps_done_[step.awaited.index()];
      if (done < 0) {
        awaiting_steps_.push_back({step.awaited.value, index});
        return false;
      }
      agent.clock = std::max(agent.clock, done);
      break;
    }
    case SubmissionStep::Kind::synchronize: {
      OpIndex awaited = step.awaited.value;
      while (awaited + 1 < ops_.size() && ops_[awaited + 1].batched) ++awaited;
      const double end = ops_[awaited].end;
      if (end < 0) {
        awaiting_end_.push_back({awaited, index});
        return false;
      }
      agent.clock = std::max(agent.clock, end);
      break;
    }
    case SubmissionStep::Kind::wait:
      agent.clock += machine_.wait;
      break;
    case SubmissionStep::Kind::submit:
      submit(agent, step);
      if (ops_[step.op.index()].blocks_agent) {
        ++agent.next;
        awaiting_end_.push_back({step.op.value, index});
        return false;
      }
      break;
    case SubmissionStep::Kind::record:
    case SubmissionStep::Kind::finish:
      agent.clock += machine_.record;
      break;
  }
  ++agent.next;
  return true;
}

void HostAgents::submit(Agent& agent, const SubmissionStep& step) {
  const OpState& first = ops_[step.op.index()];
  // Blocks move from the beginning of their call on.
  if (first.call >= 0) {
    timers_.set({.time = held_ ? 0.0 : agent.clock, .op = step.op.value, .moment = Moment::queued});
    agent.clock += first.call;
    return;
  }
  // The times of pageable copies and of prefetches include their calls.
  if (!first.is_host && !first.holds_call) {
    agent.clock += first.is_copy() ? machine_.submit_copy : first.kernel_call + machine_.submit_launch;
    if (step.batch > 1) agent.clock += (step.batch - 1) * machine_.batched_copy();
  }
  for (OpIndex op = step.op.value; op < step.op.value + step.batch; ++op)
    timers_.set(
        {.time = held_ ? 0.0 : agent.clock, .op = op, .moment = first.is_host ? Moment::host_starts : Moment::queued});
  // The first of several launches may start while the others are submitted.
  agent.clock += static_cast<double>(first.further_launches) * machine_.submit_launch;
}

// All calls for an op have been made when the next call belongs to another op.
void HostAgents::note_steps_done(const Agent& agent) {
  if (agent.next == 0) return;
  const OpIndex op = (*agent.steps)[agent.next - 1].op.value;
  const bool more = agent.next < agent.steps->size() && (*agent.steps)[agent.next].op.value == op;
  if (more || steps_done_[op] >= 0) return;
  steps_done_[op] = agent.clock;
  if (!awaiting_steps_.empty()) wake(awaiting_steps_, op, agent.clock);
}

void HostAgents::wake(std::vector<Waiting>& waiting, OpIndex op, double now) {
  std::vector<AgentIndex> woken;
  std::erase_if(waiting, [&](const Waiting& one) {
    if (one.op != op) return false;
    woken.push_back(one.agent);
    return true;
  });
  for (const AgentIndex index : woken) {
    agents_[index].clock = std::max(agents_[index].clock, now);
    make_calls(index);
  }
}

}  // namespace shiplap::sim
