#include "shiplap/advise/trace_event.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

TEST(NanosecondsOfATrace, are_exact_for_decimals_of_microseconds) {
  EXPECT_EQ(nanoseconds_of("0"), 0);
  EXPECT_EQ(nanoseconds_of("12"), 12'000);
  EXPECT_EQ(nanoseconds_of("1712195495506161.001"), 1'712'195'495'506'161'001);
  EXPECT_EQ(nanoseconds_of("1.5"), 1500);
  EXPECT_EQ(nanoseconds_of("1.0625"), 1063);
  EXPECT_EQ(nanoseconds_of("0.9996"), 1000);
  EXPECT_EQ(nanoseconds_of("-0.25"), -250);
}

TEST(NanosecondsOfATrace, are_absent_for_other_texts_and_for_times_that_64_bits_do_not_hold) {
  for (const char* const text : {"", "-", ".5", "1.x", "1e3", "--1", "+1", "99999999999999999", "4611686018427388"})
    EXPECT_EQ(nanoseconds_of(text), std::nullopt) << text;
}

TEST(TraceEvent, has_the_members_of_an_event_and_of_its_args) {
  const auto event = trace_event(
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 1.5, "dur": 2, "id": 3,
          "args": {"name": "label", "device": 1, "stream": 7.0, "correlation": 9, "bytes": 10, "grid": [2, 3, 4],
                   "block": [5, 6, 7], "wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": 11,
                   "wait_on_cuda_event_id": 12}})");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->phase, "X");
  EXPECT_EQ(event->category, "kernel");
  EXPECT_EQ(event->name, "k");
  EXPECT_EQ(event->process, "0");
  EXPECT_EQ(event->thread, "stream 7");
  EXPECT_EQ(event->start, 1500);
  EXPECT_EQ(event->duration, 2000);
  EXPECT_EQ(event->id, 3);
  EXPECT_EQ(event->label, "label");
  EXPECT_EQ(event->device, 1);
  EXPECT_EQ(event->stream, 7);
  EXPECT_EQ(event->correlation, 9);
  EXPECT_EQ(event->bytes, 10);
  EXPECT_EQ(event->blocks, 24u);
  EXPECT_EQ(event->threads, 210u);
  EXPECT_EQ(event->awaited_stream, -1);
  EXPECT_EQ(event->awaited_record, 11);
  EXPECT_EQ(event->awaited_event, 12);
}

TEST(TraceEvent, takes_no_member_of_an_object_that_is_not_args) {
  const auto event = trace_event(R"({"other": {"correlation": 1, "name": "n"}, "args": {"deep": {"stream": 1},
                                     "device": 2}, "bytes": 3})");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->correlation, std::nullopt);
  EXPECT_EQ(event->label, "");
  EXPECT_EQ(event->name, "");
  EXPECT_EQ(event->stream, std::nullopt);
  EXPECT_EQ(event->device, 2);
  EXPECT_EQ(event->bytes, std::nullopt);
}

TEST(TraceEvent, has_times_with_exponents_as_far_as_doubles_tell) {
  const auto event = trace_event(R"({"ts": 1.5e3, "dur": 1e30})");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->start, 1'500'000);
  EXPECT_EQ(event->duration, std::nullopt);
}

TEST(TraceEvent, is_none_when_the_text_is_no_json) {
  for (const char* const text : {"", "{", R"({"a": "\U"})", R"({"a": nan})", R"({"a": 1,})", R"({"a": 1e999})"})
    EXPECT_FALSE(trace_event(text).has_value()) << text;
}

}  // namespace
}  // namespace shiplap
