#include "shiplap/measure/copies_within.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "shiplap/core/deadline.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// A simulated GPU that passes for one that shares its host with others, and whose bursts take as long on the host's
/// clock.
class SharesItsHost : public ForwardingDevice {
 public:
  static constexpr std::chrono::milliseconds burst{10};

  explicit SharesItsHost(std::uint64_t wrong_bytes = 0)
      : ForwardingDevice(open_virtual(planted_profile(), "virtual:planted", VirtualBytes::left_out)),
        wrong_bytes_(wrong_bytes) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.is_virtual = false;
    info.simulated.reset();
    return info;
  }
  std::uint64_t mismatches(const Memory&, Bytes, Bytes, std::uint64_t, Bytes) override { return wrong_bytes_; }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return std::make_unique<ChangedExecution>(ForwardingDevice::prepare(schedule, bindings),
                                              [](RunResult&) { std::this_thread::sleep_for(burst); });
  }

 private:
  std::uint64_t wrong_bytes_;
};

/// A period that begins when a machine under load is ready too.
Period soon() {
  const Seconds begin = steady_time() + Seconds{1.5};
  return {begin, begin + Seconds{0.1}};
}

TEST(CopiesWithin, counts_the_bursts_of_the_period_and_no_others) {
  SharesItsHost device;
  const double bursts_a_second = 1 / std::chrono::duration<double>(SharesItsHost::burst).count();
  const Bandwidth rate = copy_rate_within(device, CopyDirection::host_to_device, soon());
  EXPECT_LE(rate.bytes_per_second, in_bytes(256_MiB) * bursts_a_second);
  EXPECT_GT(rate.bytes_per_second, 0);
}

TEST(CopiesWithin, refuses_a_period_that_has_begun_before_the_gpu_was_ready) {
  SharesItsHost device;
  const Period begun{steady_time(), steady_time() + Seconds{1}};
  const std::string said = message_of([&] { copy_rate_within(device, CopyDirection::host_to_device, begun); });
  EXPECT_NE(said.find("after the others were to copy, so that they did not copy at once"), std::string::npos) << said;
}

TEST(CopiesWithin, gives_no_rate_of_bytes_that_did_not_arrive) {
  SharesItsHost device(3);
  const std::string said = message_of([&] { copy_rate_within(device, CopyDirection::device_to_host, soon()); });
  EXPECT_NE(said.find("3 of 268435456 bytes in the host destination are not what was sent"), std::string::npos) << said;
}

TEST(CopiesWithin, refuses_a_simulated_gpu) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  EXPECT_THROW(copy_rate_within(*device, CopyDirection::host_to_device, soon()), Unsupported);
}

}  // namespace
}  // namespace shiplap
