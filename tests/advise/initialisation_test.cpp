#include "shiplap/advise/initialisation.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/advise/made_recording.hpp"
#include "tests/advise/made_step.hpp"

namespace shiplap {
namespace {

TEST(Initialisation, is_the_time_in_calls_before_the_first_work) {
  MadeRecording made;
  made.call("cudaMalloc", 0, 2000);
  made.call("cudaMallocHost", 5000, 5300);
  made.launch(6000, 6010, 6020);
  made.call("cudaMalloc", 6100, 6200);
  const Initialisation found = initialisation_of(made.recording);
  EXPECT_MICROSECONDS(found.before_work, 2000 + 300);
  EXPECT_EQ(found.in_first_calls, Seconds{0});
}

TEST(Initialisation, is_what_the_first_launch_of_a_kernel_takes_more_than_others_while_the_gpu_is_idle) {
  MadeRecording made;
  const std::uint64_t slow = made.call("cudaLaunchKernel", 0, 1504);
  made.kernel(slow, 1510, 1600, 1, "first");
  made.kernel(made.call("cudaLaunchKernel", 1600, 1604), 1610, 1700, 1, "first");
  made.kernel(made.call("cudaLaunchKernel", 1710, 1910), 1915, 1920, 1, "second");  // 110 after it: idle for 200
  made.kernel(made.call("cudaLaunchKernel", 1920, 2000), 2010, 2020, 1, "third");   // is not much longer than others
  const Initialisation found = initialisation_of(made.recording);
  EXPECT_EQ(found.of_call.size(), 2u);
  EXPECT_MICROSECONDS(found.of_call.at(slow), 1500);
  EXPECT_MICROSECONDS(found.in_first_calls, 1500 + 196);
}

TEST(Initialisation, is_what_the_first_copy_to_a_gpu_takes_after_its_bytes_are_there) {
  MadeRecording made;
  RecordedCopy& back = made.copy(made.call("cudaMemcpy", 0, 500), 10, 20);  // the host takes its bytes after that
  std::swap(back.from, back.to);
  const std::uint64_t first = made.call("cudaMemcpy", 1000, 3260);
  made.copy(first, 1070, 1080);
  made.copy(made.call("cudaMemcpy", 4000, 6000), 4100, 4110);
  const Initialisation found = initialisation_of(made.recording);
  ASSERT_EQ(found.of_call.size(), 1u);
  EXPECT_MICROSECONDS(found.of_call.at(first), 2180);
  EXPECT_MICROSECONDS(found.in_first_calls, 2180);
}

TEST(Initialisation, has_the_first_copy_to_each_gpu_and_no_copy_between_hosts_nor_a_graph) {
  MadeRecording made;
  made.copy(made.call("cudaMemcpy", 0, 500), 10, 20).to = MemoryKind::pinned;  // from host to host
  const std::uint64_t graph = made.call("cudaGraphLaunch", 600, 1000);
  made.copy(graph, 610, 620);
  made.kernel(graph, 620, 990);
  const std::uint64_t first = made.call("cudaMemcpy", 1000, 3000);
  made.copy(first, 1100, 1110);
  const std::uint64_t other = made.call("cudaMemcpy", 3000, 4000);
  made.copy(other, 3100, 3110).gpu = 1;
  const Initialisation found = initialisation_of(made.recording);
  EXPECT_EQ(found.of_call.size(), 2u);
  EXPECT_MICROSECONDS(found.of_call.at(first), 1890);
  EXPECT_MICROSECONDS(found.of_call.at(other), 890);
}

TEST(Initialisation, is_nothing_of_a_copy_that_goes_on_after_its_call) {
  MadeRecording made;
  made.copy(made.call("cudaMemcpyAsync", 0, 200), 210, 2000);
  EXPECT_TRUE(initialisation_of(made.recording).of_call.empty());
}

TEST(Initialisation, is_no_launch_that_waits_for_a_place_in_its_stream) {
  MadeRecording made;
  made.kernel(made.call("cudaLaunchKernel", 0, 4), 10, 5000, 1, "long");
  made.kernel(made.call("cudaLaunchKernel", 10, 4000), 5000, 5010, 1, "short");
  EXPECT_TRUE(initialisation_of(made.recording).of_call.empty());
}

}  // namespace
}  // namespace shiplap
