#include "shiplap/plan/change.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace shiplap {
namespace {

/// Normal, the same in every run and library.
class NoiseOfSpans {
 public:
  explicit NoiseOfSpans(double deviation) : deviation_(deviation) {}
  double operator()() {
    const auto uniform = [&] { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return deviation_ * radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  double deviation_;
  std::mt19937_64 bits_{7};
};

TEST(ChangeTest, takes_two_large_residuals_for_a_change_and_small_ones_never) {
  ChangeTest test(0.03);
  EXPECT_FALSE(test.add(0.01));
  EXPECT_FALSE(test.add(0.5));
  EXPECT_TRUE(test.suspects());
  const auto change = test.add(0.5);
  ASSERT_TRUE(change);
  EXPECT_DOUBLE_EQ(*change, 0.5);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(test.add(i % 2 == 0 ? 0.02 : -0.02)) << i;
  EXPECT_FALSE(test.suspects());
}

TEST(ChangeTest, takes_no_outlier_below_a_factor_of_two_for_a_change) {
  ChangeTest test(0.03);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(test.add(i % 50 == 49 ? 0.65 : 0)) << i;
  EXPECT_TRUE(test.add(0.75));
}

TEST(ChangeTest, gets_used_to_residuals_that_jump_to_and_fro) {
  // Kernels that take a quarter less in one of five batches.
  ChangeTest test(0.03);
  std::mt19937_64 bits(3);
  double taken_for_now = 0;
  int alarms = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool is_short = bits() % 5 == 0;
    if (const auto change = test.add((is_short ? -0.3 : 0) - taken_for_now)) {
      taken_for_now += *change;
      ++alarms;
    }
  }
  EXPECT_LE(alarms, 20);
}

TEST(ChangeTest, does_not_take_an_outlier_for_the_size_of_the_change_behind_it) {
  ChangeTest test(0.03);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(test.add(0));
  EXPECT_FALSE(test.add(0.65));
  const auto change = test.add(0.04);
  ASSERT_TRUE(change);
  EXPECT_DOUBLE_EQ(*change, 0.04);
}

TEST(ChangeTest, of_a_small_change_takes_as_many_residuals_as_it_needs_and_gives_their_median) {
  ChangeTest test(0.03);
  // Each adds 0.8 % to the sum, which has to exceed 3 %.
  EXPECT_FALSE(test.add(-0.038));
  EXPECT_FALSE(test.suspects());
  EXPECT_FALSE(test.add(-0.038));
  EXPECT_TRUE(test.suspects()) << "half of it is there";
  EXPECT_FALSE(test.add(-0.038));
  const auto change = test.add(-0.04);
  ASSERT_TRUE(change);
  EXPECT_DOUBLE_EQ(*change, -0.038);
  EXPECT_FALSE(test.suspects()) << "it begins anew";
}

TEST(ChangeTest, forgets_what_added_up_before_the_residuals_went_the_other_way) {
  ChangeTest test(0.03);
  EXPECT_FALSE(test.add(0.035));
  EXPECT_FALSE(test.add(-0.001));
  EXPECT_FALSE(test.add(0.2));
  const auto change = test.add(0.2);
  ASSERT_TRUE(change);
  EXPECT_DOUBLE_EQ(*change, 0.2) << "those since the sum was 0";
}

TEST(ChangeTest, of_noise_three_times_the_tolerance_raises_few_alarms_and_finds_what_exceeds_it) {
  ChangeTest test(0.01);
  NoiseOfSpans noise(0.03);
  int alarms = 0;
  for (int i = 0; i < 2000; ++i) alarms += test.add(noise()).has_value();
  // The first ones come before the noise is known.
  EXPECT_LE(alarms, 12);
  int until = 0;
  while (!test.add(0.1 + noise()) && until < 100) ++until;
  EXPECT_LE(until, 8);
}

}  // namespace
}  // namespace shiplap
