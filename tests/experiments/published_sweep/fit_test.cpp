#include "experiments/published_sweep/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/published_sweep/closed_forms.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

/// A node of the test's own; seconds, and seconds per byte.
struct PlayedNode {
  double in_per_byte = 1.5e-11;
  double out_per_byte = 0.9e-11;
  double latency = 18e-6;  // of a copy
  double gap = 9e-6;       // of copies from 16 KiB on
  double call = 2e-6;
  double per_element = 1.5e-12;
  double per_element_and_call = 1.2e-12;
  double latency_per_call = 0.2e-6;
};

/// The program played through chunk by chunk: the host submits a call at a time, both copy engines serve their chunks
/// in order, and kernels share the GPU: each takes at least its chain of calls, all together what the full GPU needs.
Seconds played(const PlayedNode& node, std::uint32_t calls, std::uint64_t size, std::uint32_t streams) {
  const double elements = static_cast<double>(size) / streams;
  const double bytes = 4 * elements;
  const double chain = node.latency_per_call * calls;
  const double share = elements * (node.per_element + node.per_element_and_call * calls);
  // Below 16 KiB copies are served as fast as they are submitted.
  const double gap = bytes >= 16384 ? node.gap : 0;
  double in_free = -1, out_free = -1, gpu_free = 0, end = 0;
  for (std::uint32_t i = 0; i < streams; ++i) {
    const double submitted = 3 * i * node.call;
    double in = submitted + node.call + node.latency;
    if (in_free >= 0) in = std::max(in, in_free + gap);
    in_free = in + bytes * node.in_per_byte;
    const double ready = std::max(submitted + 2 * node.call, in_free);
    gpu_free = std::max(gpu_free, ready) + share;
    const double kernel_end = std::max(ready + chain, gpu_free);
    double out = std::max(submitted + 3 * node.call, kernel_end) + node.latency;
    if (out_free >= 0) out = std::max(out, out_free + gap);
    out_free = end = out + bytes * node.out_per_byte;
  }
  return Seconds{end};
}

/// A sweep as the published one. Copies between 4 and 16 KiB are left out: there the fit interpolates g.
std::vector<PublishedPoint> sweep(const PlayedNode& node, std::uint32_t most_calls) {
  std::vector<PublishedPoint> out;
  for (std::uint32_t calls = 1; calls <= most_calls; calls *= 4)
    for (std::uint64_t size = 1 << 9; size <= std::uint64_t{1} << 27; size *= 4)
      for (std::uint32_t streams = 1; streams <= 64; streams *= 2) {
        const std::uint64_t bytes = 4 * size / streams;
        if (bytes <= 4096 || bytes >= 16384) out.push_back({calls, size, streams, played(node, calls, size, streams)});
      }
  return out;
}

TEST(FitSimulation, finds_the_node_behind_times_that_another_simulation_made) {
  const PlayedNode node;
  const SimulationFit fit = fit_simulation(sweep(node, 256), "planted");
  EXPECT_TRUE(fit.converged);
  EXPECT_TRUE(fit.calls_vary);
  const LinkModel& link = fit.profile.link(0);
  EXPECT_NEAR(link.h2d.per_byte.value.seconds / node.in_per_byte, 1, 0.02);
  EXPECT_NEAR(link.d2h.per_byte.value.seconds / node.out_per_byte, 1, 0.03);
  EXPECT_NEAR(fit.profile.submission.copy->value.count() / node.call, 1, 0.02);
  EXPECT_EQ(fit.profile.submission.copy, fit.profile.submission.launch);
  EXPECT_NEAR(fit.kernel.per_element_and_call.value.count() / node.per_element_and_call, 1, 0.025)
      << "its kernels come one after the other at the whole rate, those of the simulation share it";
  EXPECT_NEAR(fit.kernel.latency_per_call.value.count() / node.latency_per_call, 1, 0.05);
  for (const Bytes size : {64_B, 256_KiB, 16_MiB}) {
    EXPECT_NEAR(cost_at(link.h2d, size).latency_overhead.count() / node.latency, 1, 0.06) << to_string(size);
    EXPECT_EQ(cost_at(link.h2d, size).latency_overhead, cost_at(link.d2h, size).latency_overhead);
  }
  for (const Bytes size : {64_KiB, 256_KiB, 1_MiB, 4_MiB})
    EXPECT_NEAR(cost_at(link.h2d, size).gap.count() / node.gap, 1, 0.15) << to_string(size);
}

TEST(FitSimulation, predicts_a_size_and_numbers_of_streams_that_it_never_saw) {
  const PlayedNode node;
  const SimulationFit fit = fit_simulation(sweep(node, 256), "planted");
  for (const std::uint32_t calls : {1u, 32u, 128u})
    for (const std::uint32_t streams : {1u, 16u, 256u}) {
      const Seconds truth = played(node, calls, std::uint64_t{1} << 29, streams);
      EXPECT_NEAR(predict(fit, {calls, std::uint64_t{1} << 29, streams, truth}) / truth, 1, 0.03)
          << calls << " calls, " << streams << " streams";
    }
}

TEST(FitSimulation, says_what_the_times_do_not_show) {
  const SimulationFit fit = fit_simulation(sweep({}, 1), "planted");
  EXPECT_FALSE(fit.calls_vary);
  EXPECT_EQ(fit.kernel.latency_per_call.value, Seconds{0});
  const Profile& profile = fit.profile;
  EXPECT_EQ(profile.origin, Origin::derived);
  EXPECT_NE(profile.source.find("planted"), std::string::npos);
  EXPECT_FALSE(profile.gpus[0].launch_latency);
  EXPECT_FALSE(profile.links[0].h2d.duplex);
  EXPECT_FALSE(profile.gpus[0].memory_bandwidth);
  EXPECT_EQ(profile.links[0].h2d.costs.front().gap.low, Seconds{0});
  // Reading refuses a profile that lacks something without saying so.
  Profile named = profile;
  named.name = "planted";
  EXPECT_EQ(parameter_hash(profile_from_json(to_json(named), "planted")), parameter_hash(named));
}

TEST(FitSimulation, is_deterministic) {
  const auto points = sweep({}, 4);
  EXPECT_EQ(parameter_hash(fit_simulation(points, "a").profile), parameter_hash(fit_simulation(points, "a").profile));
}

TEST(FitSimulation, refuses_fewer_points_than_parameters) {
  EXPECT_THROW(fit_simulation(std::vector<PublishedPoint>(3, {1, 8, 1, microseconds(30)}), "few"), Error);
}

/// max of the three terms of eq 5, written out.
Seconds eq5_by_hand(double size, double calls, double n) {
  const double in = 4 * size * 1.3e-11, out = 4 * size * 0.8e-11, kernel = size * calls * 2e-12;
  const double gaps_in = 6e-6 * (n - 1), gaps_out = 3e-6 * (n - 1);
  return Seconds{8e-5 + std::max({in + gaps_in + kernel / n + out / n, in / n + kernel + out / n,
                                  in / n + kernel / n + out + gaps_out})};
}

TEST(FitEq5, finds_what_was_planted) {
  std::vector<PublishedPoint> points;
  for (std::uint32_t calls = 1; calls <= 64; calls *= 2)
    for (std::uint64_t size = 1 << 23; size <= 1 << 29; size *= 4)
      for (std::uint32_t n = 1; n <= 256; n *= 2)
        points.push_back({calls, size, n, eq5_by_hand(static_cast<double>(size), calls, n)});
  const Eq5Fit fit = fit_eq5(points);
  EXPECT_NEAR(fit.h2d.per_byte.seconds, 1.3e-11, 1e-14);
  EXPECT_NEAR(fit.d2h.per_byte.seconds, 0.8e-11, 1e-14);
  EXPECT_NEAR(in_microseconds(fit.h2d.latency_overhead + fit.d2h.latency_overhead), 80, 0.1);
  EXPECT_NEAR(in_microseconds(fit.h2d.gap), 6, 0.01);
  EXPECT_NEAR(fit.per_element_and_call.count(), 2e-12, 1e-15);
}

TEST(FitGomezLuna, finds_what_was_planted) {
  std::vector<PublishedPoint> points;
  for (std::uint32_t calls = 1; calls <= 64; calls *= 2)
    for (std::uint64_t size = 1 << 23; size <= 1 << 29; size *= 4)
      for (std::uint32_t n = 1; n <= 256; n *= 2) {
        const double transfers = 8.0 * static_cast<double>(size) * 1e-11;
        const double kernel = static_cast<double>(size) * calls * 2e-12;
        points.push_back({calls, size, n, Seconds{std::max(transfers, kernel + transfers / n) + 7e-6 * n}});
      }
  const GomezLunaFit fit = fit_gomez_luna(points);
  EXPECT_NEAR(fit.per_byte.seconds, 1e-11, 1e-14);
  EXPECT_NEAR(in_microseconds(fit.per_stream), 7, 0.01);
  EXPECT_NEAR(fit.per_element_and_call.count(), 2e-12, 1e-15);
}

}  // namespace
}  // namespace shiplap::experiments::published_sweep
