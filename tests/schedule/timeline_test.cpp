#include "shiplap/schedule/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

Span span(double start, double end, Engine engine) { return {Seconds{start}, Seconds{end}, engine}; }

// Only streams and dependencies of the ops matter here.
OpId op(Schedule& schedule, StreamId stream, std::vector<OpId> after) {
  return schedule.add({.what = Kernel{}, .stream = stream, .agent = {0}, .after = std::move(after), .chunk = 0});
}

std::vector<std::uint32_t> numbers(const std::vector<OpId>& ids) {
  std::vector<std::uint32_t> result;
  for (OpId id : ids) result.push_back(id.value);
  return result;
}
using Path = std::vector<std::uint32_t>;

TEST(Timeline, busy_time_counts_overlapping_ops_once) {
  const Timeline timeline{
      .spans = {span(0, 2, Engine::compute), span(1, 4, Engine::compute), span(4, 5, Engine::compute),
                span(7, 8, Engine::compute), span(7.25, 7.5, Engine::compute), span(0, 3, Engine::copy_h2d)},
      .makespan = Seconds{8}};
  EXPECT_DOUBLE_EQ(busy_time(timeline, Engine::compute).count(), 6);
  EXPECT_DOUBLE_EQ(busy_time(timeline, Engine::copy_h2d).count(), 3);
  EXPECT_DOUBLE_EQ(busy_time(timeline, Engine::copy_d2h).count(), 0);
}

TEST(Timeline, busy_time_equals_counting_unit_cells) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::array<bool, 64> busy{};
    Timeline timeline;
    for (int i = 0; i < 12; ++i) {
      const auto start = static_cast<unsigned>(random() % 50);
      const unsigned end = start + static_cast<unsigned>(random() % 14);
      timeline.spans.push_back(span(start, end, Engine::host));
      for (unsigned cell = start; cell < end; ++cell) busy[cell] = true;
    }
    EXPECT_DOUBLE_EQ(busy_time(timeline, Engine::host).count(),
                     static_cast<double>(std::count(busy.begin(), busy.end(), true)));
  }
}

TEST(Timeline, a_total_without_spans_says_nothing_about_engines) {
  Schedule schedule;
  op(schedule, schedule.add_stream("q"), {});
  const Timeline total{.spans = {}, .makespan = Seconds{1}};
  EXPECT_THROW(busy_time(total, Engine::compute), Error);
  EXPECT_THROW(critical_path(schedule, total), Error);
  EXPECT_EQ(busy_time(Timeline{}, Engine::compute), Seconds{0});
  EXPECT_TRUE(critical_path(Schedule{}, Timeline{}).empty());
}

TEST(Timeline, a_timeline_of_another_schedule_is_refused) {
  Schedule schedule;
  op(schedule, schedule.add_stream("q"), {});
  const Timeline other{.spans = {span(0, 1, Engine::host), span(1, 2, Engine::host)}, .makespan = Seconds{2}};
  EXPECT_THROW(critical_path(schedule, other), Error);
}

// Two chunks, three streams: in, kernel, out.
struct TwoChunks {
  Schedule schedule;
  StreamId in = schedule.add_stream("in");
  StreamId compute = schedule.add_stream("compute");
  StreamId out = schedule.add_stream("out");
  TwoChunks() {
    for (int chunk = 0; chunk < 2; ++chunk) {
      const OpId first = op(schedule, in, {});
      const OpId second = op(schedule, compute, {first});
      op(schedule, out, {second});
    }
  }
};

TEST(Timeline, with_slow_copies_in_the_critical_path_runs_through_them) {
  const TwoChunks p;
  const Timeline timeline{
      .spans = {span(0, 4, Engine::copy_h2d), span(4, 5, Engine::compute), span(5, 7, Engine::copy_d2h),
                span(4, 8, Engine::copy_h2d), span(8, 9, Engine::compute), span(9, 11, Engine::copy_d2h)},
      .makespan = Seconds{11}};
  EXPECT_EQ(numbers(critical_path(p.schedule, timeline)), (Path{0, 3, 4, 5}));
}

TEST(Timeline, with_slow_kernels_the_critical_path_runs_through_the_stream_of_kernels) {
  const TwoChunks p;
  const Timeline timeline{
      .spans = {span(0, 1, Engine::copy_h2d), span(1, 5, Engine::compute), span(5, 6, Engine::copy_d2h),
                span(1, 2, Engine::copy_h2d), span(5, 9, Engine::compute), span(9, 10, Engine::copy_d2h)},
      .makespan = Seconds{10}};
  EXPECT_EQ(numbers(critical_path(p.schedule, timeline)), (Path{0, 1, 4, 5}));
}

TEST(Timeline, the_critical_path_follows_a_shared_engine_across_streams) {
  // One copy engine: the copy out of chunk 0 (stream "out") waits for the copy in of chunk 1 (stream "in").
  const TwoChunks p;
  const Timeline timeline{
      .spans = {span(0, 3, Engine::copy_shared), span(3, 4, Engine::compute), span(6, 9, Engine::copy_shared),
                span(3, 6, Engine::copy_shared), span(6, 7, Engine::compute), span(9, 12, Engine::copy_shared)},
      .makespan = Seconds{12}};
  EXPECT_EQ(numbers(critical_path(p.schedule, timeline)), (Path{0, 3, 2, 5}));
}

TEST(Timeline, a_predecessor_counts_when_only_rounding_puts_its_end_behind_the_start) {
  Schedule schedule;
  const OpId first = op(schedule, schedule.add_stream("a"), {});
  op(schedule, schedule.add_stream("b"), {first});
  const double sum = 0.1 + 0.2;  // larger than 0.3 in the last bit
  ASSERT_GT(sum, 0.3);
  const Timeline timeline{.spans = {span(0, sum, Engine::copy_h2d), span(0.3, 1, Engine::compute)},
                          .makespan = Seconds{1}};
  EXPECT_EQ(numbers(critical_path(schedule, timeline)), (Path{0, 1}));
}

TEST(Timeline, ops_of_no_duration_at_one_time_follow_each_other_as_submitted) {
  for (const bool one_stream : {true, false}) {
    Schedule schedule;
    const StreamId stream = schedule.add_stream("q");
    Timeline timeline{.spans = {}, .makespan = Seconds{1}};
    for (int i = 0; i < 4; ++i) {
      op(schedule, one_stream ? stream : schedule.add_stream("r"), {});
      timeline.spans.push_back(span(1, 1, Engine::compute));
    }
    EXPECT_EQ(numbers(critical_path(schedule, timeline)), (Path{0, 1, 2, 3}));
  }
}

TEST(Timeline, ops_that_each_end_within_rounding_of_the_others_start_are_walked_once) {
  Schedule schedule;
  const OpId first = op(schedule, schedule.add_stream("a"), {});
  op(schedule, schedule.add_stream("b"), {first});
  const double bit = 1e-12;
  // Op 1 waits for op 0, which seems to start a moment later, on the same engine.
  const Timeline timeline{.spans = {span(1 + bit, 1 + bit, Engine::compute), span(1, 1 + 2 * bit, Engine::compute)},
                          .makespan = Seconds{1}};
  EXPECT_EQ(numbers(critical_path(schedule, timeline)), (Path{0, 1}));
}

TEST(Timeline, a_concurrent_kernel_is_no_predecessor) {
  Schedule schedule;
  for (int i = 0; i < 3; ++i) op(schedule, schedule.add_stream("q"), {});
  const Timeline timeline{
      .spans = {span(0, 1, Engine::compute), span(0.5, 4, Engine::compute), span(2, 5, Engine::compute)},
      .makespan = Seconds{5}};
  EXPECT_EQ(numbers(critical_path(schedule, timeline)), (Path{0, 2}));
}

TEST(Timeline, every_engine_has_a_name_of_its_own) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < engine_count; ++i) names.push_back(to_string(static_cast<Engine>(i)));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(BusiestEngine, counts_time_and_not_ops) {
  const Timeline timeline{.spans = {{.start = Seconds{0}, .end = Seconds{1}, .engine = Engine::copy_h2d},
                                    {.start = Seconds{1}, .end = Seconds{2}, .engine = Engine::copy_h2d},
                                    {.start = Seconds{2}, .end = Seconds{5}, .engine = Engine::host}},
                          .makespan = Seconds{5}};
  EXPECT_EQ(busiest_engine(timeline).engine, Engine::host);
  EXPECT_DOUBLE_EQ(busiest_engine(timeline).busy.count(), 3);
}

TEST(Timeline, an_engine_that_does_not_exist_has_no_name) { EXPECT_THROW(to_string(static_cast<Engine>(99)), Error); }

}  // namespace
}  // namespace shiplap
