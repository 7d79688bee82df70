#include "shiplap/plan/probability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace shiplap {
namespace {

Interval<Seconds> ms(double value, double low, double high) {
  return {milliseconds(value), milliseconds(low), milliseconds(high)};
}

TEST(ProbabilityOfLeast, is_shared_by_equals_and_adds_up_to_one) {
  for (const double width : {0.0, 0.001, 1.0, 9.0}) {
    const std::vector<Interval<Seconds>> three(3, ms(10, 10 - width, 10 + width));
    for (const double p : probability_of_least(three)) EXPECT_NEAR(p, 1 / 3.0, 1e-9) << width;
  }
}

TEST(ProbabilityOfLeast, is_certain_where_ranges_lie_far_apart) {
  const std::vector times{ms(30, 29, 31), ms(10, 9.9, 10.1), ms(20, 19, 21)};
  const auto p = probability_of_least(times);
  EXPECT_NEAR(p[1], 1, 1e-6);
  EXPECT_NEAR(p[0] + p[2], 0, 1e-6);
  const std::vector exact{ms(2, 2, 2), ms(1, 1, 1)};
  EXPECT_NEAR(probability_of_least(exact)[1], 1, 1e-12);
  EXPECT_EQ(probability_of_least(std::vector{ms(5, 4, 6)}), std::vector<double>{1});
}

TEST(ProbabilityOfLeast, is_that_of_the_difference_of_two_normals) {
  // Deviations 0.5 and 1.2 ms, 0.65 ms apart: Phi(0.65 / 1.3) = Phi(0.5).
  constexpr double nine_in_ten = 1.6448536269514722;
  const std::vector times{ms(10, 10 - 0.5 * nine_in_ten, 10 + 0.5 * nine_in_ten),
                          ms(10.65, 10.65 - 1.2 * nine_in_ten, 10.65 + 1.2 * nine_in_ten)};
  EXPECT_NEAR(probability_of_least(times)[0], 0.6914624612740131, 1e-3);
}

TEST(ProbabilityOfLeast, agrees_with_a_million_draws_from_uneven_ranges) {
  const std::vector times{ms(10, 9.5, 12), ms(10.4, 9, 10.6), ms(11, 8, 13), ms(10.1, 10.05, 10.2)};
  std::vector<double> wins(times.size());
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  constexpr int draws = 1'000'000;
  for (int d = 0; d < draws; ++d) {
    std::size_t best = 0;
    double least = HUGE_VAL;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double z = normal(random) / 1.6448536269514722;
      const double side = (z < 0 ? times[i].value - times[i].low : times[i].high - times[i].value).count();
      const double time = times[i].value.count() + z * side;
      if (time < least) {
        least = time;
        best = i;
      }
    }
    ++wins[best];
  }
  const auto p = probability_of_least(times);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(p[i], wins[i] / draws, 0.004) << i;
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
}

}  // namespace
}  // namespace shiplap
