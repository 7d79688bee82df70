#include "shiplap/sim/fair_rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace shiplap::sim {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

/// The same rates by small steps: in each step, every rate that has not stopped yet rises by `step`.
std::vector<double> by_filling(const std::vector<double>& limits, const std::vector<Capacity>& capacities,
                               double step) {
  std::vector<double> rates(limits.size(), 0);
  std::vector<bool> is_stopped(limits.size(), false);
  while (std::ranges::find(is_stopped, false) != is_stopped.end()) {
    for (std::size_t i = 0; i < rates.size(); ++i)
      if (!is_stopped[i]) rates[i] += step;
    for (std::size_t i = 0; i < rates.size(); ++i) is_stopped[i] = is_stopped[i] || rates[i] >= limits[i];
    for (const Capacity& capacity : capacities) {
      double sum = 0;
      for (const std::size_t user : capacity.users) sum += rates[user];
      if (sum >= capacity.rate)
        for (const std::size_t user : capacity.users) is_stopped[user] = true;
    }
  }
  return rates;
}

struct Case {
  std::vector<double> limits;
  std::vector<Capacity> capacities;
};

Case random_case(std::mt19937& random) {
  Case made;
  std::uniform_int_distribution<std::size_t> transfers(1, 8), shared(0, 4);
  std::uniform_real_distribution<double> rate(1, 100);
  std::bernoulli_distribution uses(0.5);
  made.limits.resize(transfers(random));
  for (double& limit : made.limits) limit = rate(random);
  made.capacities.resize(shared(random));
  for (Capacity& capacity : made.capacities) {
    capacity.rate = rate(random);
    for (std::size_t i = 0; i < made.limits.size(); ++i)
      if (uses(random)) capacity.users.push_back(i);
  }
  return made;
}

TEST(FairRates, are_those_of_rates_that_rise_together_for_ten_thousand_random_sets) {
  std::mt19937 random(60);
  for (int i = 0; i < 10'000; ++i) {
    const Case made = random_case(random);
    const std::vector<double> rates = fair_rates(made.limits, made.capacities);
    constexpr double step = 0.05;
    const std::vector<double> expected = by_filling(made.limits, made.capacities, step);
    // Every step is too long by one at most, for each transfer that shares a capacity.
    for (std::size_t k = 0; k < rates.size(); ++k)
      ASSERT_NEAR(rates[k], expected[k], step * 60) << "set " << i << ", transfer " << k;
  }
}

TEST(FairRates, use_no_capacity_beyond_its_rate_and_leave_no_transfer_below_its_limit_without_a_full_one) {
  std::mt19937 random(61);
  for (int i = 0; i < 10'000; ++i) {
    const Case made = random_case(random);
    const std::vector<double> rates = fair_rates(made.limits, made.capacities);
    const auto used = [&](const Capacity& capacity) {
      double sum = 0;
      for (const std::size_t user : capacity.users) sum += rates[user];
      return sum;
    };
    for (const Capacity& capacity : made.capacities) ASSERT_LE(used(capacity), capacity.rate * (1 + 1e-12) + 1e-12);
    for (std::size_t k = 0; k < rates.size(); ++k) {
      ASSERT_LE(rates[k], made.limits[k]);
      if (rates[k] == made.limits[k]) continue;
      // A full capacity in which no other has more: the mark of max-min fair rates, which no other rates have.
      const bool is_held = std::ranges::any_of(made.capacities, [&](const Capacity& capacity) {
        return std::ranges::find(capacity.users, k) != capacity.users.end() &&
               used(capacity) > capacity.rate * (1 - 1e-9) &&
               std::ranges::all_of(capacity.users,
                                   [&](std::size_t user) { return rates[user] <= rates[k] * (1 + 1e-9); });
      });
      ASSERT_TRUE(is_held) << "set " << i << ", transfer " << k;
    }
  }
}

TEST(FairRates, of_one_transfer_are_its_limit_and_of_a_pair_behind_one_uplink_half_of_it) {
  EXPECT_THAT(fair_rates(std::vector{55.0}, std::vector<Capacity>{{165, {0}}}), ElementsAre(55.0));
  EXPECT_THAT(fair_rates(std::vector{55.0, 55.0, 55.0}, std::vector<Capacity>{{60, {0, 1}}, {165, {0, 1, 2}}}),
              ElementsAre(DoubleEq(30), DoubleEq(30), DoubleEq(55)));
  // The slow one leaves more to the other.
  EXPECT_THAT(fair_rates(std::vector{10.0, 55.0}, std::vector<Capacity>{{60, {0, 1}}}),
              ElementsAre(10.0, DoubleEq(50)));
  EXPECT_THAT(fair_rates(std::vector<double>{}, std::vector<Capacity>{{60, {}}}), ElementsAre());
}

}  // namespace
}  // namespace shiplap::sim
