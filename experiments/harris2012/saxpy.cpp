// SAXPY on resident data, timed by events and by the host's clock.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/harris2012/harris2012.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/limits.hpp"
#include "shiplap/model/harris_2012.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap::experiments::harris {
namespace {

SaxpyTimes simulated(const Bench& bench, Job job) {
  job.cost = cost_of_saxpy(job, bench.profile);
  const Schedule schedule = launch_schedule(job, job.items, bench.limits);
  const Prediction free = simulate(schedule, bench.profile);
  const Prediction held = simulate(schedule, bench.profile, {.held = true});
  return {.elements = job.items,
          .alone = held.timeline.makespan,
          .listed = free.timeline.makespan,
          .submitted = free.submission,
          .waited = std::max(free.submission, free.timeline.makespan),
          .first = std::nullopt,
          .assumptions = free.assumptions};
}

SaxpyTimes measured(const Bench& bench, Workload workload) {
  const unsigned repeats = bench.quick ? 15 : 51;
  const std::uint64_t elements = workload.job.items;
  WorkloadData data(bench.device, std::move(workload));
  Prepared kernel = prepare_kernel(bench.device, data.job(), bench.limits);
  const Seconds first = kernel.run().timeline.makespan;
  std::vector<double> alone;
  std::vector<double> listed;
  std::vector<double> submitted;
  std::vector<double> waited;
  for (unsigned i = 0; i < 3 + repeats; ++i) {
    const double held = kernel.run({.hold = true}).timeline.makespan.count();
    const RunResult free = kernel.run();
    if (i < 3) continue;
    alone.push_back(held);
    listed.push_back(free.timeline.makespan.count());
    submitted.push_back(free.submission.count());
    waited.push_back(free.host_total.count());
  }
  return {.elements = elements,
          .alone = Seconds{median(alone)},
          .listed = Seconds{median(listed)},
          .submitted = Seconds{median(submitted)},
          .waited = Seconds{median(waited)},
          .first = first,
          .assumptions = {}};
}

/// Conditions of the device now, or those of the profile when it was measured.
const Conditions& conditions_of(const Bench& bench) {
  return bench.info.conditions.contains("gpu.memory_bus_width") ? bench.info.conditions : bench.profile.conditions;
}

}  // namespace

KernelCost cost_of_saxpy(const Job& job, const Profile& profile) {
  if (profile.gpus.empty() || profile.gpus.front().flop_rate || !profile.gpus.front().memory_bandwidth)
    return derived_cost(job, profile);
  const auto& bandwidth = *profile.gpus.front().memory_bandwidth;
  const auto at = [&](Bandwidth rate) { return job.device_traffic / rate / job.efficiency; };
  return {.points = {{job.items, {at(bandwidth.value), at(bandwidth.high), at(bandwidth.low)}}},
          .origin = fmt::format("derived from bytes over the bandwidth of profile {}", profile.name)};
}

SaxpyTimes time_saxpy(const Bench& bench, std::uint64_t elements) {
  Workload workload = find_workload(fmt::format("saxpy:n={}", elements));
  if (bench.info.is_virtual) return simulated(bench, std::move(workload.job));
  return measured(bench, std::move(workload));
}

Bandwidth effective(const SaxpyTimes& times) {
  return harris_2012::effective_bandwidth(read_by(times.elements), written_by(times.elements), times.alone);
}

std::optional<Bandwidth> theoretical(const Bench& bench) {
  if (bench.info.is_virtual && bench.info.name.ends_with("Tesla M2050"))
    return harris_2012::theoretical_bandwidth(published_clock_mhz * 1e6, published_bus_bits, 2);
  const double limit = device_memory_limit(conditions_of(bench));
  if (limit <= 0) return std::nullopt;
  return Bandwidth{limit};
}

std::optional<double> peak_flops(const Bench& bench) {
  if (bench.info.is_virtual && bench.info.name.ends_with("Tesla M2050")) return published_single_gflops * 1e9;
  const double limit = arithmetic_limit(conditions_of(bench), bench.info.sm_count);
  if (limit <= 0) return std::nullopt;
  return limit;
}

}  // namespace shiplap::experiments::harris
