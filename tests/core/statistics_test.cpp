#include "shiplap/core/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

std::vector<double> one_to(std::size_t n) {
  std::vector<double> result;
  for (std::size_t i = 1; i <= n; ++i) result.push_back(static_cast<double>(i));
  return result;
}

TEST(Statistics, mean_and_standard_deviation_of_a_hand_worked_sample) {
  const std::vector<double> samples{2, 4, 4, 4, 5, 5, 7, 9};  // squares about 5 sum to 32
  EXPECT_DOUBLE_EQ(mean(samples), 5);
  EXPECT_DOUBLE_EQ(standard_deviation(samples), std::sqrt(32.0 / 7));
  EXPECT_EQ(standard_deviation(std::vector<double>{3}), 0);
}

TEST(Statistics, quantiles_are_linear_between_order_statistics) {
  const std::vector<double> samples{40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 40);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 17.5);  // a quarter of three steps: 0.75 from 10 to 20
  EXPECT_DOUBLE_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(Statistics, nothing_is_said_of_no_samples_or_of_nan) {
  const std::vector<double> none;
  EXPECT_THROW(mean(none), Error);
  EXPECT_THROW(standard_deviation(none), Error);
  EXPECT_THROW(median(none), Error);
  EXPECT_THROW(quantile(none, 0.5), Error);
  EXPECT_THROW(median_estimate(none), Error);
  EXPECT_THROW(median_standard_error(none), Error);
  EXPECT_THROW(relative_spread(none), Error);
  EXPECT_THROW(median(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN(), 2}), Error);
  EXPECT_THROW(quantile(one_to(3), 1.5), Error);
  EXPECT_THROW(quantile(one_to(3), std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST(Statistics, median_interval_has_the_ranks_of_published_tables) {
  // Ranks of the distribution-free 95 % interval of a median, as tabulated for the sign test.
  const struct {
    std::size_t n, low, high;
  } rows[] = {{6, 1, 6}, {9, 2, 8}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}, {25, 8, 18}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& row : rows) {
    const Estimate estimate = median_estimate(one_to(row.n));
    EXPECT_EQ(estimate.low, row.low) << row.n;
    EXPECT_EQ(estimate.high, row.high) << row.n;
    EXPECT_DOUBLE_EQ(estimate.value, static_cast<double>(row.n + 1) / 2);
  }
}

TEST(Statistics, median_interval_is_the_narrowest_that_covers_by_exact_binomial_counts) {
  for (std::uint64_t n = 6; n <= 60; ++n) {
    // Whole numbers: sums of C(n, j) against 2^n / 40.
    std::uint64_t coefficient = 1;
    std::uint64_t sum = 0;
    std::uint64_t k = 0;
    for (std::uint64_t j = 0; j <= n; ++j) {
      sum += coefficient;
      if (static_cast<long double>(sum) * 40 > std::ldexp(1.0L, static_cast<int>(n))) break;
      k = j + 1;
      coefficient = coefficient * (n - j) / (j + 1);
    }
    EXPECT_EQ(median_estimate(one_to(n)).low, static_cast<double>(k)) << n;
  }
}

TEST(Statistics, median_interval_below_six_samples_is_the_whole_range) {
  for (std::size_t n = 1; n < 6; ++n) {
    const Estimate estimate = median_estimate(one_to(n));
    EXPECT_EQ(estimate.low, 1);
    EXPECT_EQ(estimate.high, static_cast<double>(n));
  }
}

TEST(Statistics, median_interval_of_many_samples_follows_the_normal_approximation) {
  const std::size_t n = 1'000'000;
  const Estimate estimate = median_estimate(one_to(n));
  EXPECT_NEAR(estimate.low, n / 2.0 - 1.959964 * std::sqrt(n) / 2, 1.5);
  EXPECT_NEAR(estimate.high, n / 2.0 + 1.959964 * std::sqrt(n) / 2, 1.5);
}

TEST(Statistics, median_interval_covers_the_true_median_of_a_skewed_distribution) {
  std::mt19937_64 random(20240101);
  std::exponential_distribution<double> draw(1.0);
  const double truth = std::numbers::ln2;
  for (const std::size_t n : {7u, 21u, 100u}) {
    const int trials = 4000;
    int covered = 0;
    for (int t = 0; t < trials; ++t) {
      std::vector<double> samples(n);
      for (double& x : samples) x = draw(random);
      const Estimate estimate = median_estimate(samples);
      covered += estimate.low <= truth && truth <= estimate.high;
    }
    // At least 95 % less three standard errors of 4000 trials (0.35 % each).
    EXPECT_GE(covered, static_cast<int>(0.94 * trials)) << n;
  }
}

TEST(Statistics, standard_error_of_the_median_is_the_half_width_over_1_96) {
  EXPECT_DOUBLE_EQ(median_standard_error(one_to(100)), (61 - 40) / 2.0 / 1.96);
}

TEST(Statistics, robust_deviation_is_that_of_normal_samples_and_ignores_outliers) {
  // Half of normally distributed samples are within 0.6745 = 1 / 1.4826 standard deviations of the mean.
  EXPECT_NEAR(robust_deviation(std::vector{8.0, 9.0, 10.0, 11.0, 12.0}), 1.4826, 1e-12);
  EXPECT_NEAR(robust_deviation(std::vector{8.0, 9.0, 10.0, 11.0, 1e9}), 1.4826, 1e-12);
  EXPECT_EQ(robust_deviation(std::vector{3.0}), 0);
}

TEST(Statistics, relative_spread_is_the_width_of_the_middle_nine_tenths) {
  EXPECT_DOUBLE_EQ(relative_spread(one_to(101)), 90.0 / 51);  // 6 … 96 about 51
  EXPECT_EQ(relative_spread(std::vector<double>{0, 0, 0}), 0);
}

TEST(Statistics, line_through_anscombes_first_set_has_the_published_coefficients_and_errors) {
  const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
  const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
  std::vector<LinePoint> points;
  for (std::size_t i = 0; i < 11; ++i) points.push_back({.x = x[i], .y = y[i], .sigma = 7});
  const LineFit fit = fit_line(points);
  EXPECT_NEAR(fit.intercept.value, 3.0001, 5e-5);
  EXPECT_NEAR(fit.slope.value, 0.5001, 5e-5);
  // Published standard errors 1.1247 and 0.1179; t(9) = 2.2622. Equal sigmas must not matter.
  EXPECT_NEAR(fit.intercept.high - fit.intercept.value, 2.2622 * 1.1247, 3e-4);
  EXPECT_NEAR(fit.slope.high - fit.slope.value, 2.2622 * 0.1179, 2e-4);
  EXPECT_NEAR(fit.slope.value - fit.slope.low, fit.slope.high - fit.slope.value, 1e-12);
  // Worst: x = 7, y = 4.82 against 3.0001 + 0.5001 · 7 = 6.5008.
  EXPECT_NEAR(fit.worst_relative_residual, (6.5008 - 4.82) / 4.82, 1e-4);
}

TEST(Statistics, a_point_of_half_the_sigma_counts_like_four_points) {
  const std::vector<LinePoint> weighted{{0, 1, 1}, {1, 4, 0.5}, {2, 5, 1}};
  const std::vector<LinePoint> repeated{{0, 1, 1}, {1, 4, 1}, {1, 4, 1}, {1, 4, 1}, {1, 4, 1}, {2, 5, 1}};
  const LineFit a = fit_line(weighted);
  const LineFit b = fit_line(repeated);
  EXPECT_NEAR(a.slope.value, b.slope.value, 1e-14);
  EXPECT_NEAR(a.intercept.value, b.intercept.value, 1e-14);
  // By hand: x mean 1, y mean (1 + 16 + 5) / 6, slope (1·(5 − y) − 1·(1 − y)) / 2.
  EXPECT_DOUBLE_EQ(a.slope.value, 2);
  EXPECT_NEAR(a.intercept.value, 22.0 / 6 - 2, 1e-14);
}

TEST(Statistics, two_points_give_the_line_through_both_with_intervals_from_their_sigmas) {
  const LineFit fit = fit_line(std::vector<LinePoint>{{1, 10, 0.3}, {3, 14, 0.4}});
  EXPECT_DOUBLE_EQ(fit.slope.value, 2);
  EXPECT_DOUBLE_EQ(fit.intercept.value, 8);
  // slope = (y2 − y1) / 2; intercept = 1.5·y1 − 0.5·y2.
  EXPECT_NEAR(fit.slope.high - 2, 1.959964 * std::hypot(0.3, 0.4) / 2, 1e-6);
  EXPECT_NEAR(8 - fit.intercept.low, 1.959964 * std::hypot(1.5 * 0.3, 0.5 * 0.4), 1e-6);
  EXPECT_NEAR(fit.worst_relative_residual, 0, 1e-15);
}

TEST(Statistics, points_on_a_line_give_it_back_over_nine_decades) {
  std::vector<LinePoint> points;
  for (double bytes = 1; bytes <= 1e9; bytes *= 10)
    points.push_back({.x = bytes, .y = 4.6e-6 + bytes * 1.8e-11, .sigma = 0.01 * (4.6e-6 + bytes * 1.8e-11)});
  const LineFit fit = fit_line(points);
  EXPECT_NEAR(fit.intercept.value / 4.6e-6, 1, 1e-9);
  EXPECT_NEAR(fit.slope.value / 1.8e-11, 1, 1e-9);
  EXPECT_LT(fit.worst_relative_residual, 1e-9);
}

TEST(Statistics, line_intervals_cover_the_truth_at_their_level) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  const int trials = 4000;
  int slope = 0;
  int intercept = 0;
  for (int t = 0; t < trials; ++t) {
    std::vector<LinePoint> points;
    for (int i = 0; i < 6; ++i) {
      const double sigma = 0.5 + 0.25 * i;
      points.push_back({.x = 1.0 * i, .y = 3 + 2 * i + 0.1 * sigma * noise(random), .sigma = sigma});
    }
    const LineFit fit = fit_line(points);
    slope += fit.slope.low <= 2 && 2 <= fit.slope.high;
    intercept += fit.intercept.low <= 3 && 3 <= fit.intercept.high;
  }
  EXPECT_NEAR(slope / double{trials}, 0.95, 0.012);
  EXPECT_NEAR(intercept / double{trials}, 0.95, 0.012);
}

TEST(Statistics, a_line_needs_two_different_x_and_positive_sigmas) {
  EXPECT_THROW(fit_line({}), Error);
  EXPECT_THROW(fit_line(std::vector<LinePoint>{{1, 2, 1}}), Error);
  EXPECT_THROW(fit_line(std::vector<LinePoint>{{1, 2, 1}, {1, 3, 1}}), Error);
  EXPECT_THROW(fit_line(std::vector<LinePoint>{{1, 2, 0}, {2, 3, 1}}), Error);
  EXPECT_THROW(fit_line(std::vector<LinePoint>{{1, 2, 1}, {2, std::nan(""), 1}}), Error);
}

// P(T ≤ t) of Student's t by Simpson's rule on its density, with x = √ν·tan θ so that the range is finite.
double student_cdf(double t, double degrees) {
  const auto density = [degrees](double theta) { return std::pow(std::cos(theta), degrees - 1); };
  const auto integral = [&density](double to) {
    const int steps = 20000;
    double sum = density(0) + density(to);
    for (int i = 1; i < steps; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(to * i / steps);
    return sum * to / steps / 3;
  };
  return 0.5 + 0.5 * integral(std::atan(t / std::sqrt(degrees))) / integral(std::numbers::pi / 2);
}

TEST(Statistics, students_t_agrees_with_its_density) {
  for (const std::size_t degrees :
       {1u,  2u,  3u,  4u,  5u,  6u,  7u,  8u,  9u,  10u, 11u, 12u, 13u, 14u, 15u, 16u, 17u,  18u,  19u,  20u,
        21u, 22u, 23u, 24u, 25u, 26u, 27u, 28u, 29u, 30u, 31u, 35u, 40u, 50u, 60u, 90u, 120u, 300u, 5000u}) {
    // The quantile is between the points where the distribution function is 97.5 % less and more a little.
    const double t = student_t_975(degrees);
    const auto d = static_cast<double>(degrees);
    EXPECT_LT(student_cdf(t - 2e-4, d), 0.975) << degrees;
    EXPECT_GT(student_cdf(t + 2e-4, d), 0.975) << degrees;
  }
  EXPECT_THROW(student_t_975(0), Error);
}

}  // namespace
}  // namespace shiplap
