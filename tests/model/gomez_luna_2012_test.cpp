#include "shiplap/model/gomez_luna_2012.hpp"

#include <gtest/gtest.h>

#include "tests/model/hand_simulation.hpp"

namespace shiplap::gomez_luna_2012 {
namespace {

constexpr auto cc1 = Architecture::cc1;
constexpr auto cc2 = Architecture::cc2;

Work job(double h2d_ms, double kernel_ms, double d2h_ms, double per_stream_ms) {
  return {{milliseconds(h2d_ms), milliseconds(kernel_ms), milliseconds(d2h_ms)}, milliseconds(per_stream_ms)};
}

struct Case {
  Work work;
  std::uint32_t streams;
};

std::vector<Case> random_cases() {
  by_hand::Random random(2012);
  std::vector<Case> cases;
  while (cases.size() < 1200)
    cases.push_back({job(random.power_of_two(-3, 5), random.power_of_two(-3, 5), random.power_of_two(-7, 5),
                         random.power_of_two(-9, -1)),
                     random.count(0, 7)});
  return cases;
}

// The device of the architecture, and n times the cost of a stream.
double simulated(const Work& w, std::uint32_t n, Architecture architecture, bool depth_first = false) {
  return by_hand::simulate({.n = n,
                            .in = w.times.h2d.count() / n,
                            .kernel = w.times.kernel.count() / n,
                            .out = w.times.d2h.count() / n},
                           {.copy_engines = 1, .implicit_sync = architecture == cc2, .depth_first = depth_first}) +
         n * w.per_stream.count();
}

// The papers' cases for a real number of streams, in seconds.
double real_time(const Work& w, double n, Architecture architecture) {
  const double in = w.times.h2d.count();
  const double out = w.times.d2h.count();
  const double kernel = w.times.kernel.count();
  const double overhead = w.per_stream.count() * n;
  if (architecture == cc1)
    return in + out > kernel + (in + out) / n ? in + out + overhead : kernel + (in + out) / n + overhead;
  return in > kernel ? in + kernel / n + out + overhead : in / n + kernel + out + overhead;
}

TEST(Equations, are_the_printed_ones_in_milliseconds) {
  const Work w = job(6, 8, 3, 0.1);
  EXPECT_NEAR(in_milliseconds(eq1(w, 4)), 9.4, 1e-12);
  EXPECT_NEAR(in_milliseconds(eq3(w, 4)), 8 + 2.25 + 0.4, 1e-12);
  EXPECT_NEAR(in_milliseconds(eq5(w, 4)), 6 + 2 + 3 + 0.4, 1e-12);
  EXPECT_NEAR(in_milliseconds(eq7(w, 4)), 1.5 + 8 + 3 + 0.4, 1e-12);
  EXPECT_NEAR(eq2_streams(w), 9, 1e-12);
  EXPECT_NEAR(eq4_streams(w), std::sqrt(90), 1e-12);
  EXPECT_NEAR(eq6_streams(w), std::sqrt(80), 1e-12);
  EXPECT_NEAR(eq8_streams(w), std::sqrt(60), 1e-12);
}

TEST(StreamedTime, is_each_printed_case_where_its_condition_holds) {
  for (const auto& [w, n] : random_cases())
    for (const Architecture architecture : {cc1, cc2}) {
      const auto printed = as_printed::streamed_time(w, n, architecture);
      ASSERT_TRUE(printed);
      ASSERT_EQ(*printed, streamed_time(w, n, architecture));
      ASSERT_NEAR(streamed_time(w, n, architecture).count() / real_time(w, n, architecture), 1, 1e-13);
    }
}

TEST(StreamedTime, covers_the_equalities_that_are_printed_without_a_case) {
  const Work one_engine = job(2, 3, 2, 0.1);  // 4 = 3 + 4/4
  EXPECT_FALSE(as_printed::streamed_time(one_engine, 4, cc1));
  EXPECT_NEAR(in_milliseconds(streamed_time(one_engine, 4, cc1)), 4.4, 1e-12);
  const Work fermi = job(3, 3, 2, 0.1);
  EXPECT_FALSE(as_printed::streamed_time(fermi, 4, cc2));
  EXPECT_NEAR(in_milliseconds(streamed_time(fermi, 4, cc2)), 3 + 0.75 + 2 + 0.4, 1e-12);
}

TEST(StreamedTime, of_cc_2_is_the_simulated_time_with_implicit_synchronisation) {
  for (const auto& [w, n] : random_cases())
    ASSERT_NEAR(streamed_time(w, n, cc2).count() / simulated(w, n, cc2), 1, 1e-12);
}

TEST(StreamedTime, of_cc_1_is_never_more_than_the_simulated_time_and_less_where_a_direction_is_tiny) {
  for (const auto& [w, n] : random_cases())
    ASSERT_LE(streamed_time(w, n, cc1).count(), simulated(w, n, cc1) * (1 + 1e-12));
  // A histogram: 10 ms in, 0.1 ms out, 5 ms of kernels, 16 streams.
  const Work histogram = job(10, 5, 0.1, 0);
  EXPECT_NEAR(in_milliseconds(streamed_time(histogram, 16, cc1)), 10.10, 1e-12);
  EXPECT_NEAR(in_milliseconds(critical_path(histogram, 16, cc1)), 10.31875, 1e-12);
  EXPECT_NEAR(simulated(histogram, 16, cc1) * 1e3, 10.31875, 1e-12);
}

TEST(CriticalPath, is_the_simulated_time_on_both_architectures) {
  for (const auto& [w, n] : random_cases())
    for (const Architecture architecture : {cc1, cc2})
      ASSERT_NEAR(critical_path(w, n, architecture).count() / simulated(w, n, architecture), 1, 1e-12);
}

TEST(DepthFirst, overlaps_nothing_on_one_engine) {
  for (const auto& [w, n] : random_cases()) {
    ASSERT_NEAR(depth_first_time(w, n).count() / simulated(w, n, cc1, true), 1, 1e-12);
    // No form of the paper holds for it.
    if (n > 1) {
      ASSERT_LT(streamed_time(w, n, cc1), depth_first_time(w, n));
    }
  }
}

TEST(OptimalStreams, are_where_trying_all_real_numbers_finds_the_least_time) {
  for (const auto& [w, n] : random_cases())
    for (const Architecture architecture : {cc1, cc2}) {
      const double optimum = optimal_streams(w, architecture);
      ASSERT_GE(optimum, 1);
      const double least = real_time(w, optimum, architecture);
      for (double other = 1; other < 4000; other *= 1.01)
        ASSERT_GE(real_time(w, other, architecture), least * (1 - 1e-12)) << other << " against " << optimum;
      // Finite differences at the optimum: it rises to both sides.
      ASSERT_GE(real_time(w, optimum * 1.0001, architecture), least);
      if (optimum > 1.001) {
        ASSERT_GE(real_time(w, optimum / 1.0001, architecture), least * (1 - 1e-15));
      }
    }
}

TEST(Equation2, explodes_where_kernel_and_transfers_are_nearly_equal) {
  const Work w = job(6, 11.9, 6, 0.1);
  EXPECT_NEAR(as_printed::optimal_streams(w, cc1), 120, 1e-9);
  EXPECT_NEAR(in_milliseconds(streamed_time(w, 120, cc1)), 24.0, 1e-9);
  EXPECT_NEAR(optimal_streams(w, cc1), 10.954451150103322, 1e-12);
  EXPECT_NEAR(real_time(w, optimal_streams(w, cc1), cc1) * 1e3, 11.9 + 2 * std::sqrt(1.2), 1e-12);  // 14.09
  EXPECT_GT(streamed_time(w, 120, cc1), unstreamed_time(w)) << "worse than no streams at all";
}

TEST(Equation2, is_no_minimum_of_equation_1_which_only_rises) {
  const Work w = job(6, 4, 4, 0.01);
  for (std::uint32_t n = 1; n < 100; ++n) ASSERT_GT(eq1(w, n + 1), eq1(w, n));
  // Where the conditions meet it is right, as the time falls before and rises after.
  EXPECT_NEAR(optimal_streams(w, cc1), 10.0 / 6, 1e-12);
}

TEST(OptimalStreams, agree_with_the_printed_ones_where_the_kernel_is_at_least_as_long_as_the_transfers) {
  EXPECT_NEAR(as_printed::optimal_streams(job(6, 20, 4, 0.1), cc1), 10, 1e-12);
  EXPECT_NEAR(optimal_streams(job(6, 20, 4, 0.1), cc1), 10, 1e-12);
  EXPECT_NEAR(as_printed::optimal_streams(job(6, 10, 4, 0.1), cc1), 10, 1e-12);
}

TEST(OptimalStreams, agree_with_the_printed_ones_for_compute_capability_2) {
  for (const auto& [w, n] : random_cases())
    ASSERT_DOUBLE_EQ(optimal_streams(w, cc2), std::max(1.0, as_printed::optimal_streams(w, cc2)));
}

TEST(OptimalStreams, without_a_cost_of_streams_are_infinite_unless_transfers_dominate) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(optimal_streams(job(6, 20, 4, 0), cc1), infinity);
  EXPECT_EQ(optimal_streams(job(6, 4, 4, 0), cc2), infinity);
  EXPECT_NEAR(optimal_streams(job(6, 4, 4, 0), cc1), 10.0 / 6, 1e-12);
  EXPECT_EQ(optimal_streams(job(6, 0, 4, 0), cc2), 1);
}

TEST(BestStreams, are_what_trying_all_finds_with_one_stream_free_of_charge) {
  unsigned not_worth_it = 0;
  for (const auto& [w, n] : random_cases())
    for (const Architecture architecture : {cc1, cc2}) {
      Seconds least = w.times.transfers() + w.times.kernel;
      for (std::uint32_t other = 2; other <= 300; ++other)
        least = std::min(least, streamed_time(w, other, architecture));
      const std::uint32_t best = best_streams(w, architecture, 300);
      const Seconds found = best == 1 ? unstreamed_time(w) : streamed_time(w, best, architecture);
      ASSERT_LE(found / least, 1 + 1e-14);
      if (best == 1) ++not_worth_it;
    }
  EXPECT_GT(not_worth_it, 10u);
  // At one stream the forms are longer than no streams by t_sc: compared with that, streams would look better by it.
  const Work w = job(6, 4, 4, 0.25);
  EXPECT_NEAR(in_milliseconds(streamed_time(w, 1, cc1) - unstreamed_time(w)), 0.25, 1e-12);
}

TEST(Speedup, on_one_engine_is_at_most_2_so_that_63_percent_cannot_be_time_saved) {
  double most = 0;
  for (const auto& [w, n] : random_cases())
    for (const Architecture architecture : {cc1, cc2}) {
      ASSERT_LE(speedup(w, n, architecture), 2);
      most = std::max(most, speedup(w, n, architecture));
    }
  EXPECT_GT(most, 1.63);
}

}  // namespace
}  // namespace shiplap::gomez_luna_2012
