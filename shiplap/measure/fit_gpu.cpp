// Fit of the GPU's parameters and of the host's submission times.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

using ByCount = std::map<double, Uncertain>;

ByCount by_count(const Observations& observations, std::string_view primitive, const char* argument) {
  ByCount result;
  for (const Observation& o : observations.of(primitive)) result.emplace(o.argument(argument), o.time);
  return result;
}

template <class T>
Parameter<T> parameter(const std::optional<Uncertain>& value, std::string_view path, std::string_view needs,
                       Findings& findings) {
  if (value) return non_negative<T>(*value);
  findings.missing.push_back({std::string(path), fmt::format("not measured: needs verified points of {}", needs)});
  return std::nullopt;
}

/// Fits a rate of work as the slope of time over amount.
std::optional<Estimate> fitted_rate(Observations& observations, std::string_view primitive, const char* argument,
                                    std::string_view path, Findings& findings) {
  const ByCount times = by_count(observations, primitive, argument);
  if (times.size() < 2) {
    findings.missing.push_back(
        {std::string(path), fmt::format("not measured: needs verified points of {}", primitive)});
    return std::nullopt;
  }
  std::vector<Equation> equations;
  for (const auto& [amount, time] : times) equations.push_back({{1, amount}, time});
  const Solution solution = least_squares(equations, observations.sources());
  const Estimate slope = solution.unknowns[1].estimate();
  if (slope.low <= 0) {
    findings.missing.push_back({std::string(path), "measured, but the time does not grow with the amount of work"});
    return std::nullopt;
  }
  Residual residual{std::string(path), 0, ""};
  for (std::size_t i = 0; i < equations.size(); ++i)
    keep_worst(residual, equations[i].observed.value() + solution.residuals[i], equations[i].observed,
               fmt::format("{:g} {}", equations[i].coefficients[1], argument));
  findings.residuals.push_back(residual);
  return Estimate{1 / slope.value, 1 / slope.high, 1 / slope.low};
}

/// Least increase of time between two grids that counts as a new wave, as a fraction of the first wave's time. A wave
/// adds 1 and further blocks in the same wave add 0; this is halfway.
constexpr double certain_step = 0.5;

/// Number of resident blocks. The time of a grid grows by one block's time with each wave. A grid of b blocks in w
/// waves implies b / w ≤ resident blocks < b / (w − 1); all grids together narrow this to a few numbers.
std::optional<Estimate> resident_blocks(const Observations& observations) {
  const ByCount times = by_count(observations, "kernel.grid", "blocks");
  if (times.size() < 2) return std::nullopt;
  const double first = times.begin()->second.value();
  // The smallest increase above the noise is the time of one wave.
  double wave = 0;
  double before = first;
  for (const auto& [blocks, time] : times) {
    const double step = time.value() - before;
    if (step > certain_step * first && (wave == 0 || step < wave)) wave = step;
    before = time.value();
  }
  if (wave == 0) return std::nullopt;
  double least = 1;
  double most = times.rbegin()->first;
  for (const auto& [blocks, time] : times) {
    const double waves = 1 + std::round((time.value() - first) / wave);
    least = std::max(least, std::ceil(blocks / waves));
    if (waves > 1) most = std::min(most, std::ceil(blocks / (waves - 1)) - 1);
  }
  if (least > most) return std::nullopt;
  return Estimate{most, least, most};
}

/// By how much longer a copy takes behind a kernel: of one wave, and of several.
struct DelayBehind {
  double short_kernel = 0;
  double long_kernel = 0;
};
std::optional<DelayBehind> delay_behind(const Observations& observations, const char* primitive) {
  const ByCount times = by_count(observations, primitive, "blocks");
  if (times.size() != 3 || times.begin()->first != 0) return std::nullopt;
  const double alone = times.begin()->second.value();
  return DelayBehind{std::next(times.begin())->second.value() - alone, times.rbegin()->second.value() - alone};
}

/// The order of the copy engines and implicit synchronisation, from copies behind kernels (Gómez-Luna et al. 2012 and
/// van Werkhoven et al. 2014 find the category of a device with such experiments).
void fit_order(const Observations& observations, GpuModel& gpu, Findings& findings) {
  const auto of_engine = delay_behind(observations, "behind.h2d");
  const auto of_sync = delay_behind(observations, "behind.d2h");
  if (!of_engine) findings.missing.push_back({"gpus[0].engine_order", "readiness is assumed: needs behind.h2d"});
  if (!of_sync) findings.missing.push_back({"gpus[0].implicit_sync", "none is assumed: needs behind.d2h"});
  // A wave lasts 10 µs, the longer kernel four times as long.
  constexpr double half_of_long_kernel = 20e-6;
  constexpr double half_of_wave = 5e-6;
  if (of_engine && of_engine->long_kernel > half_of_long_kernel) gpu.engine_order = EngineOrder::submission;
  if (of_sync && of_sync->long_kernel > half_of_long_kernel)
    gpu.implicit_sync = of_sync->short_kernel > half_of_wave ? ImplicitSync::until_ended : ImplicitSync::until_started;
}

}  // namespace

void fit_gpu(Observations& observations, GpuModel& gpu, Findings& findings) {
  const ByCount single = by_count(observations, "launch.latency", "kernels");
  const auto latency = single.empty() ? std::nullopt : std::optional(single.begin()->second);
  gpu.launch_latency = parameter<Seconds>(latency, "gpus[0].launch_latency", "launch.latency", findings);
  gpu.kernel_gap = parameter<Seconds>(one_more(by_count(observations, "launch.gap", "kernels")), "gpus[0].kernel_gap",
                                      "launch.gap with two counts", findings);

  fit_order(observations, gpu, findings);
  if (const auto blocks = resident_blocks(observations))
    gpu.resident_threads = Estimate{blocks->value * spin_probe_threads, blocks->low * spin_probe_threads,
                                    blocks->high * spin_probe_threads};
  else
    findings.missing.push_back({"gpus[0].resident_threads",
                                "not measured: needs verified points of kernel.grid with clear steps between waves"});

  if (const auto bandwidth = fitted_rate(observations, "kernel.stream", "bytes", "gpus[0].memory_bandwidth", findings))
    gpu.memory_bandwidth = Interval<Bandwidth>{{bandwidth->value}, {bandwidth->low}, {bandwidth->high}};
  // The rate is the slope of time over total bytes. The gap between copies is neglected.
  const std::vector<Observation> inside = observations.of("copy.device");
  const auto by_size = periods(inside, "copies", [](const Observation& o) { return o.argument("bytes"); });
  std::optional<Uncertain> per_byte;
  if (by_size.size() >= 2) {
    const auto& [small, short_period] = *by_size.begin();
    const auto& [large, long_period] = *by_size.rbegin();
    per_byte = (long_period - short_period) / (large - small);
  }
  if (per_byte && per_byte->estimate().low > 0) {
    const Estimate e = per_byte->estimate();
    gpu.copy_bandwidth = Interval<Bandwidth>{{1 / e.value}, {1 / e.high}, {1 / e.low}};
  } else {
    findings.missing.push_back(
        {"gpus[0].copy_bandwidth", "not measured: needs verified points of copy.device at two sizes"});
  }
  gpu.flop_rate = fitted_rate(observations, "kernel.multiply_add", "flops", "gpus[0].flop_rate", findings);
}

SubmissionModel fit_submission(Observations& observations, Findings& findings) {
  const auto copy = one_more(by_count(observations, "submit.copy", "copies"));
  const auto launch = one_more(by_count(observations, "submit.launch", "kernels"));
  // One launch more with f followers costs (1 + f) launches, one record and f waits. Stop events cancel in differences.
  std::map<double, ByCount> by_followers;
  for (const char* primitive : {"submit.record", "submit.wait"})
    for (const Observation& o : observations.of(primitive))
      by_followers[o.argument("followers")].emplace(o.argument("launches"), o.time);
  std::optional<Uncertain> record;
  std::optional<Uncertain> wait;
  if (launch && by_followers.size() >= 2) {
    const double few = by_followers.begin()->first;
    const double many = by_followers.rbegin()->first;
    const auto with_few = one_more(by_followers.begin()->second);
    const auto with_many = one_more(by_followers.rbegin()->second);
    if (with_few && with_many) {
      wait = (*with_many - *with_few) / (many - few) - *launch;
      record = *with_few - (1 + few) * *launch - few * *wait;
    }
  }
  const auto needs = "submit.launch, submit.record and submit.wait";
  const auto batched = one_more(by_count(observations, "submit.batch", "copies"));
  const ByCount graphs = by_count(observations, "submit.graph", "kernels");
  const auto graph_op = one_more(graphs);
  std::optional<Uncertain> graph;
  if (graph_op) graph = graphs.begin()->second - graphs.begin()->first * *graph_op;
  return {
      .copy = parameter<Seconds>(copy, "submission.copy", "submit.copy with two counts", findings),
      .launch = parameter<Seconds>(launch, "submission.launch", "submit.launch with two counts", findings),
      .event_record = parameter<Seconds>(record, "submission.event_record", needs, findings),
      .event_wait = parameter<Seconds>(wait, "submission.event_wait", needs, findings),
      .batched_copy = parameter<Seconds>(batched, "submission.batched_copy", "submit.batch with two counts", findings),
      .graph_launch = parameter<Seconds>(graph, "submission.graph_launch", "submit.graph with two counts", findings),
      .graph_op = parameter<Seconds>(graph_op, "submission.graph_op", "submit.graph with two counts", findings)};
}

}  // namespace shiplap
