// Copies of several GPUs that share the host's memory or an uplink.
#include "shiplap/sim/shared_paths.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Interval<Bandwidth> gbs(double rate) { return Interval<Bandwidth>::exact(gigabytes_per_second(rate)); }

/// Links of 55 GB/s to the GPU and 54 back (50.8 and 50.5 in duplex), of which the first `sharing` share something.
Profile node(std::uint32_t gpus, std::vector<SharedRates> shared) {
  Profile profile = with_gpus(planted_profile(), gpus);
  profile.shared = std::move(shared);
  return profile;
}

struct Sent {
  std::uint16_t gpu = 0;
  bool to_device = true;
  Bytes size{};
};

/// One pinned copy for each, all submitted at once by a thread for each.
Schedule schedule_of(const std::vector<Sent>& all) {
  Schedule schedule;
  schedule.agents.clear();
  for (const Sent& sent : all) {
    const auto number = static_cast<std::uint32_t>(schedule.agents.size());
    schedule.agents.push_back({.name = fmt::format("agent {}", number)});
    const BufferId host =
        schedule.add_buffer({.name = "host", .place = Place::host(), .memory = MemoryKind::pinned, .size = sent.size});
    const BufferId device = schedule.add_buffer(
        {.name = "device", .place = Place::gpu(sent.gpu), .memory = MemoryKind::device, .size = sent.size});
    const Region on_host{host, Bytes{0}, sent.size}, on_device{device, Bytes{0}, sent.size};
    schedule.add({.what = sent.to_device ? Copy{on_host, on_device} : Copy{on_device, on_host},
                  .stream = schedule.add_stream(fmt::format("stream {}", number), Place::gpu(sent.gpu)),
                  .agent = AgentId{number},
                  .after = {}});
  }
  return schedule;
}

std::vector<double> ends_of(const Profile& profile, const std::vector<Sent>& all) {
  const Prediction prediction = simulate(schedule_of(all), profile);
  std::vector<double> ends;
  for (const Span& span : prediction.timeline.spans) ends.push_back(span.end.count());
  return ends;
}

constexpr double one_gib = 1024.0 * 1024 * 1024;
constexpr double overheads = 30e-6;  // calls and L+o of a copy

TEST(SharedPaths, give_all_gpus_together_what_the_profile_says_in_each_set_of_directions) {
  const Profile two = node(2, {{.gpus = {0, 1}, .h2d = gbs(80), .d2h = gbs(70), .both = gbs(100)}});
  const auto time = [&](const std::vector<Sent>& all) { return std::ranges::max(ends_of(two, all)); };
  EXPECT_NEAR(time({{0, true, 1_GiB}}), one_gib / 55e9, overheads);
  EXPECT_NEAR(time({{1, false, 1_GiB}}), one_gib / 54e9, overheads);
  EXPECT_NEAR(time({{0, true, 1_GiB}, {1, true, 1_GiB}}), 2 * one_gib / 80e9, overheads);
  EXPECT_NEAR(time({{0, false, 1_GiB}, {1, false, 1_GiB}}), 2 * one_gib / 70e9, overheads);
  EXPECT_NEAR(time({{0, true, 1_GiB}, {0, false, 1_GiB}, {1, true, 1_GiB}, {1, false, 1_GiB}}), 4 * one_gib / 100e9,
              overheads);
}

TEST(SharedPaths, leave_more_to_the_others_when_a_copy_ends) {
  const Profile two = node(2, {{.gpus = {0, 1}, .h2d = gbs(80), .d2h = gbs(70), .both = gbs(100)}});
  const std::vector<double> ends = ends_of(two, {{0, true, 1_GiB}, {1, true, 512_MiB}});
  EXPECT_NEAR(ends[1], 0.5 * one_gib / 40e9, overheads);
  EXPECT_NEAR(ends[0], 0.5 * one_gib / 40e9 + 0.5 * one_gib / 55e9, 2 * overheads);
}

TEST(SharedPaths, hold_back_only_the_gpus_that_share_them) {
  const Profile four = node(4, {{.gpus = {0, 1}, .h2d = gbs(60), .d2h = gbs(60), .both = gbs(60)},
                                {.gpus = {0, 1, 2, 3}, .h2d = gbs(150), .d2h = gbs(150), .both = gbs(150)}});
  const std::vector<double> ends =
      ends_of(four, {{0, true, 1_GiB}, {1, true, 1_GiB}, {2, true, 1_GiB}, {3, true, 256_MiB}});
  EXPECT_NEAR(ends[3], 0.25 * one_gib / 45e9, overheads);  // 30 + 30 + 45 + 45 = 150
  EXPECT_NEAR(ends[0], one_gib / 30e9, overheads);
  EXPECT_NEAR(ends[2], 0.25 * one_gib / 45e9 + 0.75 * one_gib / 55e9, 2 * overheads);
}

/// A kernel on each of two GPUs that reads this much host memory with all of its threads.
Schedule reading_kernels(Bytes size) {
  Schedule schedule;
  schedule.agents.clear();
  const KernelId kernel = schedule.add_kernel("reads");
  for (std::uint16_t gpu = 0; gpu < 2; ++gpu) {
    schedule.agents.push_back({.name = fmt::format("agent {}", gpu)});
    const BufferId host = schedule.add_buffer(
        {.name = fmt::format("host {}", gpu), .place = Place::host(), .memory = MemoryKind::mapped, .size = size});
    schedule.add({.what = Kernel{.kernel = kernel,
                                 .items = 1,
                                 .work = microseconds(1),
                                 .blocks = 528,
                                 .resident_blocks = 1056,
                                 .full_rate_blocks = 1056,
                                 .operands = {{{host, Bytes{0}, size}, AccessMode::read}},
                                 .flows = {{.buffer = host, .bytes = size, .in_flight = 2_MiB}}},
                  .stream = schedule.add_stream(fmt::format("stream {}", gpu), Place::gpu(gpu)),
                  .agent = AgentId{gpu},
                  .after = {}});
  }
  return schedule;
}

TEST(SharedPaths, hold_back_kernels_that_access_host_memory_too) {
  const auto time = [&](std::vector<SharedRates> shared) {
    return simulate(reading_kernels(1_GiB), node(2, std::move(shared))).timeline.makespan.count();
  };
  const double free = time({});
  EXPECT_LT(free, one_gib / 45e9);
  EXPECT_NEAR(time({{.gpus = {0, 1}, .h2d = gbs(60), .d2h = gbs(200), .both = gbs(200)}}), 2 * one_gib / 60e9,
              overheads);
  EXPECT_NEAR(time({{.gpus = {0, 1}, .h2d = gbs(200), .d2h = gbs(60), .both = gbs(200)}}), free, 1e-9);
}

TEST(SharedPaths, change_nothing_for_copies_of_one_gpu_that_stay_below_them) {
  const Profile shared = node(2, {{.gpus = {0, 1}, .h2d = gbs(110.1), .d2h = gbs(108.1), .both = gbs(210)}});
  const Profile alone = node(2, {});
  const std::vector<Sent> both{{0, true, 1_GiB}, {0, false, 768_MiB}};
  EXPECT_EQ(ends_of(shared, both), ends_of(alone, both));
  const std::vector<Sent> all{{0, true, 1_GiB}, {0, false, 768_MiB}, {1, true, 512_MiB}, {1, false, 1_GiB}};
  const std::vector<double> ends = ends_of(shared, all), ends_alone = ends_of(alone, all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(ends[i], ends_alone[i], 1e-12);
}

TEST(SharedPaths, are_said_to_be_assumed_where_a_schedule_of_several_gpus_has_none) {
  const auto assumed = [](const Profile& profile, const std::vector<Sent>& all) {
    return simulate(schedule_of(all), profile).assumptions;
  };
  const std::vector<Sent> two{{0, true, 1_MiB}, {1, true, 1_MiB}};
  ASSERT_EQ(assumed(node(2, {}), two).size(), 1u);
  EXPECT_NE(assumed(node(2, {}), two).front().find("cuda:0,1"), std::string::npos);
  EXPECT_TRUE(assumed(node(2, {}), {{1, true, 1_MiB}, {1, false, 1_MiB}}).empty());
  const Profile of_two = node(3, {{.gpus = {0, 1}, .h2d = gbs(80), .d2h = gbs(70), .both = gbs(100)}});
  EXPECT_TRUE(assumed(of_two, two).empty());
  EXPECT_EQ(assumed(of_two, {{0, true, 1_MiB}, {2, true, 1_MiB}}).size(), 1u);
  EXPECT_TRUE(assumed(node(2, {{.gpus = {0, 1}, .h2d = gbs(80), .d2h = gbs(70), .both = gbs(100)}}), two).empty());
}

/// Bytes that flow at max-min fair rates, which small steps find, without gaps and latencies.
std::vector<double> flowing(const Profile& profile, const std::vector<Sent>& all) {
  std::vector<double> left, ends(all.size(), 0);
  for (const Sent& sent : all) left.push_back(static_cast<double>(sent.size.count));
  const auto opposite_moves = [&](std::size_t i) {
    for (std::size_t k = 0; k < all.size(); ++k)
      if (left[k] > 0 && all[k].gpu == all[i].gpu && all[k].to_device != all[i].to_device) return true;
    return false;
  };
  double now = 0;
  while (std::ranges::any_of(left, [](double bytes) { return bytes > 0; })) {
    std::vector<double> rate(all.size(), 0);
    std::vector<bool> stopped(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) stopped[i] = left[i] <= 0;
    constexpr double step = 0.01e9;
    while (std::ranges::find(stopped, false) != stopped.end()) {
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!stopped[i]) {
          rate[i] += step;
          const double own =
              all[i].to_device ? (opposite_moves(i) ? 50.8e9 : 55e9) : (opposite_moves(i) ? 50.5e9 : 54e9);
          stopped[i] = rate[i] >= own;
        }
      for (const SharedRates& shared : profile.shared) {
        double h2d = 0, d2h = 0;
        const auto uses = [&](std::size_t i) {
          return std::ranges::find(shared.gpus, all[i].gpu) != shared.gpus.end();
        };
        for (std::size_t i = 0; i < all.size(); ++i)
          if (uses(i)) (all[i].to_device ? h2d : d2h) += rate[i];
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (!uses(i)) continue;
          const bool is_full =
              h2d + d2h >= shared.both.value.bytes_per_second ||
              (all[i].to_device ? h2d >= shared.h2d.value.bytes_per_second : d2h >= shared.d2h.value.bytes_per_second);
          stopped[i] = stopped[i] || is_full;
        }
      }
    }
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (left[i] > 0) next = std::min(next, left[i] / rate[i]);
    now += next;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (left[i] <= 0) continue;
      left[i] -= next * rate[i];
      if (left[i] > 1) continue;
      left[i] = 0;
      ends[i] = now;
    }
  }
  return ends;
}

TEST(SharedPaths, end_random_sets_of_copies_when_bytes_that_flow_fairly_would) {
  std::mt19937 random(62);
  std::uniform_int_distribution<std::uint64_t> size(64, 2048);
  std::uniform_real_distribution<double> rate(40, 250);
  std::bernoulli_distribution is_there(0.7);
  for (int i = 0; i < 60; ++i) {
    std::vector<SharedRates> shared{
        {.gpus = {0, 1, 2, 3}, .h2d = gbs(rate(random)), .d2h = gbs(rate(random)), .both = gbs(rate(random))},
        {.gpus = {0, 1}, .h2d = gbs(rate(random)), .d2h = gbs(rate(random)), .both = gbs(rate(random))}};
    const Profile four = node(4, shared);
    std::vector<Sent> all;
    for (std::uint16_t gpu = 0; gpu < 4; ++gpu)
      for (const bool to_device : {true, false})
        if (is_there(random)) all.push_back({gpu, to_device, 1_MiB * size(random)});
    if (all.empty()) continue;
    const std::vector<double> expected = flowing(four, all), ends = ends_of(four, all);
    for (std::size_t k = 0; k < all.size(); ++k)
      ASSERT_NEAR(ends[k], expected[k], 0.005 * expected[k] + 100e-6) << i << ", copy " << k;
  }
}

}  // namespace
}  // namespace shiplap
