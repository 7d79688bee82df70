// Host agents: host threads that make the calls of a schedule one after the other and wait in some of them.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/sim_parameters.hpp"
#include "shiplap/sim/timers.hpp"

namespace shiplap::sim {

/// Each call advances the clock of its agent by the duration of the call. An op is queued when the call that submits it
/// returns, and an op that moves blocks when this call begins; all ops are queued at time 0 when the run is held
/// (SimulateOptions::held). The ops of a graph are queued when the launch call begins if the graph has no copies, else
/// when the launch call returns.
class HostAgents {
 public:
  HostAgents(const SimParameters&, const OpStates&, Timers&, bool held);

  /// Makes the calls of every agent up to the first one in which it has to wait.
  void start(const Schedule&);
  /// Continues the agents that wait for the end of the op.
  void ended(OpIndex op, double now) {
    if (!awaiting_end_.empty()) wake(awaiting_end_, op, now);
  }
  /// The time when the last call has returned.
  double submission_time() const { return submission_time_; }

 private:
  using AgentIndex = std::uint32_t;
  struct Agent {
    const std::vector<SubmissionStep>* steps = nullptr;
    std::size_t next = 0;
    double clock = 0;
  };
  struct Waiting {
    OpIndex op;
    AgentIndex agent;
  };

  void launch_graph();
  void make_calls(AgentIndex);
  bool make_call(AgentIndex, const SubmissionStep&);
  void submit(Agent&, const SubmissionStep&);
  void note_steps_done(const Agent&);
  void wake(std::vector<Waiting>&, OpIndex op, double now);

  const SimParameters& machine_;
  const OpStates& ops_;
  Timers& timers_;
  bool held_;
  Submission submission_;
  std::vector<Agent> agents_;
  std::vector<double> steps_done_;       // by op: time when all calls for it were made; negative: not yet
  std::vector<Waiting> awaiting_steps_;  // agents that await calls of another agent
  std::vector<Waiting> awaiting_end_;    // agents that wait for the end of an op
  double submission_time_ = 0;
};

}  // namespace shiplap::sim
