// The event engine behind `simulate`: host agents, in-order queues, copy engines, multiprocessors, one clock.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/sim/compute.hpp"
#include "shiplap/sim/host_threads.hpp"
#include "shiplap/sim/kernel_flow.hpp"
#include "shiplap/sim/machine.hpp"
#include "shiplap/sim/residency.hpp"

namespace shiplap::sim {

/// Rules of time:
/// - An op is queued when its agent's call returns, and ready when it is queued and everything it waits for has ended:
///   earlier ops of its queue on other engines, and dependencies; each counts a handover after its end, which depends
///   on what hands over, on whether other copies move then, and on whether the engine that takes over served this queue
///   last.
/// - A copy's data starts at max(ready + L+o, engine free + g) and flows at G, or at the duplex G while the opposite
///   engine is occupied: moving data, or in the gap between two copies; slower while kernels of several queues wait. A
///   shared engine that changes direction pays L+o again instead of g.
/// - An engine that takes ops by readiness serves the queues in groups: one until none of its copies is ready.
/// - A kernel that accesses host memory takes as long as kernel_flow.hpp says, alone and while copies move beside it,
///   and slows these down.
/// - Copies of a batch are queued together, and what follows one of its own batch does so after a gap of its own. The
///   ops of a graph without copies are queued from the start of the call that launches it, those of a graph with
///   copies when the call returns.
/// - An agent makes its calls one after the other. It waits in the call for a copy of pageable memory until that has
///   ended, and while it copies or touches memory itself; agents that do so at the same time share the host's memory.
/// - Pages of managed memory move when a prefetch says so, or when a kernel or a host thread touches them elsewhere,
///   which takes that long more.
/// - A kernel starts at max(ready + launch latency, end of the kernel before it in its queue + kernel gap), as blocks
///   free up; the gap is longer by the event gap where an event is recorded behind the kernel before.
class Simulator {
 public:
  Simulator(const Schedule&, const Machine&, bool held);
  void run();

  Timeline timeline() &&;
  double submission_time() const { return submission_; }

 private:
  struct Node {
    // What the op is.
    bool is_copy = false;  // by a copy engine; a prefetch is one too
    bool is_host = false;  // performed by its agent
    bool batched = false;
    bool blocks_agent = false;
    bool holds_call = false;  // its time holds that of the call that submits it
    bool to_device = false;
    bool moves_pages = false;  // a prefetch
    bool recorded = false;     // an event is recorded behind it
    std::uint32_t engine = 0;  // index into engines_, and behind them computes_
    std::uint32_t queue = 0;
    CopyFigures copy;
    double batched_gap = 0;
    double bytes = 0;
    Compute::Kernel kernel;
    std::uint64_t further_launches = 0;  // of a kernel that is submitted in several
    double latency = 0;
    double host_time = 0;       // of what an agent performs without sharing anything
    bool touches = false;       // by an agent, of `bytes` of managed memory that are on a GPU
    std::uint32_t flow = none;  // index into kernel_flows_, of a kernel that accesses host memory
    // What it waits for.
    std::uint32_t pending = 1;          // the submission itself, dependencies, the queue's earlier op on another engine
    std::uint32_t queue_before = none;  // the op before it in its queue when both use the same engine
    double ready = 0;
    double start = -1;
    double end = -1;
    std::uint32_t kernel_number =
        0;  // its position among the GPU's kernels; for a copy, the kernels submitted before it
    std::uint32_t successors_begin = 0;
  };
  struct CopyEngine {
    Engine name = Engine::copy_h2d;
    std::uint32_t gpu = 0;
    std::uint32_t opposite = none;                   // the engine of the other direction, when there are two
    std::vector<std::deque<std::uint32_t>> waiting;  // by group of queues
    std::uint32_t group = 0;                         // served at present
    std::uint32_t current = none;
    bool flowing = false;
    bool occupied = false;
    double free_at = -1;  // end of the last copy; < 0: never used
    bool last_to_device = false;
    std::uint32_t last_queue = none;
    std::uint32_t last = none;  // op
    double next = 0;            // start (not flowing) or end (flowing) of the current copy
    double remaining = 0;       // bytes
    double updated = 0;
  };
  // Kernels of one GPU that access host memory take turns: together they would not move more.
  struct FlowEngine {
    std::deque<std::uint32_t> waiting;
    std::uint32_t current = none;
    std::uint32_t felt = none;  // the flow that copies feel: the current one's, or the last one's in the gap behind it
    double next = 0;            // end of the current kernel
    double remaining = 0;       // share of it
    double updated = 0;
  };
  // Implicit synchronisation of one GPU: which kernels, in order of submission, let copies behind them go.
  struct ImplicitBarrier {
    std::vector<bool> passed;
    std::size_t passed_up_to = 0;
  };
  /// Makes the calls of `steps` one after the other.
  struct Caller {
    const std::vector<Step>* steps = nullptr;
    std::size_t next = 0;
    double clock = 0;
  };
  /// What the figures of a copy over the link depend on.
  struct CopyKey {
    Bytes size;
    std::uint16_t numa_node = 0;
    std::uint16_t gpu = 0;
    bool to_device = false;
    bool pageable = false;
    bool written = false;
    friend bool operator==(const CopyKey&, const CopyKey&) = default;
  };
  struct WaitingCaller {
    std::uint32_t op;
    std::uint32_t agent;
  };
  enum class EventKind : std::uint8_t { queued, ready, kernel_arrives, host_starts, host_ends };
  struct Event {
    double time = 0;
    std::uint32_t op = 0;
    EventKind kind = EventKind::queued;
    friend bool operator>(const Event& a, const Event& b) {
      if (a.time != b.time) return a.time > b.time;
      if (a.op != b.op) return a.op > b.op;
      return a.kind > b.kind;
    }
  };
  static constexpr std::uint32_t none = ~0u;

  void build(const Schedule&);
  void build_copy(const Schedule&, OpId, const Copy&, Node&);
  void build_prefetch(const Schedule&, const Op&, const Prefetch&, Node&);
  void require_one_gpu_for_managed() const;
  void build_kernel(const Schedule&, OpId, const Kernel&, Node&);
  void build_host(const Schedule&, const Op&, Node&);
  void advance(std::uint32_t agent);
  void note_steps_done(Caller&);
  void launch_graph();
  void submit(Caller&, const Step&);
  void wake(std::vector<WaitingCaller>& waiting, std::uint32_t op, double now);
  void start_host(std::uint32_t op, double now);
  double host_copy_rate(std::size_t threads) const;
  std::uint32_t engine_of(std::uint32_t gpu, bool to_device) const;
  std::uint32_t gpu_of_op(const Node&) const;
  double handover(const Node& from, const Node& to) const;
  double event_gap(const Node& before) const;
  bool is_occupied(std::uint32_t engine) const;
  bool copies_move(std::uint32_t gpu) const;
  const HandoverFigures& figures_of(std::uint32_t gpu, HandoverKind) const;

  void release(std::uint32_t op, double time);  // one of the things that `op` waits for is there at `time`
  void enqueue(std::uint32_t op, double now);
  void arrive_when_possible(std::uint32_t op, double now);
  void finished(std::uint32_t op, double now);
  void dispatch_kernels(std::uint32_t gpu, double now);

  static void wait_for(CopyEngine&, const Node&, std::uint32_t op);
  static bool find_waiting(CopyEngine&);
  bool may_start(const CopyEngine&, std::uint32_t op) const;
  void pass_barrier(std::uint32_t kernel, double now);
  void claim(std::uint32_t engine, double now);
  void start_flow(std::uint32_t engine, double now);
  void end_flow(std::uint32_t engine, double now);
  void start_kernel_flow(std::uint32_t gpu, double now);
  void end_kernel_flow(std::uint32_t gpu, double now);
  void update_kernel_flow(std::uint32_t gpu, double now);
  void settle(std::uint32_t gpu, double now);
  void set_waiting(std::uint32_t kernel, bool waits, double now);
  bool slowed_by_waiting_queues(std::uint32_t gpu) const;
  void set_occupied(std::uint32_t engine, bool occupied, double now);
  void update_flow(std::uint32_t engine, double now);

  const Machine& machine_;
  bool held_;
  std::vector<bool> pinned_by_op_;     // by buffer: an op of the schedule page-locks it
  std::vector<bool> written_by_host_;  // by buffer: host threads of the schedule copy to it
  Submission program_;
  std::vector<Caller> callers_;           // by agent
  std::vector<double> steps_done_;        // by op: when its agent had made all its calls; < 0: not yet
  std::vector<WaitingCaller> for_steps_;  // agents that await those of another one
  std::vector<WaitingCaller> for_end_;    // agents that wait for the end of an op
  std::vector<RateOfThreads> host_copy_rates_;
  HostThreads copying_;
  HostThreads touching_;
  Residency residency_;
  CopyKey last_copy_;
  CopyFigures last_figures_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> queue_after_;  // the next op of the same queue on the same engine
  std::vector<CopyEngine> engines_;
  std::vector<Compute> computes_;
  std::vector<KernelFlowTimes> kernel_flows_;
  std::vector<FlowEngine> flow_engines_;          // by GPU
  std::vector<std::uint32_t> last_kernel_queue_;  // by GPU
  std::vector<std::uint32_t> waiting_kernels_;    // by queue: submitted and not yet ready
  std::vector<std::uint32_t> waiting_queues_;     // by GPU: with at least one of them
  std::vector<ImplicitBarrier> barriers_;         // by GPU
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Compute::Started> first_started_;  // scratch
  std::vector<Compute::Started> all_started_;    // scratch
  double submission_ = 0;
};

}  // namespace shiplap::sim
