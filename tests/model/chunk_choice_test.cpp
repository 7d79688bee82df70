#include "shiplap/model/chunk_choice.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// falling/n + rising·n, in seconds.
TimeOfChunks hyperbola(double falling, double rising) {
  return [=](std::uint32_t n) { return Seconds{falling / n + rising * n}; };
}

TEST(Divisors, are_all_and_in_order) {
  EXPECT_THAT(divisors(42), ElementsAre(1, 2, 3, 6, 7, 14, 21, 42));
  EXPECT_THAT(divisors(36), ElementsAre(1, 2, 3, 4, 6, 9, 12, 18, 36));
  EXPECT_THAT(divisors(1), ElementsAre(1));
  EXPECT_THAT(divisors(97), ElementsAre(1, 97));
  // 15 Mi elements: the numbers of streams between 2 and 64 that Gómez-Luna et al. use.
  EXPECT_THAT(divisors(15 << 20, 64), ElementsAre(1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 32, 40, 48, 60, 64));
  // More items than chunks can be counted.
  EXPECT_THAT(divisors(std::uint64_t{1} << 40).size(), 32u);
  EXPECT_THROW(divisors(0), UsageError);
}

TEST(Divisors, agree_with_trying_every_number) {
  for (std::uint32_t items = 1; items <= 500; ++items) {
    std::vector<std::uint32_t> tried;
    for (std::uint32_t d = 1; d <= items; ++d)
      if (items % d == 0) tried.push_back(d);
    ASSERT_EQ(divisors(items), tried);
  }
}

TEST(BestDivisor, is_the_least_among_divisors_even_where_a_nearer_one_looks_better) {
  // Least at 10 over the real numbers; 7 is nearer, but costs 14.29 + 7, and 14 only 7.14 + 14.
  const auto time = hyperbola(100, 1);
  EXPECT_EQ(best_divisor(42, time), 14u);
  EXPECT_EQ(best_divisor(42, time, 13), 7u);
  EXPECT_EQ(best_divisor(42, time, 0), 1u);
}

TEST(BestDivisor, takes_the_smaller_of_equals) {
  EXPECT_EQ(best_divisor(42, hyperbola(42, 1)), 6u);  // 6 and 7: both 13
  EXPECT_EQ(best_divisor(42, [](std::uint32_t) { return Seconds{1}; }), 1u);
}

TEST(BestIntegerNear, is_the_integer_that_trying_all_finds_and_not_the_rounded_optimum) {
  unsigned differs = 0;
  for (int i = 1; i <= 2000; ++i) {
    const double falling = 0.37 * i;
    const auto time = hyperbola(falling, 1);
    std::uint32_t best = 1;
    for (std::uint32_t n = 2; n <= 64; ++n)
      if (time(n) < time(best)) best = n;
    const double optimum = std::sqrt(falling);
    ASSERT_EQ(best_integer_near(optimum, time, 64), best) << optimum;
    if (static_cast<std::uint32_t>(std::lround(std::max(1.0, optimum))) != best) ++differs;
  }
  EXPECT_GT(differs, 0u);
}

TEST(BestIntegerNear, stays_between_one_and_the_limit) {
  const auto falls = hyperbola(1, 0);
  EXPECT_EQ(best_integer_near(std::numeric_limits<double>::infinity(), falls, 64), 64u);
  EXPECT_EQ(best_integer_near(0.2, falls, 64), 1u);
  EXPECT_EQ(best_integer_near(63.5, falls, 63), 63u);
}

}  // namespace
}  // namespace shiplap
