#include "shiplap/profile/quantity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace shiplap {
namespace {

TEST(NumberFor, gives_the_value_back_exactly_or_off_by_one_unit_in_the_last_place) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-12, 3);
  for (const double scale : {1e-6, 1e-9, 1e9, 1.0}) {
    int inexact = 0;
    constexpr int tries = 5000;
    for (int i = 0; i < tries; ++i) {
      const double value = std::pow(10, exponent(random)) * scale;
      const double back = number_for(value, scale) * scale;
      if (back == value) continue;
      ++inexact;
      ASSERT_LE(std::abs(back - value), value * std::numeric_limits<double>::epsilon()) << value;
      ASSERT_EQ(number_for(back, scale) * scale, back) << value;
    }
    EXPECT_LT(inexact, tries / 5) << scale;
  }
}

TEST(NumberFor, writes_short_numbers_shortly) {
  EXPECT_EQ(number_for(microseconds(4.6).count(), 1e-6), 4.6);
  EXPECT_EQ(number_for(microseconds(0.1 + 0.2).count(), 1e-6) * 1e-6, (0.1 + 0.2) * 1e-6);
  EXPECT_EQ(number_for(4.3e12, 1e9), 4300);
  EXPECT_EQ(number_for(0, 1e-6), 0);
}

}  // namespace
}  // namespace shiplap
