#include "shiplap/report/explain_report.hpp"

#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/report/timelines.hpp"

namespace shiplap {
namespace {

TEST(ExplainReport, names_the_term_and_the_op_that_are_off_most) {
  const test::Drawn drawn = test::diagonal(4, milliseconds(1));
  Timeline slow = drawn.timeline;
  // The kernel of chunk 2 takes 0.5 ms longer, and everything behind it in time is pushed back.
  const Seconds from = drawn.timeline.spans[7].end;
  slow.spans[7].end += milliseconds(0.5);
  for (std::size_t i = 0; i < slow.spans.size(); ++i) {
    if (i == 7 || drawn.timeline.spans[i].start < from) continue;
    slow.spans[i].start += milliseconds(0.5);
    slow.spans[i].end += milliseconds(0.5);
  }
  slow.makespan += milliseconds(0.5);
  const std::string text = explain_report(drawn.schedule, drawn.timeline, slow);
  EXPECT_NE(text.find("largest difference: kernels: time of the ops themselves (+500.0 µs)"), std::string::npos)
      << text;
  const auto list = text.find("ops with the largest differences");
  ASSERT_NE(list, std::string::npos);
  EXPECT_NE(text.find("of chunk 2 (op 7)", list), std::string::npos) << text;
}

TEST(ExplainReport, calls_the_times_of_a_virtual_device_simulated) {
  const test::Drawn drawn = test::diagonal(4, milliseconds(1));
  const std::string text =
      explain_report(drawn.schedule, drawn.timeline, drawn.timeline, {}, "simulated") +
      distance_report({drawn.timeline, milliseconds(3)}, {drawn.timeline, milliseconds(3)}, {}, "simulated");
  EXPECT_EQ(text.find("observed"), std::string::npos) << text;
}

TEST(DistanceReport, splits_the_distance_along_the_engine_that_is_busy_longest) {
  // Three chunks of 1 ms copies and kernels: five steps of 1 ms, 3 ms on each engine; the last copy back is longer.
  const test::Drawn drawn = test::diagonal(3, milliseconds(1));
  Timeline slow = drawn.timeline;
  Span& last = slow.spans.back();
  ASSERT_EQ(last.engine, Engine::copy_d2h);
  last.start += milliseconds(0.25);
  last.end += milliseconds(0.5);
  slow.makespan = last.end;
  const std::string text = distance_report({drawn.timeline, milliseconds(2.9)}, {slow, milliseconds(3)});
  const auto has = [&](const char* name, const char* predicted, const char* observed) {
    const auto row = text.find(name);
    ASSERT_NE(row, std::string::npos) << text;
    const std::string line = text.substr(row, text.find('\n', row) - row);
    EXPECT_NE(line.find(predicted), std::string::npos) << line;
    EXPECT_NE(line.find(observed), std::string::npos) << line;
  };
  has("along copy D2H", "predicted", "observed");
  has("before its first op", "+2.000 ms", "+2.000 ms");
  has("between its ops", "+0 µs", "+250.0 µs");
  has("after its last op", "+0 µs", "+0 µs");
  has("its ops themselves", "+100.0 µs", "+250.0 µs");
  has("makespan minus ideal overlap", "+2.100 ms", "+2.500 ms");
}

TEST(ExplainReport, needs_the_spans_of_both) {
  const test::Drawn drawn = test::diagonal(2, milliseconds(1));
  EXPECT_THROW(explain_report(drawn.schedule, drawn.timeline, Timeline{}), Error);
  EXPECT_THROW(distance_report({drawn.timeline, Seconds{0}}, {Timeline{}, Seconds{0}}), Error);
}

}  // namespace
}  // namespace shiplap
