#include "shiplap/advise/polled_waits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/advise/made_recording.hpp"

namespace shiplap {
namespace {

template <class T>
std::vector<T> all(const Recording& recording) {
  std::vector<T> found;
  for (const Record& record : recording.records)
    if (const T* one = std::get_if<T>(&record)) found.push_back(*one);
  return found;
}

/// A kernel until 100 µs, and queries every 10 µs from `first` to `last`.
Recording polled(double first, double last, const std::string& query = "cudaStreamQuery") {
  MadeRecording made;
  made.launch(0, 5, 100, 4);
  for (double at = first; at <= last; at += 10) made.call(query, at, at + 2);
  made.launch(last + 15, last + 20, last + 30, 4);
  take_polls_for_waits(made.recording);
  return made.recording;
}

TEST(PolledWaits, are_runs_of_queries_that_end_when_work_has_ended) {
  for (const char* query : {"cudaStreamQuery", "cuEventQuery", "cudaEventQuery_v3020"}) {
    const Recording recording = polled(20, 100, query);
    const auto calls = all<RecordedCall>(recording);
    const auto waits = all<RecordedOrder>(recording);
    ASSERT_EQ(calls.size(), 3u) << query;
    ASSERT_EQ(waits.size(), 1u) << query;
    EXPECT_EQ(calls[1].time, from_to(1020, 1102)) << query;
    EXPECT_EQ(waits[0].call, calls[1].call) << query;
    EXPECT_EQ(waits[0].kind, RecordedOrder::Kind::host_wait) << query;
    EXPECT_EQ(waits[0].stream, 4u) << query;
    EXPECT_TRUE(recording.has_inferred_waits) << query;
  }
}

TEST(PolledWaits, end_with_the_work_where_the_clock_of_the_gpu_is_a_little_late) {
  const Recording recording = polled(20, 94);
  ASSERT_EQ(all<RecordedOrder>(recording).size(), 1u);
  EXPECT_EQ(all<RecordedCall>(recording)[1].time, from_to(1020, 1100));
}

TEST(PolledWaits, are_not_made_of_single_queries_or_of_such_as_go_on_before_or_long_after_the_end) {
  for (const auto& [first, last] : {std::pair{100.0, 100.0}, std::pair{20.0, 50.0}, std::pair{120.0, 160.0}}) {
    const Recording recording = polled(first, last);
    EXPECT_EQ(all<RecordedCall>(recording).size(), 2u) << first;
    EXPECT_TRUE(all<RecordedOrder>(recording).empty()) << first;
    EXPECT_FALSE(recording.has_inferred_waits) << first;
  }
}

TEST(PolledWaits, are_those_of_each_thread) {
  MadeRecording made;
  made.launch(0, 5, 100, 4);
  made.call("cudaStreamQuery", 80, 82, 0);
  made.call("cudaStreamQuery", 90, 92, 1);
  made.call("cudaStreamQuery", 100, 102, 0);
  take_polls_for_waits(made.recording);
  EXPECT_EQ(all<RecordedOrder>(made.recording).size(), 1u);
  EXPECT_EQ(all<RecordedCall>(made.recording).size(), 2u);
}

}  // namespace
}  // namespace shiplap
