#include "shiplap/model/van_werkhoven_2014_overlap.hpp"

#include <gtest/gtest.h>

#include "tests/model/hand_simulation.hpp"
#include "tests/model/van_werkhoven_2014_titan.hpp"

namespace shiplap::van_werkhoven_2014 {
namespace {

StageTimes times(double h2d_ms, double kernel_ms, double d2h_ms) {
  return {milliseconds(h2d_ms), milliseconds(kernel_ms), milliseconds(d2h_ms)};
}

struct TimesInChunks {
  StageTimes times;
  std::uint32_t chunks;
  double simulated(const by_hand::Device& device) const {
    const double n = chunks;
    return by_hand::simulate(
        {.n = chunks, .in = times.h2d.count() / n, .kernel = times.kernel.count() / n, .out = times.d2h.count() / n},
        device);
  }
};

std::vector<TimesInChunks> random_times() {
  by_hand::Random random(4);
  std::vector<TimesInChunks> cases;
  while (cases.size() < 1200)
    cases.push_back({times(random.power_of_two(-4, 4), random.power_of_two(-4, 4), random.power_of_two(-8, 4)),
                     random.count(0, 8.5)});
  return cases;
}

void expect_critical_path_of_times(Category category, const by_hand::Device& device) {
  for (const TimesInChunks& c : random_times())
    ASSERT_NEAR(streams_time(c.times, c.chunks, category).count() / c.simulated(device), 1, 1e-12)
        << c.chunks << " chunks, " << c.times.h2d.count() << ", " << c.times.kernel.count() << ", "
        << c.times.d2h.count();
}

TEST(Overlap, is_the_simulated_critical_path_with_implicit_synchronisation) {
  expect_critical_path_of_times(cat1, {.copy_engines = 1, .implicit_sync = true});
}

TEST(Overlap, is_the_simulated_critical_path_of_one_engine) {
  expect_critical_path_of_times(cat2, {.copy_engines = 1});
}

TEST(Overlap, is_the_simulated_critical_path_of_two_engines) {
  expect_critical_path_of_times(cat3, {.copy_engines = 2});
}

TEST(Overlap, of_category_1_is_as_printed_because_its_scenarios_meet_where_the_selection_switches) {
  for (const TimesInChunks& c : random_times())
    ASSERT_EQ(streams_time(c.times, c.chunks, cat1), as_printed::streams_time(c.times, c.chunks, cat1));
}

TEST(Overlap, of_category_2_as_printed_can_be_less_than_its_one_engine_needs_for_the_copies) {
  const StageTimes t = times(10, 11, 10);
  EXPECT_DOUBLE_EQ(in_milliseconds(as_printed::streams_time(t, 4, cat2)), 16);
  EXPECT_DOUBLE_EQ(in_milliseconds(streams_time(t, 4, cat2)), 20);
  EXPECT_NEAR((TimesInChunks{t, 4}.simulated({.copy_engines = 1})), 0.020, 1e-15);
}

TEST(SecondCopyEngine, helps_exactly_where_the_simulated_device_is_faster_with_it) {
  unsigned helped = 0;
  unsigned printed_wrong = 0;
  for (const TimesInChunks& c : random_times()) {
    const bool faster = c.simulated({.copy_engines = 2}) < c.simulated({.copy_engines = 1}) * (1 - 1e-12);
    ASSERT_EQ(second_copy_engine_helps(c.times, c.chunks), faster) << c.chunks;
    if (faster) ++helped;
    if (as_printed::second_copy_engine_helps(c.times, c.chunks) != faster) ++printed_wrong;
  }
  EXPECT_GT(helped, 200u);
  EXPECT_LT(helped, 1000u);
  EXPECT_GT(printed_wrong, 600u) << "the printed condition should be wrong for most";
}

TEST(SecondCopyEngine, condition_as_printed_is_wrong_in_both_directions) {
  // Copies dominate: 20 ms on one engine, 11.1 ms on two; 0.1 + 1 > 10 does not hold.
  const StageTimes copies = times(10, 1, 10);
  EXPECT_NEAR((TimesInChunks{copies, 10}.simulated({.copy_engines = 1})), 0.020, 1e-15);
  EXPECT_NEAR((TimesInChunks{copies, 10}.simulated({.copy_engines = 2})), 0.0111, 1e-15);
  EXPECT_TRUE(second_copy_engine_helps(copies, 10));
  EXPECT_FALSE(as_printed::second_copy_engine_helps(copies, 10));
  // Most of it is copied out: 10 ms and 9.5 ms; 0.25 + 0.25 > 1 does not hold.
  EXPECT_TRUE(second_copy_engine_helps(times(1, 1, 9), 4));
  EXPECT_FALSE(as_printed::second_copy_engine_helps(times(1, 1, 9), 4));
  // The kernel dominates: 9.25 ms on either; 2 + 0.25 > 1 holds.
  const StageTimes kernel = times(1, 8, 4);
  EXPECT_NEAR((TimesInChunks{kernel, 4}.simulated({.copy_engines = 1})), 0.00925, 1e-15);
  EXPECT_NEAR((TimesInChunks{kernel, 4}.simulated({.copy_engines = 2})), 0.00925, 1e-15);
  EXPECT_FALSE(second_copy_engine_helps(kernel, 4));
  EXPECT_TRUE(as_printed::second_copy_engine_helps(kernel, 4));
  // So it does with 0.75 + 0.5 > 1.
  EXPECT_FALSE(second_copy_engine_helps(times(1, 1.5, 1), 2));
  EXPECT_TRUE(as_printed::second_copy_engine_helps(times(1, 1.5, 1), 2));
}

TEST(SecondCopyEngine, never_helps_one_chunk) {
  for (const TimesInChunks& c : random_times()) ASSERT_FALSE(second_copy_engine_helps(c.times, 1));
}

}  // namespace
}  // namespace shiplap::van_werkhoven_2014
