#include "experiments/published_sweep/data.hpp"

#include <gmock/gmock.h>

#include "shiplap/core/error.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::string sweep_header = "Calls,Size,NUM_STREAMS,Time\n";

void expect_refused(const std::string& text, const std::string& line, const std::string& expected) {
  EXPECT_THAT([&] { parse_published(text, "sweep.csv"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("sweep.csv, line " + line + ":"), HasSubstr(expected))))
      << text;
}

TEST(PublishedData, reads_rows_with_and_without_calls) {
  const auto with = parse_published(sweep_header + "32,8388608,16,6.529e-04\n64,8,1,3.3e-05\n", "runs/sweep.csv");
  EXPECT_EQ(with.name, "sweep.csv");
  ASSERT_EQ(with.points.size(), 2u);
  EXPECT_EQ(with.points[0].calls, 32u);
  EXPECT_EQ(with.points[0].size, 8388608u);
  EXPECT_EQ(with.points[0].streams, 16u);
  EXPECT_DOUBLE_EQ(in_microseconds(with.points[0].time), 652.9);

  const auto without = parse_published("# one call\r\nSize,NUM_STREAMS,Time\r\n8,2,4.2e-05", "sweep.csv");
  ASSERT_EQ(without.points.size(), 1u);
  EXPECT_EQ(without.points[0].calls, 1u);
  EXPECT_EQ(without.points[0].streams, 2u);
}

TEST(PublishedData, refuses_what_it_does_not_understand_with_file_line_and_expectation) {
  expect_refused("Calls,Size,Streams,Time\n", "1", "expected \"Calls,Size,NUM_STREAMS,Time\"");
  expect_refused(sweep_header + "1,8,1\n", "2", "expected 4 as in the header");
  expect_refused(sweep_header + "1,8,1,2e-5\n1,8,2,2e-5,9\n", "3", "expected 4 as in the header");
  expect_refused(sweep_header + "1,8,1,2e-5\n\n1,8,2,2e-5\n", "3", "expected 4");
  expect_refused(sweep_header + "0,8,1,2e-5\n", "2", "Calls is \"0\"");
  expect_refused(sweep_header + "1,8.5,1,2e-5\n", "2", "Size is \"8.5\", expected a whole number");
  expect_refused(sweep_header + "1,8,-1,2e-5\n", "2", "NUM_STREAMS is \"-1\"");
  expect_refused(sweep_header + "1,8,9999999999,2e-5\n", "2", "NUM_STREAMS");
  expect_refused(sweep_header + "1,8,3,2e-5\n", "2", "3 streams do not divide 8 elements");
  for (const char* time : {"0", "-1e-5", "nan", "inf", "2e-5s", "", " 2e-5"})
    expect_refused(sweep_header + "1,8,1," + time + "\n", "2", "expected a positive number of seconds");
  expect_refused(sweep_header + "1,8,1,2e-5\n2,8,1,2e-5\n1,8,1,3e-5\n", "4", "were there already");
  EXPECT_THAT([] { parse_published(sweep_header, "sweep.csv"); },
              ThrowsMessage<Error>(HasSubstr("sweep.csv: no measurements")));
  EXPECT_THAT([] { load_published("no such file.csv"); }, ThrowsMessage<Error>(HasSubstr("no such file.csv")));
}

}  // namespace
}  // namespace shiplap::experiments::published_sweep
