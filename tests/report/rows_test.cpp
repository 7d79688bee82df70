#include "shiplap/report/rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/report/timelines.hpp"

namespace shiplap {
namespace {

using test::diagonal;
using test::Drawn;

void expect_no_overlap(const EngineRow& row) {
  std::map<unsigned, Seconds> free_from;
  for (const Bar& bar : row.bars) {
    EXPECT_LE(bar.start, bar.end);
    EXPECT_LT(bar.lane, row.lanes);
    EXPECT_GE(bar.start, free_from[bar.lane]) << row.label << ", op " << bar.op.value;
    free_from[bar.lane] = bar.end;
  }
}

TEST(EngineRows, follow_the_data_and_hold_every_op_once) {
  const Drawn d = diagonal(5, milliseconds(1));
  const auto rows = engine_rows(timeline_view(d.schedule, d.timeline));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].label, "H2D copies");
  EXPECT_EQ(rows[1].label, "kernels");
  EXPECT_EQ(rows[2].label, "D2H copies");
  std::set<std::uint32_t> seen;
  for (const EngineRow& row : rows) {
    expect_no_overlap(row);
    for (const Bar& bar : row.bars) EXPECT_TRUE(seen.insert(bar.op.value).second);
  }
  EXPECT_EQ(seen.size(), d.schedule.ops.size());
}

TEST(EngineRows, busy_is_the_share_of_the_whole_time) {
  // 8 chunks over 10 steps: every engine works for 8 of them.
  const Drawn d = diagonal(8, milliseconds(1));
  for (const EngineRow& row : engine_rows(timeline_view(d.schedule, d.timeline))) EXPECT_NEAR(row.busy, 0.8, 1e-12);
}

TEST(EngineRows, copies_that_a_trace_shows_at_once_are_drawn_in_turn) {
  Drawn d = diagonal(4, milliseconds(1));
  // The start marks of all copies in fire at once; only the ends tell what the engine did.
  for (std::size_t op = 0; op < d.timeline.spans.size(); op += 3) d.timeline.spans[op].start = Seconds{0};
  const auto rows = engine_rows(timeline_view(d.schedule, d.timeline));
  EXPECT_EQ(rows[0].lanes, 1u);
  expect_no_overlap(rows[0]);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[0].bars[i].chunk, i);
    EXPECT_NEAR(in_milliseconds(rows[0].bars[i].start), i, 1e-12);
  }
}

TEST(EngineRows, kernels_that_run_together_get_lanes) {
  Drawn d = diagonal(3, milliseconds(1));
  d.timeline.spans[1].end = milliseconds(5);  // the first kernel runs on beside the two others
  const auto rows = engine_rows(timeline_view(d.schedule, d.timeline));
  EXPECT_EQ(rows[1].lanes, 2u);
  expect_no_overlap(rows[1]);
}

TEST(EngineRows, more_kernels_at_once_than_lanes_are_drawn_in_turn) {
  Drawn d = diagonal(6, milliseconds(1));
  for (std::size_t op = 1; op < d.timeline.spans.size(); op += 3) d.timeline.spans[op].start = Seconds{0};
  const auto rows = engine_rows(timeline_view(d.schedule, d.timeline), 4);
  EXPECT_EQ(rows[1].lanes, 1u);
  EXPECT_EQ(rows[1].bars.size(), 6u);
  expect_no_overlap(rows[1]);
}

TEST(RoundStep, is_one_two_or_five_times_a_power_of_ten) {
  EXPECT_DOUBLE_EQ(round_step(10, 10), 1);
  EXPECT_DOUBLE_EQ(round_step(11, 10), 2);
  EXPECT_DOUBLE_EQ(round_step(5.6, 8), 1);
  EXPECT_DOUBLE_EQ(round_step(0.023, 10), 0.005);
  EXPECT_DOUBLE_EQ(round_step(480, 6), 100);
}

TEST(TimeAxis, is_in_milliseconds_unless_that_would_be_all_zeros) {
  EXPECT_STREQ(time_axis(milliseconds(5.6), 8).unit, "ms");
  EXPECT_STREQ(time_axis(microseconds(40), 8).unit, "µs");
  const Axis axis = time_axis(milliseconds(2), 10);
  EXPECT_EQ(axis.label(axis.ticks.front()), "0.0");
  EXPECT_EQ(axis.label(axis.ticks.back()), "2.0");
}

}  // namespace
}  // namespace shiplap
