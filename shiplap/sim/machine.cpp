#include "shiplap/sim/machine.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"

namespace shiplap::sim {

Machine::Machine(const Profile& profile) : profile_(&profile) {
  const auto known = [&](const Parameter<Seconds>& parameter, std::string_view name) {
    if (parameter) return parameter->value.count();
    assumptions.push_back(fmt::format("{} is not in profile {} and is taken as 0", name, profile.name));
    return 0.0;
  };
  submit_copy = known(profile.submission.copy, "host time to submit a copy");
  submit_launch = known(profile.submission.launch, "host time to submit a launch");
  record = known(profile.submission.event_record, "host time to record an event");
  wait = known(profile.submission.event_wait, "host time to submit a wait");
  for (const GpuModel& gpu : profile.gpus) {
    gpus_.push_back({.copy_engines = gpu.copy_engines,
                     .order = gpu.engine_order,
                     .implicit_sync = gpu.implicit_sync,
                     .concurrent_kernels = gpu.concurrent_kernels,
                     .launch_latency = known(gpu.launch_latency, "launch latency"),
                     .kernel_gap = known(gpu.kernel_gap, "gap between kernels"),
                     .memory_latency = gpu.memory_latency ? gpu.memory_latency->value.count() : 0.0,
                     .handovers = {}});
    if (!gpu.handovers) {
      assumptions.push_back(fmt::format(
          "time between an op and one that waits for it is not in profile {} and is taken as 0", profile.name));
      continue;
    }
    for (std::size_t i = 0; i < handover_names.size(); ++i) {
      const Handover& handover = (*gpu.handovers).*handover_names[i].member;
      gpus_.back().handovers[i] = {handover.idle.value.count(), handover.busy.value.count()};
    }
  }
  for (const LinkModel& link : profile.links) {
    if (link.zero_copy && link.gpu < profile.gpus.size() && !profile.gpus[link.gpu].memory_latency)
      assumptions.push_back(fmt::format(
          "latency of device memory is not in profile {} and is taken as 0 for kernels that access host memory",
          profile.name));
    if (!link.waiting_queues)
      assumptions.push_back(fmt::format(
          "how far waiting queues slow copies down is not in profile {} and is taken as not at all", profile.name));
    if (profile.gpus.size() <= link.gpu || profile.gpus[link.gpu].copy_engines < 2) continue;
    for (const auto* direction : {&link.h2d, &link.d2h})
      if (!direction->duplex)
        assumptions.push_back(fmt::format(
            "rate of {} copies while the other direction is busy is not in profile {}; taken as the one-way rate",
            direction == &link.h2d ? "host-to-device" : "device-to-host", profile.name));
  }
}

const ZeroCopyModel& Machine::zero_copy(std::uint16_t gpu, std::uint16_t numa_node) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  if (!link.zero_copy)
    throw Unsupported(fmt::format(
        "profile {} has no figures for kernels that access host memory: measure it (shiplap measure)", profile_->name));
  return *link.zero_copy;
}

CopyFigures Machine::copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  const DirectionModel& direction = to_device ? link.h2d : link.d2h;
  const CostAt cost = cost_at(direction, size);
  const double per_byte = direction.per_byte.value.seconds;
  const WaitingQueues waiting = link.waiting_queues.value_or(WaitingQueues{});
  const Slowdown& alone = to_device ? waiting.h2d : waiting.d2h;
  return {.latency = cost.latency_overhead.count(),
          .gap = cost.gap.count(),
          .duplex_gap = duplex_gap_at(direction, size).count(),
          .per_byte = per_byte,
          .duplex_per_byte = direction.duplex ? direction.duplex->per_byte.value.seconds : per_byte,
          .waiting_gap = alone.gap.value.count(),
          .duplex_waiting_gap = waiting.duplex.gap.value.count(),
          .waiting_per_byte = alone.per_byte.value.seconds,
          .duplex_waiting_per_byte = waiting.duplex.per_byte.value.seconds};
}

const Gpu& Machine::gpu(std::uint16_t number) const {
  if (number >= gpus_.size())
    throw Unsupported(
        fmt::format("profile {} knows {} GPU(s); the schedule uses GPU {}", profile_->name, gpus_.size(), number));
  return gpus_[number];
}

}  // namespace shiplap::sim
