#include "shiplap/measure/uncertain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

TEST(Uncertain, adds_independent_errors_in_squares) {
  ErrorSources sources;
  const Uncertain a = sources.add(10, 3);
  const Uncertain b = sources.add(20, 4);
  EXPECT_DOUBLE_EQ((a + b).value(), 30);
  EXPECT_DOUBLE_EQ((a + b).sigma(), 5);
  EXPECT_DOUBLE_EQ((a - b).sigma(), 5);
  EXPECT_DOUBLE_EQ((2 * a).sigma(), 6);
}

TEST(Uncertain, cancels_an_error_that_both_sides_share) {
  ErrorSources sources;
  const Uncertain a = sources.add(10, 3);
  const Uncertain b = a + sources.add(1, 0.5);
  EXPECT_DOUBLE_EQ((b - a).value(), 1);
  EXPECT_DOUBLE_EQ((b - a).sigma(), 0.5);
}

TEST(Uncertain, has_an_interval_of_1_96_sigma) {
  ErrorSources sources;
  const Estimate estimate = sources.add(10, 1).estimate();
  EXPECT_NEAR(estimate.low, 8.04, 1e-3);
  EXPECT_NEAR(estimate.high, 11.96, 1e-3);
}

TEST(LeastSquares, finds_intercept_and_slope_of_an_exact_line) {
  ErrorSources sources;
  std::vector<Equation> equations;
  for (const double x : {1e6, 2e6, 8e6}) equations.push_back({{1, x}, sources.add(5e-6 + 2e-11 * x, 1e-8)});
  const Solution solution = least_squares(equations, sources);
  EXPECT_NEAR(solution.unknowns[0].value(), 5e-6, 1e-15);
  EXPECT_NEAR(solution.unknowns[1].value(), 2e-11, 1e-20);
}

TEST(LeastSquares, propagates_errors_through_two_points_like_a_difference_quotient) {
  ErrorSources sources;
  const std::vector<Equation> equations{{{1, 10}, sources.add(100, 3)}, {{1, 20}, sources.add(200, 4)}};
  const Solution solution = least_squares(equations, sources);
  EXPECT_NEAR(solution.unknowns[1].value(), 10, 1e-9);
  EXPECT_NEAR(solution.unknowns[1].sigma(), 0.5, 1e-9) << "√(3² + 4²) / 10";
}

TEST(LeastSquares, widens_the_unknowns_when_the_points_scatter_more_than_their_errors) {
  ErrorSources sources;
  // The mean of 99, 101, 99, 101 with errors of 0.1: χ² is 400 for 3 degrees of freedom.
  std::vector<Equation> equations;
  for (const double y : {99., 101., 99., 101.}) equations.push_back({{1}, sources.add(y, 0.1)});
  const Solution solution = least_squares(equations, sources);
  EXPECT_NEAR(solution.unknowns[0].value(), 100, 0.02) << "larger values weigh a little less";
  EXPECT_NEAR(solution.unknowns[0].sigma(), 0.05 * std::sqrt(400.0 / 3), 1e-3);
}

TEST(LeastSquares, refuses_equations_that_do_not_tell_the_unknowns_apart) {
  ErrorSources sources;
  const std::vector<Equation> same_size{{{1, 10}, sources.add(100, 1)}, {{1, 10}, sources.add(101, 1)}};
  EXPECT_THROW(least_squares(same_size, sources), Error);
  const std::vector<Equation> absent{{{1, 0}, sources.add(100, 1)}};
  EXPECT_THROW(least_squares(absent, sources), Error);
}

}  // namespace
}  // namespace shiplap
