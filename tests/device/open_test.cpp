#include "shiplap/device/open.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Without CUDA in the build, without a driver or GPU, and with fewer GPUs than that.
TEST(OpenDevice, says_of_a_gpu_that_is_not_there_what_is_missing) {
  EXPECT_THAT(
      message_of<Unsupported>([] { open("cuda:99"); }),
      AnyOf("cannot open cuda:99: this shiplap was built without CUDA; configure and build it again where nvcc "
            "is found, or use a virtual device",
            HasSubstr("cannot open cuda:99: cudaGetDeviceCount failed"),
            HasSubstr("cannot open cuda:99: the CUDA runtime sees no GPU"), HasSubstr("there is no cuda:99: ")));
}

}  // namespace
}  // namespace shiplap
