#include "shiplap/plan/link_states.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace shiplap {
namespace {

/// The least time of a job by the dual of its linear program: prices of bytes in each direction with which no state
/// earns more than 1 a second, and which make the job's bytes as dear as can be. The result is slightly too small: only
/// some ratios between the two prices are tried.
double least_time_by_prices(const LinkBytes& bytes, const std::vector<LinkState>& states) {
  constexpr int ratios = 20'000;
  double dearest = 0;
  for (int i = 0; i <= ratios; ++i) {
    const double angle = std::numbers::pi / 2 * i / ratios;
    const double in = std::cos(angle), out = std::sin(angle);
    double most = 0;
    for (const LinkState& state : states) most = std::max(most, in * state.in + out * state.out);
    dearest = std::max(dearest, (in * bytes.in + out * bytes.out) / most);
  }
  return dearest;
}

TEST(LeastTime, is_that_of_the_best_mixture_of_states) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<LinkState> states(1 + random() % 30);
    for (LinkState& state : states) state = {50e9 * part(random), 50e9 * part(random)};
    if (round % 3 == 0) states.push_back(states.front());  // twice
    if (round % 5 == 0) states.push_back({50e9, 0});
    const LinkBytes bytes{.in = 1e9 * part(random), .out = 1e9 * part(random)};
    const double expected = least_time_by_prices(bytes, states);
    EXPECT_NEAR(least_time(bytes, states).count(), expected, 1e-4 * expected) << "round " << round;
  }
}

TEST(LeastTime, of_one_direction_is_that_of_the_fastest_state) {
  const std::vector<LinkState> states{{10e9, 40e9}, {50e9, 0}, {30e9, 30e9}};
  EXPECT_DOUBLE_EQ(least_time({.in = 1e9}, states).count(), 1e9 / 50e9);
  EXPECT_DOUBLE_EQ(least_time({.out = 1e9}, states).count(), 1e9 / 40e9);
  EXPECT_EQ(least_time({}, states), Seconds{0});
}

}  // namespace
}  // namespace shiplap
