// Rows of movers concurrent with kernels that a device or the largest copy leaves out.
#include <gtest/gtest.h>

#include <string>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/measure.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// The planted GPU, which may not say how many SMs it has.
class CountsSms : public ForwardingDevice {
 public:
  explicit CountsSms(bool counts)
      : ForwardingDevice(open_virtual(planted_profile(), "virtual:planted", VirtualBytes::left_out)), counts_(counts) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    if (!counts_) info.sm_count = 0;
    return info;
  }

 private:
  bool counts_;
};

/// Why the row was left out; "" when it was measured.
std::string left_out(const std::string& row, Effort effort, Bytes largest, bool counts_sms = true) {
  CountsSms device(counts_sms);
  const MeasureResult result = measure(device, {.effort = effort, .largest = largest, .only = row, .progress = {}});
  EXPECT_TRUE(result.failed.empty());
  EXPECT_NE(result.measurements.empty(), result.skipped.empty());
  return result.skipped.empty() ? "" : result.skipped.front().reason;
}

TEST(BesideRows, need_a_pool_with_four_blocks_at_least) {
  for (const char* row : {"beside.gather.compute", "beside.scatter.memory"})
    EXPECT_EQ(left_out(row, Effort::quick, 128_KiB), "the largest copy asked for, 128 KiB, leaves no pool of blocks");
}

TEST(BesideRows, of_moves_need_a_pool_that_is_larger_than_the_longest_set_of_blocks) {
  EXPECT_EQ(left_out("moves.gather", Effort::standard, 63_MiB),
            "the largest copy asked for leaves a pool of only 63 MiB");
  EXPECT_EQ(left_out("moves.gather", Effort::standard, 64_MiB), "");
}

TEST(BesideRows, need_a_device_that_says_how_many_sms_it_has) {
  EXPECT_EQ(left_out("beside.scatter.memory", Effort::quick, 16_MiB, false),
            "virtual:planted does not say how many SMs it has");
}

}  // namespace
}  // namespace shiplap
