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
  EXPECT_NE(text.find("off most: kernels: time of the ops themselves (+500.0 µs)"), std::string::npos) << text;
  const auto list = text.find("ops that are off most");
  ASSERT_NE(list, std::string::npos);
  EXPECT_NE(text.find("of chunk 2 (op 7)", list), std::string::npos) << text;
}

TEST(ExplainReport, needs_the_spans_of_both) {
  const test::Drawn drawn = test::diagonal(2, milliseconds(1));
  EXPECT_THROW(explain_report(drawn.schedule, drawn.timeline, Timeline{}), Error);
}

}  // namespace
}  // namespace shiplap
