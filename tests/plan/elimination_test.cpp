// Sequential elimination, on times whose distribution is known.
#include "shiplap/plan/elimination.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/core/interval.hpp"

namespace shiplap {
namespace {

/// Normal noise by the sum of twelve uniform numbers, which is the same everywhere.
class NormalNoise {
 public:
  explicit NormalNoise(unsigned seed) : engine_(seed) {}
  double operator()() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(engine_() >> 11) * 0x1p-53;
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

/// Candidates of these true times, each run off by `spread`, and all of a round by a common 10 %.
Elimination raced(const std::vector<double>& times, double spread, unsigned seed,
                  const EliminationOptions& options = {}) {
  NormalNoise noise(seed);
  Elimination elimination(times.size(), options);
  while (!elimination.decided()) {
    const double common = 1 + 0.1 * noise();
    for (const std::size_t c : elimination.round())
      elimination.observe(c, Seconds{times[c] * common * (1 + spread * noise())});
    elimination.end_round();
  }
  return elimination;
}

TEST(Elimination, finds_the_fastest_through_noise_that_all_of_a_round_share) {
  unsigned right = 0;
  for (unsigned seed = 0; seed < 200; ++seed) right += raced({1.03, 1.00, 1.06, 1.5}, 0.01, seed).winner() == 1 ? 1 : 0;
  EXPECT_GE(right, 195u);
}

TEST(Elimination, asks_two_rounds_of_what_is_far_behind_and_more_of_what_is_close) {
  const Elimination e = raced({1.0, 1.02, 3.0}, 0.005, 7);
  EXPECT_EQ(e.seconds(2).size(), 2u);
  EXPECT_GT(e.seconds(1).size(), 2u);
  EXPECT_FALSE(e.is_left(1));
  EXPECT_FALSE(e.is_left(2));
}

TEST(Elimination, seldom_drops_the_fastest) {
  unsigned dropped = 0;
  for (unsigned seed = 0; seed < 300; ++seed)
    dropped += raced({1.0, 1.004, 1.004, 1.004}, 0.02, seed, {.most_rounds = 40}).is_left(0) ? 0 : 1;
  EXPECT_LE(dropped, 60u) << "0.4 % is little to tell apart by runs that differ by 2 %";
}

TEST(Elimination, of_equals_takes_the_first_and_stops_when_they_are_known_to_be_equal) {
  const Elimination e = raced({1.0, 1.0}, 0.0005, 3);
  EXPECT_EQ(e.winner(), 0u);
  EXPECT_LT(e.rounds(), 100u);
}

TEST(Elimination, runs_whoever_is_left_once_a_round_in_another_order_each) {
  Elimination e(3);
  EXPECT_EQ(e.round(), (std::vector<std::size_t>{0, 1, 2}));
  for (const std::size_t c : e.round()) e.observe(c, Seconds{1});
  e.end_round();
  const std::vector<std::size_t> second = e.round();
  EXPECT_NE(second, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(std::accumulate(second.begin(), second.end(), std::size_t{0}), 3u);
}

TEST(Elimination, is_not_misled_by_one_round_in_which_a_candidate_was_held_up) {
  const std::vector<double> held_up{1.0, 1.0, 1.0, 9.0, 1.0, 1.0};
  const std::vector<double> other{1.1, 1.1, 1.1, 1.1, 1.1, 1.1};
  EXPECT_FALSE(compare_times(held_up, other, {}).surely);
  EXPECT_NEAR(compare_times(held_up, other, {}).slower, 1 / 1.1 - 1, 1e-12);
}

TEST(Elimination, needs_somebody_to_choose_from) { EXPECT_THROW(Elimination(0), Error); }

}  // namespace
}  // namespace shiplap
