#include "shiplap/schedule/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

Span span(double start, double end, Engine engine) { return {Seconds{start}, Seconds{end}, engine}; }

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
  const Timeline total{.spans = {}, .makespan = Seconds{1}};
  EXPECT_THROW(busy_time(total, Engine::compute), Error);
  EXPECT_EQ(busy_time(Timeline{}, Engine::compute), Seconds{0});
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
