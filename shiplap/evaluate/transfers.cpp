// Copies alone: the engine and LogGP against bursts of equal copies in one direction.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/model/loggp.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t right_seed = 11;
constexpr std::uint64_t poison_seed = 12;

Schedule burst(bool to_device, Bytes total, std::uint32_t copies) {
  Schedule schedule;
  const BufferId host =
      schedule.add_buffer({.name = "host", .place = Place::host(), .memory = MemoryKind::pinned, .size = total});
  const BufferId gpu =
      schedule.add_buffer({.name = "GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = total});
  const QueueId queue = schedule.add_queue(to_device ? "in" : "out");
  for (std::uint32_t c = 0; c < copies; ++c) {
    const Bytes begin = total * c / copies;
    const Bytes length = total * (c + 1) / copies - begin;
    const Region h{host, begin, length};
    const Region d{gpu, begin, length};
    schedule.add(
        {.what = to_device ? Copy{h, d} : Copy{d, h}, .queue = queue, .agent = AgentId{0}, .after = {}, .chunk = c});
  }
  return schedule;
}

// As for the other closed forms, L+o and g are those of copies of that size.
Seconds loggp_time(const Profile& profile, bool to_device, Bytes total, std::uint32_t copies) {
  const DirectionModel& direction = to_device ? profile.links.front().h2d : profile.links.front().d2h;
  const CostAt cost = cost_at(direction, total / copies);
  return loggp::transfer(
      {.latency_overhead = cost.latency_overhead, .per_byte = direction.per_byte.value, .gap = cost.gap}, total,
      copies);
}

}  // namespace

std::vector<EvaluatedTransfer> evaluate_transfers(Device& device, const Profile& profile,
                                                  const std::vector<Bytes>& sizes,
                                                  const std::vector<std::uint32_t>& copies,
                                                  const EvaluateOptions& options) {
  if (profile.links.empty()) throw Unsupported(fmt::format("profile {} has no link to copy over", profile.name));
  std::vector<EvaluatedTransfer> result;
  for (const bool to_device : {true, false}) {
    for (const Bytes total : sizes) {
      if (options.progress)
        options.progress(fmt::format("copies alone: {} {} the GPU", to_string(total), to_device ? "to" : "from"), 0, 0);
      const Memory host = device.allocate(Place::host(), MemoryKind::pinned, total);
      const Memory gpu = device.allocate(Place::gpu(), MemoryKind::device, total);
      const Memory& from = to_device ? host : gpu;
      const Memory& to = to_device ? gpu : host;
      device.fill(from, right_seed);
      const std::size_t first = result.size();
      std::vector<std::unique_ptr<Execution>> executions;
      for (const std::uint32_t count : copies) {
        if (count == 0 || count > total.count) continue;
        const Schedule schedule = burst(to_device, total, count);
        EvaluatedTransfer transfer{.to_device = to_device,
                                   .total = total,
                                   .copies = count,
                                   .engine = simulate(schedule, profile).timeline.makespan,
                                   .loggp = loggp_time(profile, to_device, total, count),
                                   .samples_ms = {}};
        executions.push_back(device.prepare(schedule, {.buffers = {host.data(), gpu.data()}, .kernels = {}}));
        device.fill(to, poison_seed);
        executions.back()->run();
        transfer.wrong_bytes = device.mismatches(to, Bytes{0}, total, right_seed, Bytes{0});
        result.push_back(std::move(transfer));
      }
      for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t e = 0; e < executions.size(); ++e)
          result[first + e].samples_ms.push_back(in_milliseconds(executions[e]->run().timeline.makespan));
    }
  }
  return result;
}

}  // namespace shiplap
