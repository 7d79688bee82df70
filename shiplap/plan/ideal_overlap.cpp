#include "shiplap/plan/ideal_overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "shiplap/plan/duplex_schedule.hpp"
#include "shiplap/plan/kernel_times.hpp"
#include "shiplap/profile/variation.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/strategy/relayed.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {

Schedule duplex_schedule(const Job& job, Bytes device_memory, std::uint32_t gpus, const Relay& relay) {
  Schedule schedule;
  std::size_t copies = 0;
  for (const Array& a : job.arrays) {
    schedule.add_buffer({.name = a.name, .place = place_of(a), .memory = a.memory, .size = size_on_host(a)});
    copies += (is_copied_in(a) ? 1 : 0) + (is_copied_out(a) ? 1 : 0);
  }
  schedule.agents.clear();
  std::vector<StreamId> in;
  std::vector<StreamId> out;
  for (std::uint16_t gpu = 0; gpu < gpus; ++gpu) {
    const std::string name = gpus == 1 ? "" : fmt::format(" of GPU {}", gpu);
    in.push_back(schedule.add_stream("in" + name, Place::gpu(gpu)));
    out.push_back(schedule.add_stream("out" + name, Place::gpu(gpu)));
    schedule.agents.push_back({.name = gpus == 1 ? "main" : fmt::format("for GPU {}", gpu), .numa_node = {}});
  }
  const auto copy = [&](std::size_t index, bool to_device, std::uint16_t gpu) {
    const Array& array = job.arrays[index];
    const Bytes begin = array.size * gpu / gpus;
    const Bytes end = array.size * (gpu + 1u) / gpus;
    const Bytes piece = std::min(end - begin, device_memory / copies);
    if (piece.count == 0) return;
    const BufferId device = schedule.add_buffer({.name = array.name + (to_device ? " in" : " out"),
                                                 .place = Place::gpu(gpu),
                                                 .memory = MemoryKind::device,
                                                 .size = piece});
    // An inout array is copied H2D and D2H at the same time, so each direction has its own buffer on the GPU.
    const BufferId host =
        array.role == Role::inout && !to_device
            ? schedule.add_buffer(
                  {.name = array.name + " back", .place = Place::host(), .memory = array.memory, .size = array.size})
            : BufferId{static_cast<std::uint32_t>(index)};
    for (Bytes offset = begin; offset < end; offset += piece) {
      const Bytes length = std::min(piece, end - offset);
      const Region h{host, offset, length};
      const Region d{device, Bytes{0}, length};
      schedule.add({.what = to_device ? Copy{h, d} : Copy{d, h},
                    .stream = to_device ? in[gpu] : out[gpu],
                    .agent = AgentId{gpu},
                    .after = {},
                    .chunk = 0});
    }
  };
  for (std::uint16_t gpu = 0; gpu < gpus; ++gpu)
    for (std::size_t a = 0; a < job.arrays.size(); ++a) {
      if (is_copied_in(job.arrays[a])) copy(a, true, gpu);
      if (is_copied_out(job.arrays[a])) copy(a, false, gpu);
    }
  return relayed(std::move(schedule), relay);
}

namespace {

/// Copies of arrays that fill the GPU's memory more often than this are simulated for a part of each array. Their time
/// is proportional to the part, because almost all of the copies are of the largest size.
constexpr std::uint64_t most_fillings = 1024;

}  // namespace

IdealOverlap ideal_overlap(const Job& job, const Profile& profile, std::uint32_t gpus, std::span<const Relay> relays) {
  IdealOverlap result;
  // Ideal overlap is that of contiguous pinned arrays, whatever the job's arrays are.
  Job pinned = with_contiguous_arrays(job);
  for (Array& array : pinned.arrays)
    if (!is_on_gpu(array)) array.memory = MemoryKind::pinned;
  const Bytes memory = limits_of(profile).device_memory;
  const std::uint64_t shrunk = 1 + (bytes_in(pinned).count / most_fillings + bytes_out(pinned).count / most_fillings) /
                                       std::max<std::uint64_t>(1, memory.count);
  for (Array& array : pinned.arrays) array.size = std::max(array.size / shrunk, std::min(array.size, 1_B));
  Schedule copies = duplex_schedule(pinned, memory, gpus);
  const auto time_of_copies = [&](const Schedule& schedule, const Profile& p) {
    return schedule.ops.empty() ? Seconds{0}
                                : simulate(schedule, p, {.held = true}).timeline.makespan * static_cast<double>(shrunk);
  };
  for (const Relay& relay : relays)
    if (Schedule divided = duplex_schedule(pinned, memory, gpus, relay);
        time_of_copies(divided, profile) < time_of_copies(copies, profile))
      copies = std::move(divided);
  const Parameter<Seconds>& latency = profile.gpus.front().launch_latency;
  const auto at = [&](const Profile& p, const Job& j) {
    const Seconds copied = time_of_copies(copies, p);
    const Seconds kernel = j.cost.launch_time((j.items + gpus - 1) / gpus) + (latency ? latency->value : Seconds{0});
    return std::pair{copied, kernel};
  };
  std::tie(result.copies, result.kernel) = at(profile, job);
  const auto time = [](std::pair<Seconds, Seconds> p) { return std::max(p.first, p.second); };
  result.time.value = std::max(result.copies, result.kernel);
  result.time.low = time(at(at_interval_end(profile, ParameterGroup::rates, End::low), at_interval_end(job, End::low)));
  result.time.high =
      time(at(at_interval_end(profile, ParameterGroup::rates, End::high), at_interval_end(job, End::high)));
  return result;
}

}  // namespace shiplap
