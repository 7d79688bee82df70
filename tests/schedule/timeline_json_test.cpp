#include "shiplap/schedule/timeline_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "tests/report/timelines.hpp"

namespace shiplap {
namespace {

TEST(TimelineJson, has_the_engine_chunk_bytes_and_times_of_every_op) {
  const test::Drawn drawn = test::diagonal(2, milliseconds(3));
  const Json json = timeline_json(drawn.schedule, drawn.timeline);
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

TEST(TimelineJson, refuses_a_timeline_of_another_schedule) {
  test::Drawn drawn = test::diagonal(2, milliseconds(3));
  drawn.timeline.spans.pop_back();
  EXPECT_THROW(timeline_json(drawn.schedule, drawn.timeline), Error);
}

}  // namespace
}  // namespace shiplap
