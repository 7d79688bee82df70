#include "shiplap/advise/failed_calls.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

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

TEST(FailedCalls, are_nearly_all_once_hardly_any_call_succeeds) {
  MadeRecording made;
  made.call("cudaMemcpy", 0, 10);
  made.call("cudaMemcpy", 40, 50);  // is written before the first that fails, and comes after it
  made.call("cudaLaunchKernel", 10, 20);
  made.call("cudaMalloc", 60, 70);
  call(made.recording, 2).error = 719;
  call(made.recording, 3).error = 700;
  auto found = failed_calls(made.recording);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->function, "cudaLaunchKernel");
  EXPECT_EQ(found->error, 700u);
  EXPECT_MICROSECONDS(found->from, made.offset + 20);
  EXPECT_EQ(found->failed, 2u);
  EXPECT_EQ(found->after, 2u);
  EXPECT_TRUE(found->are_nearly_all());
  const std::string text = describe(*found);
  EXPECT_EQ(text.find("cudaLaunchKernel returns error 700 (illegal address) after 1.020 ms, and so do 1 of 1 calls"),
            0u)
      << text;
  EXPECT_NE(text.find("compute-sanitizer"), std::string::npos) << text;
  for (int i = 0; i < 20; ++i) {  // a call of another GPU succeeds
    const std::uint64_t number = made.call("cudaLaunchKernel", 100 + i, 101 + i);
    if (i != 7) std::get<RecordedCall>(made.recording.records.back()).error = 700;
    ASSERT_GT(number, 0u);
  }
  found = failed_calls(made.recording);
  EXPECT_EQ(found->failed, 21u);
  EXPECT_TRUE(found->are_nearly_all());
}

TEST(FailedCalls, are_not_nearly_all_where_only_the_last_call_fails) {
  MadeRecording made;
  made.call("cudaMemcpy", 0, 10);
  made.call("cudaMemPrefetchAsync", 10, 20);
  call(made.recording, 2).error = 101;
  const auto found = failed_calls(made.recording);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->are_nearly_all());
  const std::string text = describe(*found);
  EXPECT_EQ(text.find("cudaMemPrefetchAsync returns error 101 after 1.020 ms."), 0u) << text;
  EXPECT_EQ(text.find("compute-sanitizer"), std::string::npos) << text;
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
  EXPECT_FALSE(found->are_nearly_all());
}

}  // namespace
}  // namespace shiplap
