// The discrete-event simulator behind `simulate`: the resources of a machine and the ops that they serve.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/sim/gpu_resources.hpp"
#include "shiplap/sim/host_agents.hpp"
#include "shiplap/sim/host_threads.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/resource.hpp"
#include "shiplap/sim/shared_paths.hpp"
#include "shiplap/sim/sim_parameters.hpp"
#include "shiplap/sim/timers.hpp"
#include "shiplap/sim/zero_copy_times.hpp"

namespace shiplap::sim {

/// The simulator follows these rules.
/// - An op is queued when the call that submits it returns. It is ready when it is queued, its dependencies have ended,
///   and earlier ops of its stream on other resources have ended. A handover time passes after each of these ends. The
///   handover depends on the kinds of the two ops, on whether other copies move, and on whether the waiting op's
///   resource served the same stream last.
/// - The data of a copy starts at max(ready + L+o, end of the engine's previous copy + g) and moves at G. While the
///   opposite copy engine is occupied (it moves data or is in the gap between two copies), the duplex g and G hold.
///   Both are larger while kernels of several streams wait. Copies of several GPUs share what the profile says
///   (SharedRates), with max-min fair rates. A shared copy engine that changes direction takes L+o
///   instead of g.
/// - A copy engine that takes copies in order of readiness serves streams in groups. It serves one group until none of
///   its copies is ready.
/// - A zero-copy kernel takes the times of zero_copy_times.hpp, alone or concurrent with copies. It slows these copies
///   down.
/// - Copies of a batch are queued together. The gap between two copies of a batch is `batched_gap`. The ops of a graph
///   are queued when the launch call begins if the graph has no copies, else when the launch call returns.
/// - An agent makes its calls one after the other. It waits in the call that submits a copy of pageable memory until
///   the copy has ended. Agents that copy or touch memory at the same time share the bandwidth of the host's memory.
/// - Pages of managed memory move in a prefetch, or when a kernel or a host thread touches them while they are
///   elsewhere. The time of that kernel or thread is longer by the time of the move.
/// - A kernel arrives at max(ready + launch latency, end of the previous kernel in its stream + kernel gap). Its blocks
///   start as SMs have space.
class Simulator {
 public:
  Simulator(const Schedule&, const SimParameters&, bool held);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  void run();

  Timeline timeline() const;
  double submission_time() const { return agents_.submission_time(); }

 private:
  void add_gpus(const Schedule&);
  void add_ops(const Schedule&);
  Resource* first_due() const;

  OpIndex on_timer(const Timer&);
  void requirement_met(OpIndex, double time);
  void copy_ready(OpIndex, double now);
  void kernel_ready(OpIndex, double now);
  void kernel_arrives(OpIndex, double now);
  void start_host(OpIndex, double now);
  void ended(OpIndex, double now);
  double handover(const OpState& from, const OpState& to) const;

  const SimParameters& machine_;
  OpStates ops_;
  bool waits_for_later_ = false;     // whether an op waits for a later one, as in no valid schedule
  std::vector<OpIndex> successors_;  // the successors of op i begin at ops_[i].successors_begin
  std::deque<ZeroCopyTimes> zero_copy_;
  std::vector<RateOfThreads> host_copy_rates_;
  std::deque<GpuResources> gpus_;  // a deque, because its elements hold references to each other and must not move
  std::optional<SharedPaths> shared_;
  Timers timers_;
  HostThreads host_copies_;
  HostThreads host_touches_;
  HostAgents agents_;
  std::vector<Resource*>
      resources_;  // at equal times the event of the resource that comes first here is performed first
};

}  // namespace shiplap::sim
