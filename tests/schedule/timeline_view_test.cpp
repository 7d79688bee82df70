#include "shiplap/schedule/timeline_view.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "tests/report/timelines.hpp"

namespace shiplap {
namespace {

TEST(TimelineView, has_the_engine_chunk_bytes_and_times_of_every_op) {
  const test::Drawn drawn = test::diagonal(2, milliseconds(3));
  const Json json = Form<TimelineView>{}.write(timeline_view(drawn.schedule, drawn.timeline));
  ASSERT_EQ(json.size(), 6u);
  const Json& kernel = json.at(4);
  EXPECT_EQ(kernel.at("engine"), "compute");
  EXPECT_EQ(kernel.at("chunk"), 1);
  EXPECT_EQ(kernel.at("bytes").at("value"), 0);
  EXPECT_DOUBLE_EQ(kernel.at("start").at("value"), 6.0);
  EXPECT_DOUBLE_EQ(kernel.at("end").at("value"), 9.0);
  EXPECT_EQ(json.at(3).at("bytes").at("value"), 8);
  EXPECT_EQ(json.at(3).at("op"), describe(drawn.schedule, OpId{3}));
}

TEST(TimelineView, refuses_a_timeline_of_another_schedule_or_without_single_ops) {
  test::Drawn drawn = test::diagonal(2, milliseconds(3));
  drawn.timeline.spans.pop_back();
  EXPECT_THROW(timeline_view(drawn.schedule, drawn.timeline), Error);
  drawn.timeline.spans.clear();
  EXPECT_THROW(timeline_view(drawn.schedule, drawn.timeline), Error) << "it was not traced";
}

}  // namespace
}  // namespace shiplap
