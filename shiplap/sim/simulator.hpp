// The event engine behind `simulate`: the resources of a machine, the ops that they serve, and one clock.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/sim/gpu_resources.hpp"
#include "shiplap/sim/host_agents.hpp"
#include "shiplap/sim/host_threads.hpp"
#include "shiplap/sim/machine.hpp"
#include "shiplap/sim/op_state.hpp"
#include "shiplap/sim/resource.hpp"
#include "shiplap/sim/timers.hpp"
#include "shiplap/sim/zero_copy_times.hpp"

namespace shiplap::sim {

/// Rules of time:
/// - An op is queued when its agent's call returns, and ready when it is queued and everything it waits for has ended:
///   earlier ops of its stream on other resources, and dependencies; each counts a handover after its end, which
///   depends on what hands over, on whether other copies move then, and on whether the resource that takes over served
///   this stream last.
/// - A copy's data starts at max(ready + L+o, copy engine free + g) and flows at G, or at the duplex G while the
///   opposite copy engine is occupied: moving data, or in the gap between two copies; slower while kernels of several
///   streams wait. A shared copy engine that changes direction pays L+o again instead of g.
/// - A copy engine that takes ops by readiness serves the streams in groups: one until none of its copies is ready.
/// - A zero-copy kernel takes as long as zero_copy_times.hpp says, alone and while copies move beside it, and slows
///   these down.
/// - Copies of a batch are queued together, and what follows one of its own batch does so after a gap of its own. The
///   ops of a graph without copies are queued from the start of the call that launches it, those of a graph with
///   copies when the call returns.
/// - An agent makes its calls one after the other. It waits in the call for a copy of pageable memory until that has
///   ended, and while it copies or touches memory itself; agents that do so at the same time share the host's memory.
/// - Pages of managed memory move when a prefetch says so, or when a kernel or a host thread touches them elsewhere,
///   which takes that long more.
/// - A kernel starts at max(ready + launch latency, end of the kernel before it in its stream + kernel gap), as blocks
///   free up; the gap is longer by the event gap where an event is recorded behind the kernel before.
class Simulator {
 public:
  Simulator(const Schedule&, const Machine&, bool held);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  void run();

  Timeline timeline() const;
  double submission_time() const { return agents_.submission_time(); }

 private:
  void add_gpus(const Schedule&);
  void add_ops(const Schedule&);
  Resource* first_due() const;

  OpIndex reached(const Timer&);
  void release(OpIndex, double time);  // one of the things that the op waits for is there at `time`
  void copy_ready(OpIndex, double now);
  void kernel_ready(OpIndex, double now);
  void kernel_arrives(OpIndex, double now);
  void start_host(OpIndex, double now);
  void ended(OpIndex, double now);
  double handover(const OpState& from, const OpState& to) const;
  double event_gap(const OpState& before) const;

  const Machine& machine_;
  OpStates ops_;
  std::vector<OpIndex> successors_;  // of all ops, each op's from `successors_begin` on
  std::deque<ZeroCopyTimes> zero_copy_;
  std::vector<RateOfThreads> host_copy_rates_;
  std::deque<GpuResources> gpus_;  // a deque: they point to each other and stay where they are
  Timers timers_;
  HostThreads copying_;
  HostThreads touching_;
  HostAgents agents_;
  std::vector<Resource*> resources_;  // of events at the same time, the one of the earlier resource comes first
};

}  // namespace shiplap::sim
