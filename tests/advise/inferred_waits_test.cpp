#include "shiplap/advise/inferred_waits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/advise/made_recording.hpp"

namespace shiplap {
namespace {

/// Calls, and the work that they submitted.
struct InferredFrom {
  std::vector<Record> calls;
  std::vector<Record> work;

  void launch(std::uint64_t call, double called, double start, double end, std::uint32_t stream,
              std::uint32_t thread = 0) {
    calls.emplace_back(RecordedCall{call, thread, from_to(called, called + 1), "cudaLaunchKernel"});
    work.emplace_back(RecordedKernel{call, stream, from_to(start, end), "k"});
  }
  std::optional<RecordedOrder> wait(const std::string& function, double start, double end, std::uint32_t thread = 0) {
    const RecordedCall call{99, thread, from_to(start, end), function};
    calls.emplace_back(call);
    return InferredWaits(calls, work).of(call);
  }
};

TEST(InferredWaits, for_a_stream_are_for_the_one_into_which_the_thread_has_submitted_last) {
  InferredFrom made;
  made.launch(1, 1, 10, 20, 5);
  made.launch(2, 2, 11, 30, 6);
  made.launch(3, 3, 12, 40, 7, 1);
  EXPECT_EQ(made.wait("cudaStreamSynchronize", 4, 31), (RecordedOrder{99, RecordedOrder::Kind::host_wait, 6, 0, 0}));
}

TEST(InferredWaits, for_an_event_are_for_the_stream_whose_work_ended_last_before_the_wait_ended) {
  InferredFrom made;
  made.launch(1, 1, 10, 20, 5);
  made.launch(2, 2, 11, 30, 6);
  EXPECT_EQ(made.wait("cudaEventSynchronize", 4, 21), (RecordedOrder{99, RecordedOrder::Kind::host_wait, 5, 0, 0}));
}

TEST(InferredWaits, for_the_gpu_are_for_all_streams_of_all_gpus) {
  InferredFrom made;
  EXPECT_EQ(made.wait("cudaDeviceSynchronize", 4, 21), (RecordedOrder{99, RecordedOrder::Kind::device_wait}));
}

TEST(InferredWaits, are_absent_for_calls_that_do_not_wait_and_where_no_work_came_before) {
  InferredFrom made;
  made.launch(1, 1, 50, 60, 5, 1);
  EXPECT_EQ(made.wait("cudaStreamSynchronize", 4, 21), std::nullopt);
  EXPECT_EQ(made.wait("cudaEventSynchronize", 4, 21), std::nullopt);
  EXPECT_EQ(made.wait("cudaStreamWaitEvent", 4, 100), std::nullopt);
  EXPECT_EQ(made.wait("cudaMalloc", 4, 100), std::nullopt);
}

}  // namespace
}  // namespace shiplap
