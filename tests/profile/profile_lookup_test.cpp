// Looking things up in a profile: rows between and outside the measured sizes, and the samples behind a figure.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/intervals.hpp"

namespace shiplap {
namespace {

// Eight samples have an interval from the first to the last of them (binomial: 1 − 2/256 is more than 95 %).
std::vector<double> eight_from(double first) {
  std::vector<double> samples;
  for (int i = 0; i < 8; ++i) samples.push_back(first + i);
  return samples;
}
Measurement visited(unsigned visits, std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return {.primitive = "copy.pinned.h2d",
          .arguments = {{"bytes", 4096}},
          .clock = "events",
          .samples_us = std::move(first),
          .verified = true,
          .visits = visits};
}
std::vector<double> figure_of(const Measurement& m) {
  const auto samples = figure_samples(m);
  return {samples.begin(), samples.end()};
}

TEST(FigureSamples, are_the_faster_visit_where_the_intervals_lie_apart) {
  EXPECT_EQ(figure_of(visited(2, eight_from(100), eight_from(108))), eight_from(100));
  EXPECT_EQ(figure_of(visited(2, eight_from(108), eight_from(100))), eight_from(100));
}

TEST(FigureSamples, are_all_where_the_intervals_have_a_time_in_common) {
  for (const double second : {93.0, 97.0, 100.0, 104.0, 107.0}) {  // 100 to 107 beside 93 to 100, and so on
    const Measurement m = visited(2, eight_from(100), eight_from(second));
    EXPECT_EQ(figure_of(m), m.samples_us) << second;
  }
}

TEST(FigureSamples, are_all_of_a_single_visit) {
  const Measurement m = visited(1, eight_from(100), eight_from(200));
  EXPECT_EQ(figure_of(m), m.samples_us);
  EXPECT_EQ(figure_of(visited(2, {7}, {})), std::vector<double>{7}) << "one sample has no halves";
}

TEST(FigureSamples, are_those_that_a_time_without_scatter_was_faster_in) {
  EXPECT_EQ(figure_of(visited(2, {5, 5, 5, 5}, {4, 4, 4, 4})), (std::vector<double>{4, 4, 4, 4}));
  EXPECT_EQ(figure_of(visited(2, {5, 5}, {5, 5})).size(), 4u);
}

TEST(GapAt, lies_in_proportion_between_two_rows_and_stays_outside) {
  const std::vector<GapAt> gaps{{1000_B, us(2)}, {3000_B, us(6)}};
  const auto of = [&](Bytes size) { return in_microseconds(gap_at(gaps, size)); };
  EXPECT_DOUBLE_EQ(of(1_B), 2);
  EXPECT_DOUBLE_EQ(of(1000_B), 2);
  EXPECT_NEAR(of(1500_B), 3, 1e-12);
  EXPECT_DOUBLE_EQ(of(3000_B), 6);
  EXPECT_DOUBLE_EQ(of(1_GiB), 6);
  EXPECT_THROW(gap_at({}, 1_B), Error);
}

// 1000 B in 10 µs, 100 times as much in 4 times the time, and again 4 times as much in 4 times the time.
const std::vector<TimeAt> three_times{{1000_B, us(10)}, {100'000_B, us(40)}, {400'000_B, us(160)}};
double time_of(Bytes size) { return in_microseconds(time_at(three_times, size)); }

TEST(TimeAt, of_a_row_is_what_the_row_says) {
  EXPECT_DOUBLE_EQ(time_of(1000_B), 10);
  EXPECT_NEAR(time_of(100'000_B), 40, 1e-12);
  EXPECT_NEAR(time_of(400'000_B), 160, 1e-12);
}

TEST(TimeAt, grows_by_a_power_of_the_size_between_two_rows) {
  EXPECT_NEAR(time_of(10'000_B), 20, 1e-9);   // ten times the bytes, twice the time
  EXPECT_NEAR(time_of(200'000_B), 80, 1e-9);  // where it grows in proportion
  EXPECT_NEAR(time_of(300'000_B), 120, 1e-9);
}

TEST(TimeAt, stays_below_the_first_row_and_grows_in_proportion_beyond_the_last) {
  EXPECT_DOUBLE_EQ(time_of(1_B), 10);
  EXPECT_DOUBLE_EQ(time_of(999_B), 10);
  EXPECT_NEAR(time_of(800'000_B), 320, 1e-9);
  EXPECT_NEAR(time_of(1'000'000_B), 400, 1e-9);
}

TEST(TimeAt, never_falls_where_the_rows_do_not) {
  double last = 0;
  for (std::uint64_t size = 1; size < 1'000'000; size += 1 + size / 7) {
    const double now = time_of(Bytes{size});
    EXPECT_GE(now, last * (1 - 1e-12)) << size;
    last = now;
  }
}

TEST(TimeAt, of_a_single_row_is_its_time_up_to_its_size) {
  const std::vector<TimeAt> one{{1000_B, us(10)}};
  EXPECT_DOUBLE_EQ(in_microseconds(time_at(one, 500_B)), 10);
  EXPECT_DOUBLE_EQ(in_microseconds(time_at(one, 2500_B)), 25);
}

TEST(TimeAt, without_rows_is_an_error) { EXPECT_THROW(time_at({}, 1_B), Error); }

TEST(RateOf, threads_lies_in_proportion_between_two_rows_and_stays_outside) {
  const std::vector<RateOfThreads> rates{{2, gbs(16)}, {4, gbs(20)}, {8, gbs(18)}};
  const auto of = [&](unsigned threads) { return in_gigabytes_per_second(rate_of(rates, threads)); };
  EXPECT_DOUBLE_EQ(of(1), 16);
  EXPECT_DOUBLE_EQ(of(2), 16);
  EXPECT_DOUBLE_EQ(of(3), 18);
  EXPECT_DOUBLE_EQ(of(4), 20);
  EXPECT_DOUBLE_EQ(of(5), 19.5);
  EXPECT_DOUBLE_EQ(of(6), 19);
  EXPECT_DOUBLE_EQ(of(8), 18);
  EXPECT_DOUBLE_EQ(of(64), 18);
}

TEST(StagingRates, lie_between_two_rings_by_their_logarithm_and_stay_outside) {
  const HostModel host{.copy = {{1, gbs(5)}},
                       .staging = {{1, 8_MiB, gbs(11)}, {8, 16_MiB, gbs(40)}, {8, 64_MiB, gbs(30, 28, 34)}},
                       .calls = {}};
  const auto of = [&](Bytes rings, unsigned threads) {
    return in_gigabytes_per_second(rate_of(staging_rates(host, rings), threads));
  };
  EXPECT_DOUBLE_EQ(of(1_MiB, 8), 40);
  EXPECT_DOUBLE_EQ(of(16_MiB, 8), 40);
  EXPECT_NEAR(of(32_MiB, 8), 35, 1e-9);  // half of the way from 16 to 64
  EXPECT_NEAR(of(64_MiB, 8), 30, 1e-9);
  EXPECT_NEAR(of(1_GiB, 8), 30, 1e-9);
  EXPECT_DOUBLE_EQ(of(1_GiB, 1), 11);               // the only row of one thread
  EXPECT_NEAR(of(64_MiB, 2), 11 + 19.0 / 7, 1e-9);  // between one and eight threads
  EXPECT_NEAR(in_gigabytes_per_second(staging_rates(host, 32_MiB)[1].rate.high), 37, 1e-9);
}

TEST(StagingRates, are_those_of_copies_where_none_were_measured) {
  const HostModel host{.copy = {{1, gbs(5)}, {4, gbs(15)}}, .calls = {}};
  EXPECT_DOUBLE_EQ(in_gigabytes_per_second(rate_of(staging_rates(host, 8_MiB), 4)), 15);
}

TEST(WrittenAt, grows_from_nothing_and_stays_beyond_the_last_row) {
  const HostModel host{.copy = {}, .written = {{64_KiB, us(4)}, {256_KiB, us(16)}}, .calls = {}};
  const auto of = [&](Bytes size) { return in_microseconds(just_written_delay(host, size)); };
  EXPECT_NEAR(of(16_KiB), 1, 1e-12);
  EXPECT_NEAR(of(64_KiB), 4, 1e-12);
  EXPECT_NEAR(of(160_KiB), 10, 1e-12);
  EXPECT_NEAR(of(4_MiB), 16, 1e-12);
  EXPECT_EQ(just_written_delay(HostModel{.copy = {}, .calls = {}}, 64_KiB), Seconds{0});
}

TEST(RateOf, no_rows_is_an_error) { EXPECT_THROW(rate_of({}, 1), Error); }
}  // namespace
}  // namespace shiplap
