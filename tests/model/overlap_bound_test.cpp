#include "shiplap/model/overlap_bound.hpp"

#include <gtest/gtest.h>

#include "tests/model/hand_simulation.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;

struct DeviceKind {
  Category category;
  by_hand::Device device;
  double most;
};
const DeviceKind device_kinds[] = {{Category::implicit_sync_one_engine, {.copy_engines = 1, .implicit_sync = true}, 2},
                                   {Category::one_engine, {.copy_engines = 1}, 2},
                                   {Category::two_engines, {.copy_engines = 2}, 3}};

double simulated_speedup(const StageTimes& t, std::uint32_t n, const by_hand::Device& device) {
  return t.total().count() /
         by_hand::simulate({.n = n, .in = t.h2d.count() / n, .kernel = t.kernel.count() / n, .out = t.d2h.count() / n},
                           device);
}

std::vector<StageTimes> random_times() {
  by_hand::Random random(11);
  std::vector<StageTimes> times;
  while (times.size() < 400) {
    const auto time = [&] { return Seconds{random.power_of_two(-6, 3)}; };
    times.push_back({time(), time(), time()});
  }
  return times;
}

TEST(OverlapBound, is_never_exceeded_and_always_approached) {
  for (const DeviceKind& kind : device_kinds)
    for (const StageTimes& t : random_times()) {
      const double bound = overlap_bound(t, kind.category);
      for (const std::uint32_t n : {1u, 2u, 5u, 32u})
        ASSERT_LE(simulated_speedup(t, n, kind.device), bound * (1 + 1e-12));
      ASSERT_NEAR(simulated_speedup(t, 8192, kind.device) / bound, 1, 2.0 / 8192);
    }
}

TEST(OverlapBound, is_3_with_two_engines_and_2_with_one) {
  const auto bound = [](double h2d, double kernel, double d2h, Category category) {
    return overlap_bound({Seconds{h2d}, Seconds{kernel}, Seconds{d2h}}, category);
  };
  EXPECT_DOUBLE_EQ(bound(1, 1, 1, Category::two_engines), 3);
  EXPECT_DOUBLE_EQ(bound(1, 2, 1, Category::one_engine), 2);
  EXPECT_DOUBLE_EQ(bound(1, 1, 0, Category::implicit_sync_one_engine), 2);
  // Copies both ways of the same length as the kernel on one engine: 1.5, not 3.
  EXPECT_DOUBLE_EQ(bound(1, 1, 1, Category::one_engine), 1.5);
  for (const DeviceKind& kind : device_kinds)
    for (const StageTimes& t : random_times()) ASSERT_LE(overlap_bound(t, kind.category), kind.most);
}

TEST(OverlapBound, of_2_is_exceeded_by_ordinary_chunks_on_two_engines) {
  // What is called the optimum is passed with 8 chunks of a balanced job: 3n/(n + 2) = 2.4.
  EXPECT_NEAR(simulated_speedup({Seconds{1}, Seconds{1}, Seconds{1}}, 8, {.copy_engines = 2}), 2.4, 1e-12);
}

TEST(OverlapBound, falls_when_the_kernel_dominates_even_though_nothing_is_exhausted) {
  // Copies of 1 and 1; the longer the kernel, the less there is to hide: (2 + t)/t.
  for (const double kernel : {1.0, 2.0, 4.0, 8.0})
    EXPECT_DOUBLE_EQ(overlap_bound({Seconds{1}, Seconds{kernel}, Seconds{1}}, Category::two_engines),
                     (2 + kernel) / kernel);
}

TEST(OverlapBound, of_a_job_that_takes_no_time_or_has_one_stage_is_1) {
  for (const DeviceKind& kind : device_kinds) {
    EXPECT_EQ(overlap_bound({}, kind.category), 1);
    EXPECT_EQ(overlap_bound({.kernel = Seconds{5}}, kind.category), 1);
    EXPECT_EQ(overlap_bound({.h2d = Seconds{5}}, kind.category), 1);
  }
}

}  // namespace
}  // namespace shiplap
