#include "shiplap/measure/compare.hpp"

#include <gtest/gtest.h>

#include <random>

#include "shiplap/core/error.hpp"
#include "tests/support/measurements.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::events;

/// Copies of 40 sizes that take 1 to 40 ms, 20 samples each, that spread as told.
Profile noisy_node(double spread, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(1, spread);
  Profile profile;
  profile.name = "node";
  profile.conditions = {{"gpu.link", "32.0 GT/s PCIe x16"}, {"gpu.driver", "580"}};
  for (int size = 1; size <= 40; ++size) {
    std::vector<double> samples;
    for (int i = 0; i < 20; ++i) samples.push_back(1000 * size * noise(random));
    profile.measurements.push_back(events("copy.pinned.h2d", {{"bytes", size * 1e6}}, samples));
  }
  return profile;
}

void slow_down(Measurement& m, double factor) {
  for (double& t : m.samples_us) t *= factor;
}

TEST(Compare, finds_a_profile_as_good_as_itself) {
  const Profile profile = noisy_node(0.01, 1);
  const Comparison c = compare(profile, profile);
  EXPECT_EQ(c.count(Change::same), 40u);
  EXPECT_FALSE(c.degraded());
  EXPECT_TRUE(c.conditions.empty() && c.failed.empty() && c.only_now.empty() && c.only_in_baseline.empty());
}

TEST(Compare, names_the_one_figure_that_is_a_tenth_worse) {
  const Profile baseline = noisy_node(0.01, 1);
  for (const std::size_t which : {0u, 17u, 39u}) {
    Profile now = noisy_node(0.01, 2);
    slow_down(now.measurements[which], 1.1);
    const Comparison c = compare(baseline, now);
    EXPECT_TRUE(c.degraded());
    for (std::size_t i = 0; i < c.figures.size(); ++i)
      EXPECT_EQ(c.figures[i].change, i == which ? Change::degraded : Change::same) << i;
    EXPECT_NEAR(c.figures[which].slower.value, 1.1, 0.02);
  }
}

TEST(Compare, does_not_cry_wolf_over_a_hundred_noisy_repeats) {
  // So noisy that medians alone would: their ratio is off by 2.4 % in 40 figures.
  const Profile baseline = noisy_node(0.06, 1);
  for (unsigned seed = 2; seed <= 101; ++seed)
    EXPECT_FALSE(compare(baseline, noisy_node(0.06, seed)).degraded()) << seed;
}

TEST(Compare, says_better_as_it_says_worse) {
  const Profile baseline = noisy_node(0.01, 1);
  Profile now = noisy_node(0.01, 2);
  slow_down(now.measurements[3], 1 / 1.1);
  const Comparison c = compare(baseline, now);
  EXPECT_EQ(c.figures[3].change, Change::better);
  EXPECT_FALSE(c.degraded());
  EXPECT_EQ(compare(now, baseline).figures[3].change, Change::degraded) << "the other way round";
}

TEST(Compare, leaves_open_what_the_intervals_leave_open) {
  const Profile baseline = noisy_node(0.01, 1);
  Profile now = noisy_node(0.01, 2);
  now.measurements[5].samples_us = {4000, 4500, 5500, 6600, 7200, 8000, 9000};  // 6 ms before
  const Comparison c = compare(baseline, now);
  EXPECT_EQ(c.figures[5].change, Change::unclear);
  EXPECT_FALSE(c.degraded());
}

TEST(Compare, does_not_call_degraded_what_reached_its_speed_once) {
  // Six samples of 6 ms before: disturbed in both visits, and in one run it was not.
  const Profile baseline = noisy_node(0.001, 1);
  Profile now = noisy_node(0.001, 2);
  now.measurements[5].samples_us = {6100, 7000, 7050, 7100, 7020, 7030};
  EXPECT_EQ(compare(baseline, now).figures[5].change, Change::unclear);
  now.measurements[5].samples_us.front() = 6900;
  EXPECT_EQ(compare(baseline, now).figures[5].change, Change::degraded);
  // Among forty, three are too few to say so.
  now.measurements[5].samples_us.assign(40, 7000);
  for (const std::size_t i : {0u, 20u, 30u}) now.measurements[5].samples_us[i] = 6100;
  EXPECT_EQ(compare(baseline, now).figures[5].change, Change::degraded);
  now.measurements[5].samples_us[35] = 6100;
  EXPECT_EQ(compare(baseline, now).figures[5].change, Change::unclear);
}

TEST(Compare, takes_the_fastest_of_a_difference_from_both_counts) {
  const auto point = [](double few, double many) {
    Profile profile;
    profile.measurements = {
        events("burst.pinned.h2d", {{"bytes", 1 << 20}, {"copies", 1}}, {few, few + 1, few + 2}),
        events("burst.pinned.h2d", {{"bytes", 1 << 20}, {"copies", 11}}, {many, many + 1, many + 2})};
    return profile;
  };
  EXPECT_TRUE(compare(point(100, 1100), point(100, 1250)).degraded()) << "100 us a copy, then 115";
  Profile once = point(100, 1250);
  once.measurements[1].samples_us[1] = 1130;
  EXPECT_FALSE(compare(point(100, 1100), once).degraded());
}

TEST(Compare, takes_the_tolerance_that_it_is_given) {
  const Profile baseline = noisy_node(0.001, 1);
  Profile now = noisy_node(0.001, 2);
  slow_down(now.measurements[0], 1.04);
  EXPECT_FALSE(compare(baseline, now).degraded());
  EXPECT_TRUE(compare(baseline, now, 0.02).degraded());
  slow_down(now.measurements[0], 1.2);
  EXPECT_FALSE(compare(baseline, now, 0.3).degraded());
  EXPECT_THROW(compare(baseline, now, -0.1), UsageError);
}

TEST(Compare, counts_bytes_that_did_not_arrive_as_worse) {
  const Profile baseline = noisy_node(0.01, 1);
  Profile now = baseline;
  now.measurements[7].verified = false;
  const Comparison c = compare(baseline, now);
  ASSERT_EQ(c.failed.size(), 1u);
  EXPECT_TRUE(c.degraded());
  EXPECT_FALSE(compare(now, now).degraded()) << "it was so before";
}

TEST(Compare, lists_what_only_one_of_them_has_and_the_conditions_that_differ) {
  const Profile baseline = noisy_node(0.01, 1);
  Profile now = noisy_node(0.01, 2);
  now.measurements.pop_back();
  now.measurements.push_back(events("launch.latency", {{"kernels", 1}}, 3));
  now.conditions["gpu.link"] = "16.0 GT/s PCIe x16";
  now.conditions.erase("gpu.driver");
  now.conditions["gpu.temperature"] = "39 °C";
  const Comparison c = compare(baseline, now);
  EXPECT_EQ(c.only_in_baseline.size(), 1u);
  EXPECT_EQ(c.only_now, std::vector<std::string>{"launch.latency"});
  ASSERT_EQ(c.conditions.size(), 2u);
  EXPECT_EQ(c.conditions[0].now, "unknown");
  EXPECT_EQ(c.conditions[1].baseline, "32.0 GT/s PCIe x16");
}

TEST(Compare, does_not_compare_what_was_measured_with_other_counts) {
  Profile baseline;
  for (const double n : {8., 64.})
    baseline.measurements.push_back(events("burst.pinned.h2d", {{"bytes", 1 << 20}, {"copies", n}}, 5 + 20 * n));
  baseline.measurements.push_back(events("kernel.stream", {{"bytes", 1 << 28}}, 100));
  Profile now = baseline;
  now.measurements.erase(now.measurements.begin());
  const Comparison c = compare(baseline, now);
  EXPECT_EQ(c.figures.size(), 1u);
  EXPECT_EQ(c.only_in_baseline.size(), 1u);
  EXPECT_EQ(c.only_now.size(), 1u) << "the whole burst is not one copy";
  EXPECT_FALSE(c.degraded());
}

TEST(Compare, allows_for_what_differs_from_run_to_run) {
  Profile baseline;
  baseline.measurements = {
      testing::host("submit.copy", {{"copies", 28}}, 28 * 100.),
      testing::host("submit.copy", {{"copies", 224}}, 224 * 100.),
      events("copy.pinned.h2d", {{"bytes", 4096}}, 4000),
      events("launch.latency", {{"kernels", 1}}, 3000),
      events("mapped.read", {{"bytes", 1 << 26}, {"blocks", 64}, {"width", 16}, {"count", 1}}, 1300),
      events("copy.pinned.h2d", {{"bytes", 1 << 30}}, 19300)};
  for (const auto& [factor, degraded] : {std::pair{1.06, 1}, {1.1, 2}, {1.3, 4}, {2.8, 5}}) {
    Profile now = baseline;
    for (Measurement& m : now.measurements) slow_down(m, factor);
    EXPECT_EQ(compare(baseline, now).count(Change::degraded), static_cast<std::size_t>(degraded)) << factor;
  }
}

TEST(Compare, refuses_profiles_that_have_nothing_in_common) {
  Profile published;
  published.name = "gtx-titan-2014";
  EXPECT_THROW(compare(noisy_node(0.01, 1), published), Error);
}

TEST(Change, has_a_name_for_each_value_and_for_no_other) {
  EXPECT_EQ(to_string(Change::unclear), "unclear");
  EXPECT_THROW(to_string(static_cast<Change>(99)), Error);
}

}  // namespace
}  // namespace shiplap
