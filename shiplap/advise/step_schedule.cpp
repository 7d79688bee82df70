#include "shiplap/advise/step_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

constexpr std::size_t most_simulated_steps = 8;
constexpr std::size_t fewest_simulated_steps = 3;
constexpr std::size_t simulated_ops = 100'000;  // a step with many ops is simulated less often

/// Number of steps that are simulated; the times of the second half count.
std::size_t simulated_steps(const ProgramStep& step) {
  if (step.once) return 1;
  return std::clamp(simulated_ops / std::max<std::size_t>(1, step.ops.size()), fewest_simulated_steps,
                    most_simulated_steps);
}

/// Adds the ops of steps to a schedule.
class StepScheduler {
 public:
  StepScheduler(const ProgramStep& step, const Profile& profile) : step_(step), profile_(profile) {
    schedule_.agents.clear();
    for (const StepOp& op : step.ops) {
      if (op.handed_over_by) hands_over_.insert(op.handed_over_by->op);
      add_agent(op.thread);
      if (op.kind != StepOp::Kind::wait) add_stream(op);
      if (op.kind == StepOp::Kind::kernel && !kernels_.contains(op.name))
        kernels_.emplace(op.name, schedule_.add_kernel(op.name));
      const MemoryKind memory = op.kind == StepOp::Kind::copy ? op.host_memory : MemoryKind::mapped;
      const Bytes size = op.kind == StepOp::Kind::copy ? op.size : std::max(op.reads_host, op.writes_host);
      if (op.kind == StepOp::Kind::copy || size.count > 0) {
        Bytes& largest = largest_[{op.gpu, memory}];
        largest = std::max(largest, size);
      }
    }
    if (schedule_.agents.empty()) schedule_.agents.push_back({"main"});
    for (const auto& [where, size] : largest_) add_buffers(where.first, where.second, size);
  }

  void add_step() {
    const std::vector<OpId> none(step_.ops.size());
    steps_.push_back(none);
    returned_.push_back(none);
    for (std::size_t i = 0; i < step_.ops.size(); ++i) add(i);
    ++number_;
  }
  Schedule take() {
    if (step_.once) end_single();
    return std::move(schedule_);
  }

 private:
  using Where = std::pair<std::uint32_t, MemoryKind>;  // GPU and kind of host memory

  void add_agent(std::uint32_t thread) {
    if (agents_.contains(thread)) return;
    agents_.emplace(thread, AgentId{static_cast<std::uint32_t>(schedule_.agents.size())});
    schedule_.agents.push_back({fmt::format("thread {}", thread)});
  }
  void add_stream(const StepOp& op) {
    const std::pair key{op.gpu, op.stream};
    if (streams_.contains(key)) return;
    const std::string name = op.stream == 0 ? "default stream" : fmt::format("stream {}", op.stream);
    streams_.emplace(key, schedule_.add_stream(name, place(op)));
  }
  /// Adds the host time after the last calls, which no step follows.
  void end_single() {
    if (!step_.ops.empty()) owed_[step_.ops.front().thread] += step_.host_after;
    --number_;
    for (const auto& [thread, time] : owed_) work(agents_.at(thread), time);
    ++number_;
  }
  static Place place(const StepOp& op) { return Place::gpu(static_cast<std::uint16_t>(op.gpu)); }

  void add_buffers(std::uint32_t gpu, MemoryKind memory, Bytes size) {
    host_[{gpu, memory}] =
        schedule_.add_buffer({.name = to_string(memory), .place = Place::host(), .memory = memory, .size = size});
    if (memory == MemoryKind::mapped) return;  // kernels access it where it is
    device_[{gpu, memory}] = schedule_.add_buffer({.name = "device",
                                                   .place = Place::gpu(static_cast<std::uint16_t>(gpu)),
                                                   .memory = MemoryKind::device,
                                                   .size = size});
  }

  OpId put(Op op) {
    op.chunk = number_;
    return schedule_.add(std::move(op));
  }
  void work(AgentId agent, Seconds time, std::vector<OpId> after = {}) {
    if (time <= Seconds{0} && after.empty()) return;
    put({.what = HostCall{.kind = HostCall::Kind::wait, .region = {}, .work = std::max(Seconds{0}, time)},
         .stream = {},
         .agent = agent,
         .after = std::move(after)});
  }

  /// The op of `ids`, which are by step, or none.
  static OpId op_in(const std::vector<std::vector<OpId>>& ids, const EarlierOp& earlier) {
    return earlier.steps < ids.size() ? ids[ids.size() - 1 - earlier.steps][earlier.op] : OpId{};
  }
  std::vector<OpId> ops_of(const std::vector<EarlierOp>& earlier) const {
    std::vector<OpId> ops;
    for (const EarlierOp& one : earlier)
      if (const OpId op = op_in(steps_, one); !op.is_none()) ops.push_back(op);
    std::ranges::sort(ops);
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return ops;
  }

  void add(std::size_t index) {
    const StepOp& op = step_.ops[index];
    const AgentId agent = agents_.at(op.thread);
    Seconds& owed = owed_[op.thread];  // host time that is spent before the thread's next op
    if (op.handed_over_by) {
      work(agent, std::exchange(owed, Seconds{0}));
      if (const OpId by = op_in(returned_, *op.handed_over_by); !by.is_none()) work(agent, Seconds{0}, {by});
    }
    add_call(op, index, agent, owed);
    if (hands_over_.contains(index))
      returned_.back()[index] =
          put({.what = HostCall{.kind = HostCall::Kind::wait, .region = {}, .work = std::max(Seconds{0}, owed)},
               .stream = {},
               .agent = agent,
               .after = {}});
    if (hands_over_.contains(index)) owed = Seconds{0};
  }

  void add_call(const StepOp& op, std::size_t index, AgentId agent, Seconds& owed) {
    if (op.kind == StepOp::Kind::wait) {
      work(agent, owed + op.host_before);
      work(agent, Seconds{0}, ops_of(op.after));
      owed = op.returning;
      return;
    }
    work(agent, std::exchange(owed, Seconds{0}) + op.host_before);
    const StreamId stream = streams_.at({op.gpu, op.stream});
    const bool copies = op.kind == StepOp::Kind::copy;
    const OpId id = put({.what = {}, .stream = stream, .agent = agent, .after = ops_of(op.after)});
    steps_.back()[index] = id;
    if (copies) {
      schedule_.ops[id.index()].what = copy_of(op);
    } else {
      schedule_.ops[id.index()].what = kernel_of(op);
    }
    if (copies && op.host_memory == MemoryKind::pageable) return;
    const Parameter<Seconds>& expected = copies ? profile_.submission.copy : profile_.submission.launch;
    if (copies && op.blocks) work(agent, Seconds{0}, {id});
    owed = op.returning + (op.call > Seconds{0} && expected ? op.call - expected->value : op.call);
  }

  Copy copy_of(const StepOp& op) const {
    const Region host{host_.at({op.gpu, op.host_memory}), Bytes{0}, op.size};
    const Region device{device_.at({op.gpu, op.host_memory}), Bytes{0}, op.size};
    return op.to_device ? Copy{.from = host, .to = device, .measured = op.time}
                        : Copy{.from = device, .to = host, .measured = op.time};
  }
  Kernel kernel_of(const StepOp& op) const {
    const GpuModel& gpu = profile_.gpus.at(std::min<std::size_t>(op.gpu, profile_.gpus.size() - 1));
    const double threads = std::max<std::uint32_t>(1, op.threads);
    const std::uint64_t resident =
        gpu.resident_threads ? static_cast<std::uint64_t>(std::max(1.0, gpu.resident_threads->value / threads)) : 1;
    return {.kernel = kernels_.at(op.name),
            .items = 1,
            .work = op.time,
            .blocks = op.grid,
            .resident_blocks = resident,
            .full_rate_blocks = resident,
            .operands = {},
            .flows = flows_of(op, gpu)};
  }

  /// The bytes that a kernel moves over the link. Each thread has one access of 4 bytes in flight.
  std::vector<Flow> flows_of(const StepOp& op, const GpuModel& gpu) const {
    constexpr double bytes_of_an_access = 4;
    const double launched = static_cast<double>(op.grid) * op.threads;
    const double resident = gpu.resident_threads ? std::min(launched, gpu.resident_threads->value) : launched;
    const Bytes in_flight{static_cast<std::uint64_t>(resident * bytes_of_an_access)};
    std::vector<Flow> flows;
    const auto add = [&](Bytes bytes, AccessMode mode) {
      if (bytes.count == 0) return;
      const BufferId buffer = host_.at({op.gpu, MemoryKind::mapped});
      flows.push_back({.buffer = buffer, .mode = mode, .bytes = bytes, .in_flight = in_flight});
    };
    add(op.reads_host, AccessMode::read);
    add(op.writes_host, AccessMode::write);
    return flows;
  }

  const ProgramStep& step_;
  const Profile& profile_;
  Schedule schedule_;
  std::uint32_t number_ = 0;
  std::map<std::uint32_t, AgentId> agents_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, StreamId> streams_;
  std::map<std::string, KernelId> kernels_;
  std::map<Where, Bytes> largest_;
  std::map<Where, BufferId> host_;
  std::map<Where, BufferId> device_;
  std::map<std::uint32_t, Seconds> owed_;
  std::vector<std::vector<OpId>> steps_;     ///< ids by step and index of the op; none for waits
  std::vector<std::vector<OpId>> returned_;  ///< where calls that another thread waits for have returned
  std::set<std::size_t> hands_over_;         ///< indices of the ops whose calls another thread waits for
};

/// When the last op of a step ends.
Seconds end_of_step(const Schedule& schedule, const Timeline& timeline, std::uint32_t step) {
  Seconds end{0};
  for (std::size_t i = 0; i < schedule.ops.size(); ++i)
    if (schedule.ops[i].chunk == step) end = std::max(end, timeline.spans[i].end);
  return end;
}

}  // namespace

Schedule schedule_of(const ProgramStep& step, std::size_t repeats, const Profile& profile) {
  StepScheduler scheduler(step, profile);
  for (std::size_t i = 0; i < repeats; ++i) scheduler.add_step();
  return scheduler.take();
}

SimulatedStep simulated_step(const ProgramStep& step, const Profile& profile) {
  const auto steps = static_cast<std::uint32_t>(simulated_steps(step));
  const std::uint32_t until_steady = steps / 2;
  SimulatedStep result;
  result.schedule = schedule_of(step, steps, profile);
  Prediction prediction = simulate(result.schedule, profile);
  result.timeline = std::move(prediction.timeline);
  result.assumptions = std::move(prediction.assumptions);
  const Seconds early =
      until_steady == 0 ? Seconds{0} : end_of_step(result.schedule, result.timeline, until_steady - 1);
  const Seconds last = end_of_step(result.schedule, result.timeline, steps - 1);
  result.time = (last - early) / static_cast<double>(steps - until_steady);
  return result;
}

}  // namespace shiplap
