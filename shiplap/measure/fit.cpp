#include "shiplap/measure/fit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/primitive_family.hpp"

namespace shiplap {
namespace {

/// Resolution of events by NVIDIA's reference of cudaEventElapsedTime: "around 0.5 microseconds".
constexpr Seconds documented_event_resolution = microseconds(0.5);
/// Longest samples, in µs, that show the step of the clock. cudaEventElapsedTime returns milliseconds as a float, whose
/// rounding step is 0.06 ns below 1 ms and grows beyond.
constexpr double short_us = 1000;
/// Samples that differ by no more than this, in µs, are equal. It is less than a rounding step of that float.
constexpr double equal_us = 1e-6;

bool has_arguments(const Measurement& measurement) {
  const PrimitiveFamily* const family = family_of(measurement.primitive);
  return family != nullptr && std::ranges::all_of(family->arguments, [&](std::string_view name) {
           return measurement.arguments.contains(std::string(name));
         });
}

}  // namespace

Seconds event_resolution(std::span<const Measurement> measurements) {
  double step = in_microseconds(documented_event_resolution);
  for (const Measurement& measurement : measurements) {
    if (measurement.clock != "events") continue;
    std::vector<double> samples = measurement.samples_us;
    std::ranges::sort(samples);
    for (std::size_t i = 1; i < samples.size() && samples[i] < short_us; ++i) {
      const double difference = samples[i] - samples[i - 1];
      if (difference > equal_us) step = std::min(step, difference);
    }
  }
  return microseconds(step);
}

Observations::Observations(std::span<const Measurement> measurements) {
  event_resolution_ = shiplap::event_resolution(measurements);
  for (const Measurement& measurement : measurements) {
    if (!measurement.verified || measurement.samples_us.empty() || !has_arguments(measurement)) continue;
    const std::span<const double> samples = figure_samples(measurement);
    const double scatter = median_standard_error(samples) * 1e-6;
    // A uniform error of this width has the standard deviation width / √12.
    const double step = measurement.clock == "events" ? event_resolution_.count() / std::sqrt(12.0) : 0;
    all_.push_back({&measurement, sources_.add(median(samples) * 1e-6, scatter) + sources_.add(0, step)});
  }
}

std::vector<Observation> Observations::of(std::string_view primitive) const {
  std::vector<Observation> found;
  for (const Observation& observation : all_)
    if (observation.measurement->primitive == primitive) found.push_back(observation);
  return found;
}

Profile fit(std::span<const Measurement> measurements, const DeviceInfo& info) {
  Profile profile;
  profile.name = kebab_case(info.name);
  if (profile.name.empty()) profile.name = "measured";
  if (info.is_virtual) profile.name += "-simulated";
  profile.origin = info.is_virtual ? Origin::simulated : Origin::measured;
  profile.source = "shiplap measure";
  profile.conditions = info.conditions;
  profile.gpus.push_back({.name = info.name,
                          .memory = info.memory,
                          .sm_count = info.sm_count,
                          .copy_engines = std::clamp(info.copy_engines, 1u, 2u),
                          .engine_order = EngineOrder::readiness,
                          .stream_groups = std::nullopt,
                          .implicit_sync = ImplicitSync::none,
                          .concurrent_kernels = true,
                          .launch_latency = std::nullopt,
                          .kernel_gap = std::nullopt,
                          .handovers = std::nullopt,
                          .resident_threads = std::nullopt,
                          .memory_bandwidth = std::nullopt,
                          .copy_bandwidth = std::nullopt,
                          .flop_rate = std::nullopt});
  for (unsigned g = 1; g < info.gpus; ++g) profile.gpus.push_back(profile.gpus.front());
  Observations observations(measurements);
  Findings findings;
  for (unsigned g = 1; g < info.gpus; ++g)
    findings.missing.push_back(
        {fmt::format("gpus[{}]", g), "of several GPUs the first is measured; measure this one alone"});
  if (info.gpus > 1) profile.peers = fit_peers(observations, findings);
  if (const auto link = fit_link(observations, findings)) profile.links.push_back(*link);
  if (info.gpus > 1 && !profile.links.empty())
    profile.shared = fit_shared(observations, profile.links.front(), info.gpus);
  if (!profile.links.empty() && !info.numa_nodes.empty()) profile.links.front().numa_node = info.numa_nodes.front();
  fit_gpu(observations, profile.gpus.front(), findings);
  if (!profile.links.empty())
    profile.gpus.front().stream_groups = fit_stream_groups(observations, profile.links.front(), findings);
  else
    findings.missing.push_back({"gpus[0].stream_groups", "not measured: needs the times of copies"});
  profile.gpus.front().handovers =
      fit_handovers(observations, profile.links.empty() ? nullptr : &profile.links.front(), findings);
  profile.host = fit_host(observations, profile.links.empty() ? nullptr : &profile.links.front(), findings);
  if (!profile.links.empty())
    profile.links.front().zero_copy =
        fit_zero_copy(observations, &profile.links.front(), profile.gpus.front(), findings);
  profile.submission = fit_submission(observations, findings);
  if (!profile.links.empty()) {
    profile.links.front().pageable = fit_pageable(observations, findings);
    profile.links.front().managed = fit_managed(observations, profile, findings);
    profile.links.front().blocks = fit_blocks(observations, profile, findings);
    for (LinkModel& link : fit_numa(observations, profile.links.front(), findings))
      profile.links.push_back(std::move(link));
  }
  profile.missing = std::move(findings.missing);
  profile.residuals = std::move(findings.residuals);
  profile.measurements.assign(measurements.begin(), measurements.end());
  return profile;
}

Profile fit_again(const Profile& measured) {
  const bool simulated = measured.origin == Origin::simulated;
  if (measured.measurements.empty() || measured.gpus.empty() || (measured.origin != Origin::measured && !simulated))
    throw UsageError(fmt::format("profile {} holds no samples that could be fitted again", measured.name));
  const GpuModel& gpu = measured.gpus.front();
  DeviceInfo info;
  info.name = gpu.name;
  info.is_virtual = simulated;
  info.memory = gpu.memory;
  info.sm_count = gpu.sm_count;
  info.copy_engines = gpu.copy_engines;
  info.gpus = static_cast<unsigned>(measured.gpus.size());
  info.conditions = measured.conditions;
  if (const LinkModel* const nearest = measured.find_link(0)) info.numa_nodes = {nearest->numa_node};
  Profile profile = fit(measured.measurements, info);
  profile.name = measured.name;
  profile.source = measured.source;
  return profile;
}

}  // namespace shiplap
