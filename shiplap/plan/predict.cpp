// Predicted time of one choice, its interval and where the time above the bound goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/plan/variation.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

Seconds makespan(const Schedule& schedule, const Profile& profile, bool held = false) {
  return simulate(schedule, profile, {.held = held}).timeline.makespan;
}

// The schedule of the same choice with all kernel times moved to one end of their interval.
Job with_cost(const Job& job, bool high) {
  Job moved = job;
  for (auto& point : moved.cost.points) point.work.value = high ? point.work.high : point.work.low;
  for (auto& limited : moved.cost.limited) limited.work.value = high ? limited.work.high : limited.work.low;
  for (auto& row : moved.cost.zero_copy)
    for (auto* points : {&row.alone, &row.beside})
      for (auto& point : *points) point.work.value = high ? point.work.high : point.work.low;
  return moved;
}

// Errors of the simulator itself, set on random jobs on an H200 (docs/explanation/accuracy.md): an absolute time for
// every prediction, and relative errors for streams that chunks share and for zero-copy kernels that were not measured.
constexpr Seconds unexplained = microseconds(5);
constexpr double other_streams = 0.12;
constexpr double unmeasured_zero_copy = 0.3;

double relative_error(const Job& job, const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  if (strategy.zero_copy && job.cost.zero_copy.empty()) return unmeasured_zero_copy;
  const bool one_each = choice.layout == Layout::three || choice.chunks == 1 || !strategy.chunked;
  const bool copies_only = !strategy.zero_copy && strategy.memory == ArrayMemory::pinned;
  return copies_only && !one_each ? std::max(strategy.model_error, other_streams) : strategy.model_error;
}

// Prediction interval by sensitivities: each independent group of parameters is moved to the ends of its intervals
// while all others stay. The changes and the error of the model itself are added in quadrature.
Interval<Seconds> interval(const Job& job, const Profile& profile, const Choice& choice, const Limits& limits,
                           const Schedule& schedule, Seconds value) {
  double up = 0;
  double down = 0;
  const auto add = [&](Seconds a, Seconds b) {
    const double high = std::max({0.0, (a - value).count(), (b - value).count()});
    const double low = std::max({0.0, (value - a).count(), (value - b).count()});
    up += high * high;
    down += low * low;
  };
  for (const ParameterGroup group : parameter_groups)
    add(makespan(schedule, moved(profile, group, End::low)), makespan(schedule, moved(profile, group, End::high)));
  const Strategy& strategy = find_strategy(choice.strategy);
  add(makespan(strategy.schedule(with_cost(job, false), choice, limits), profile),
      makespan(strategy.schedule(with_cost(job, true), choice, limits), profile));
  const Seconds off = value * relative_error(job, choice);
  add(value - off, value + off);
  add(value - std::min(unexplained, value / 2), value + unexplained);
  return {value, value - Seconds{std::sqrt(down)}, value + Seconds{std::sqrt(up)}};
}

// Takes one cause after the other out of the profile; what each step saves is its part.
Distance distance(const Schedule& schedule, const Profile& profile, Seconds value, Seconds bound) {
  Distance d;
  Profile without = profile;
  Seconds last = value;
  const auto step = [&](Seconds& part, Cause cause) {
    without = freed_of(without, cause);
    const Seconds now = makespan(schedule, without);
    part = last - now;
    last = now;
  };
  step(d.host, Cause::host);
  step(d.submission, Cause::submission);
  step(d.duplex_gap, Cause::duplex_gap);
  step(d.gap, Cause::gap);
  step(d.latency, Cause::latency);
  d.fill_and_drain = last - bound;
  d.total = value - bound;
  return d;
}

}  // namespace

Schedule duplex_schedule(const Job& job, Bytes device_memory, std::uint32_t gpus) {
  Schedule schedule;
  std::size_t copies = 0;
  for (const Array& a : job.arrays) {
    schedule.add_buffer({.name = a.name, .place = Place::host(), .memory = a.memory, .size = size_on_host(a)});
    copies += (is_input(a.role) ? 1 : 0) + (is_output(a.role) ? 1 : 0);
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
    // Both directions of an inout array move at once: the way back lands in a buffer of its own.
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
      if (is_input(job.arrays[a].role)) copy(a, true, gpu);
      if (is_output(job.arrays[a].role)) copy(a, false, gpu);
    }
  return schedule;
}

Bound bound(const Job& job, const Profile& profile, std::uint32_t gpus) {
  Bound result;
  // What the link can do, whatever memory the arrays are in.
  Job pinned = job;
  for (Array& array : pinned.arrays) array.memory = MemoryKind::pinned;
  const Schedule copies = duplex_schedule(pinned, limits_of(profile).device_memory, gpus);
  const Parameter<Seconds>& latency = profile.gpus.front().launch_latency;
  const auto at = [&](const Profile& p, const Job& j) {
    const Seconds copied = copies.ops.empty() ? Seconds{0} : makespan(copies, p, true);
    const Seconds kernel = j.cost.at((j.items + gpus - 1) / gpus) + (latency ? latency->value : Seconds{0});
    return std::pair{copied, kernel};
  };
  std::tie(result.copies, result.kernel) = at(profile, job);
  const auto time = [](std::pair<Seconds, Seconds> p) { return std::max(p.first, p.second); };
  result.time.value = std::max(result.copies, result.kernel);
  result.time.low = time(at(moved(profile, ParameterGroup::rates, End::low), with_cost(job, false)));
  result.time.high = time(at(moved(profile, ParameterGroup::rates, End::high), with_cost(job, true)));
  return result;
}

Candidate predict(const Job& job, const Profile& profile, const Choice& choice) {
  return predict(job, profile, choice, limits_of(profile));
}

Candidate predict(const Job& job, const Profile& profile, const Choice& choice, const Limits& limits) {
  return complete_prediction(job, profile, limits, {.choice = choice, .predicted = {}});
}

Candidate complete_prediction(const Job& job, const Profile& profile, const Limits& limits, Candidate candidate) {
  const Strategy& strategy = find_strategy(candidate.choice.strategy);
  if (!candidate.schedule) {
    candidate.schedule = std::make_shared<const Schedule>(strategy.schedule(job, candidate.choice, limits));
    candidate.timeline = simulate(*candidate.schedule, profile).timeline;
  }
  const Seconds value = candidate.timeline.makespan;
  candidate.predicted = interval(job, profile, candidate.choice, limits, *candidate.schedule, value);
  candidate.closed_form = strategy.predict(job, candidate.choice, profile);
  candidate.distance =
      distance(*candidate.schedule, profile, value, bound(job, profile, candidate.choice.gpus).time.value);
  return candidate;
}

}  // namespace shiplap
