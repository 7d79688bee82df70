#include "shiplap/advise/failed_calls.hpp"

#include <gtest/gtest.h>

#include "tests/advise/made_recording.hpp"
#include "tests/advise/made_step.hpp"

namespace shiplap {
namespace {

RecordedCall& call(Recording& recording, std::size_t number) {
  return std::get<RecordedCall>(recording.records.at(number - 1));
}

TEST(FailedCalls, are_none_where_all_succeed_or_only_an_allocation_or_a_query_fails) {
  MadeRecording made;
  made.call("cudaMalloc", 0, 10);
  made.call("cudaEventQuery", 10, 20);
  made.call("cudaMemcpyAsync", 20, 30);
  call(made.recording, 1).error = 2;    // out of memory, which allocators try
  call(made.recording, 2).error = 600;  // not ready
  EXPECT_FALSE(failed_calls(made.recording));
}

TEST(FailedCalls, are_all_once_no_call_succeeds_any_more) {
  MadeRecording made;
  made.call("cudaMemcpy", 0, 10);
  made.call("cudaMemcpy", 40, 50);  // is written before the first that fails, and comes after it
  made.call("cudaLaunchKernel", 10, 20);
  made.call("cudaMalloc", 60, 70);
  call(made.recording, 2).error = 719;
  call(made.recording, 3).error = 700;
  const auto found = failed_calls(made.recording);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->function, "cudaLaunchKernel");
  EXPECT_EQ(found->error, 700u);
  EXPECT_MICROSECONDS(found->from, made.offset + 20);
  EXPECT_EQ(found->failed, 2u);
  EXPECT_EQ(found->after, 2u);
  EXPECT_TRUE(found->all());
}

TEST(FailedCalls, are_some_where_others_do_their_work) {
  MadeRecording made;
  made.call("cudaLaunchKernel", 0, 10);
  made.call("cudaLaunchKernel", 10, 20);
  made.call("cudaDeviceSynchronize", 20, 30);
  call(made.recording, 1).error = 9;
  const auto found = failed_calls(made.recording);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->failed, 1u);
  EXPECT_EQ(found->after, 3u);
  EXPECT_FALSE(found->all());
}

}  // namespace
}  // namespace shiplap
