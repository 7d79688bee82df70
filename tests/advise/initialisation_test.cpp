#include "shiplap/advise/initialisation.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(found.in_launches, Seconds{0});
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
  EXPECT_MICROSECONDS(found.in_launches, 1500 + 196);
}

TEST(Initialisation, is_no_launch_that_waits_for_a_place_in_its_stream) {
  MadeRecording made;
  made.kernel(made.call("cudaLaunchKernel", 0, 4), 10, 5000, 1, "long");
  made.kernel(made.call("cudaLaunchKernel", 10, 4000), 5000, 5010, 1, "short");
  EXPECT_TRUE(initialisation_of(made.recording).of_call.empty());
}

}  // namespace
}  // namespace shiplap
