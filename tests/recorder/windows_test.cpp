#include "recorder/windows.hpp"

#include <gtest/gtest.h>

namespace shiplap::recorder {
namespace {

constexpr std::uint64_t second = 1'000'000'000;       // ns
constexpr std::uint64_t millisecond = second / 1000;  // ns

/// A program that makes a million records a second for this time. The recorder looks every 10 ms while it records.
struct LongProgram {
  explicit LongProgram(std::uint64_t duration, std::uint64_t end = 0) {
    Windows windows(end);
    bool records = windows.records(0, 0);
    for (std::uint64_t now = 0; now < duration;) {
      const std::uint64_t pause = records ? 10 * millisecond : 100 * millisecond;
      const std::uint64_t written = records ? pause / 1000 : 0;
      now += pause;
      written_ += written;
      if (written > 0) last_ = now;
      const bool before = records;
      records = windows.records(written, now);
      if (before && !records && first_end_ == 0) first_end_ = now;
      if (!before && records && first_resumed_ == 0) first_resumed_ = now;
      if (!before && records) ++resumed_;
    }
  }
  std::uint64_t written_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t first_end_ = 0;
  std::uint64_t first_resumed_ = 0;
  unsigned resumed_ = 0;
};

TEST(Windows, keep_a_recording_of_a_million_seconds_small_and_spread_over_them) {
  const LongProgram program(1'000'000 * second);
  EXPECT_LE(program.written_, 3'100'000u);
  EXPECT_GE(program.written_, 2'500'000u);
  EXPECT_GE(program.last_, 300'000 * second);
}

TEST(Windows, begin_with_a_million_records_and_a_pause_of_a_second) {
  const LongProgram program(10 * second);
  EXPECT_EQ(program.first_end_, second);
  EXPECT_EQ(program.first_resumed_, 2 * second);
  // Windows of 0.1 s begin at 2 s and, after pauses of 2 s and 4 s, at 4.1 s and 8.2 s.
  EXPECT_EQ(program.resumed_, 3u);
  EXPECT_EQ(program.written_, 1'300'000u);
}

TEST(Windows, are_21_whatever_the_length_of_the_program) {
  Windows windows(0);
  bool records = true;
  std::uint64_t written = 0;
  for (std::uint64_t call = 1; call <= 1000; ++call) {  // 4 million seconds apart, longer than any pause
    written += records ? 100'000 : 0;
    records = windows.records(records ? 100'000 : 0, call * 4'000'000 * second);
  }
  EXPECT_FALSE(records);
  EXPECT_EQ(written, 1'000'000u + 20 * 100'000u);
}

TEST(Windows, have_no_pause_in_a_program_of_few_records) {
  Windows windows(0);
  for (std::uint64_t now = 0; now < 999'999; ++now) ASSERT_TRUE(windows.records(1, now * second));
  EXPECT_FALSE(windows.records(1, 1'000'000 * second));
}

TEST(Windows, end_with_the_time_that_they_were_given) {
  Windows windows(5 * second);
  EXPECT_TRUE(windows.records(10, 5 * second - 1));
  EXPECT_FALSE(windows.records(10, 5 * second));
  EXPECT_FALSE(windows.records(0, 500 * second));
  const LongProgram paused(100 * second, 3 * second);  // within the second pause
  EXPECT_EQ(paused.written_, 1'100'000u);
}

TEST(Windows, end_for_good_when_records_that_come_late_make_the_file_large) {
  Windows windows(0);
  for (std::uint64_t i = 1; i < 6; ++i) windows.records(1'000'000, i * 1'000 * second);  // longer than these pauses
  EXPECT_FALSE(windows.records(1'000'000, 1'000'000 * second));
  EXPECT_FALSE(windows.records(0, 10'000'000 * second));
}

}  // namespace
}  // namespace shiplap::recorder
