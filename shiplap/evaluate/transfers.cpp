// Evaluation of copies without kernels: predictions of the simulation and LogGP against bursts of equal copies in one
// direction.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/evaluate/predict_again.hpp"
#include "shiplap/model/loggp.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t right_seed = 11;
constexpr std::uint64_t wrong_seed = 12;

// Footprint that exceeds the cache of a GPU, because copies of cached data are faster than copies from memory. A
// simulated GPU has no cache.
constexpr Bytes footprint_beyond_caches = 256_MiB;

std::uint64_t positions_beyond_caches(Bytes total) {
  return std::max<std::uint64_t>(1, footprint_beyond_caches.count / total.count);
}

/// A burst of `total` bytes, from region number `turn` of buffers of `size` bytes.
Schedule burst_schedule(bool to_device, Bytes size, Bytes total, std::uint32_t copies, std::uint64_t turn) {
  Schedule schedule;
  const BufferId host =
      schedule.add_buffer({.name = "host", .place = Place::host(), .memory = MemoryKind::pinned, .size = size});
  const BufferId gpu =
      schedule.add_buffer({.name = "GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = size});
  const StreamId stream = schedule.add_stream(to_device ? "in" : "out");
  for (std::uint32_t c = 0; c < copies; ++c) {
    const Bytes begin = total * c / copies;
    const Bytes length = total * (c + 1) / copies - begin;
    const Region h{host, total * turn + begin, length};
    const Region d{gpu, total * turn + begin, length};
    schedule.add(
        {.what = to_device ? Copy{h, d} : Copy{d, h}, .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = c});
  }
  return schedule;
}

// L+o and g are those of copies of this size, as in the other closed forms.
Seconds loggp_time(const Profile& profile, bool to_device, Bytes total, std::uint32_t copies) {
  const LinkModel& link = profile.link(0);
  const DirectionModel& direction = to_device ? link.h2d : link.d2h;
  const CostAt cost = cost_at(direction, total / copies);
  return loggp::transfer(
      {.latency_overhead = cost.latency_overhead, .per_byte = direction.per_byte.value, .gap = cost.gap}, total,
      copies);
}

}  // namespace

EvaluatedTransfer predicted_transfer(const Profile& profile, bool to_device, Bytes total, std::uint32_t copies) {
  return {.to_device = to_device,
          .total = total,
          .copies = copies,
          .simulation = simulate(burst_schedule(to_device, total, total, copies, 0), profile).timeline.makespan,
          .loggp = loggp_time(profile, to_device, total, copies),
          .samples_ms = {},
          .wrong_bytes = 0};
}

std::vector<EvaluatedTransfer> evaluate_transfers(MeasurableDevice& device, const Profile& profile,
                                                  const std::vector<Bytes>& sizes,
                                                  const std::vector<std::uint32_t>& copies,
                                                  const EvaluateOptions& options) {
  if (profile.find_link(0) == nullptr)
    throw Unsupported(fmt::format("profile {} has no link to copy over", profile.name));
  std::vector<EvaluatedTransfer> result;
  for (const bool to_device : {true, false}) {
    for (const Bytes total : sizes) {
      if (options.progress)
        options.progress(fmt::format("copies alone: {} {} the GPU", to_string(total), to_device ? "to" : "from"), 0, 0);
      // Every run uses the region after that of the previous run.
      const std::uint64_t turns = device.is_virtual() ? 1 : positions_beyond_caches(total);
      const Bytes size = total * turns;
      const Memory host = device.allocate(Place::host(), MemoryKind::pinned, size);
      const Memory gpu = device.allocate(Place::gpu(), MemoryKind::device, size);
      const Memory& from = to_device ? host : gpu;
      const Memory& to = to_device ? gpu : host;
      device.fill(from, right_seed);
      const std::size_t first = result.size();
      std::vector<std::vector<std::unique_ptr<Execution>>> executions;  // executions by number of copies, then by
                                                                        // region
      for (const std::uint32_t count : copies) {
        if (count == 0 || count > total.count) continue;
        auto& of_parts = executions.emplace_back();
        device.fill(to, wrong_seed);
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
          of_parts.push_back(device.prepare(burst_schedule(to_device, size, total, count, turn),
                                            {.buffers = {host.data(), gpu.data()}, .kernels = {}}));
          of_parts.back()->run();
        }
        result.push_back(predicted_transfer(profile, to_device, total, count));
        result.back().wrong_bytes = device.mismatches(to, Bytes{0}, size, right_seed, Bytes{0});
      }
      std::uint64_t run = 0;
      for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t e = 0; e < executions.size(); ++e, ++run)
          result[first + e].samples_ms.push_back(in_milliseconds(executions[e][run % turns]->run().timeline.makespan));
    }
  }
  return result;
}

}  // namespace shiplap
