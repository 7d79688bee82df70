#include "shiplap/measure/ready_point.hpp"

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"

namespace shiplap {
namespace {

/// The time of a run by the row's clock.
Seconds time_of(const PrimitiveRow& row, const Trial& trial, const RunResult& run) {
  if (row.primitive.clock != "host") return run.timeline.makespan;
  switch (row.host_clock) {
    case HostClock::submission:
      return run.submission;
    case HostClock::completion:
      return run.host_total;
    case HostClock::operation: {
      const Span& span = run.host_spans.at(trial.timed_op.index());
      return span.end - span.start;
    }
  }
  throw Error("not a clock");
}

/// Whether streams are held until all ops are submitted. Device times then contain no submission, and submission times
/// do not depend on the GPU. A schedule whose host waits for ops cannot be held. A run that the host times until it
/// knows the end must not be held.
bool is_held(const PrimitiveRow& row, const Trial& trial) {
  return trial.held && can_be_held(trial.schedule) &&
         (row.primitive.clock != "host" || row.host_clock == HostClock::submission);
}

}  // namespace

ReadyPoint::ReadyPoint(MeasurableDevice& device, const PrimitiveRow& row, const std::vector<Trial>& trials,
                       const RowMemory& memory) {
  const auto prepare = [&](const Schedule& schedule, const Trial& trial) {
    std::vector<std::byte*> buffers = memory.data();
    buffers.resize(schedule.buffers.size());
    std::vector<KernelBinding> kernels;
    if (!schedule.kernels.empty()) kernels = trial.kernels;
    std::vector<std::span<const std::uint32_t>> lists;
    if (!schedule.lists.empty()) lists.assign(trial.lists.begin(), trial.lists.end());
    executions_.push_back(device.prepare(schedule, {.buffers = buffers, .kernels = kernels, .lists = lists}));
    return executions_.back().get();
  };
  for (const Trial& trial : trials) {
    const auto prepare_if = [&](const std::optional<Schedule>& schedule) {
      return schedule ? prepare(*schedule, trial) : nullptr;
    };
    Execution* before = prepare_if(trial.before);
    set_ups_.push_back(prepare_if(trial.set_up));
    read_backs_.push_back(prepare_if(trial.read_back));
    Execution* timed = prepare(trial.schedule, trial);
    probes_.push_back([timed, before, hold = is_held(row, trial), &trial, &row]() -> Reading {
      Seconds cost{0};
      if (before != nullptr) cost = before->run().host_total;
      const RunResult run = timed->run({.hold = hold, .timed = trial.timed});
      cost += run.host_total;
      return {.time = time_of(row, trial, run), .cost = cost};
    });
  }
}

void ReadyPoint::set_up(std::size_t trial) const {
  if (set_ups_[trial] != nullptr) set_ups_[trial]->run();
}

void ReadyPoint::read_back(std::size_t trial) const {
  if (read_backs_[trial] != nullptr) read_backs_[trial]->run();
}

}  // namespace shiplap
