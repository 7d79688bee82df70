// The promises of devices, kept by the virtual device.
#include "tests/device/suite/device_suite.hpp"

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap::testing {
namespace {

class TestedVirtual final : public TestedDevice {
 public:
  std::shared_ptr<MeasurableDevice> open(unsigned gpus) override {
    Profile profile = with_gpus(planted_profile(), gpus);
    const std::vector<TimeAt> times{{1_MiB, Interval<Seconds>::exact(microseconds(5))}};
    if (gpus > 1) profile.peers = {{.from = 0, .to = 1, .direct = times, .staged = times}};
    const auto device = open_virtual(std::move(profile), "virtual:planted");
    opened_.push_back(device);
    return device;
  }
  KernelBinding inverting_kernel() override {
    return {.host =
                [](const Launch& l) {
                  for (std::uint64_t i = 0; i < l.lengths[0].count; ++i) l.operands[1][i] = ~l.operands[0][i];
                },
            .cuda = {},
            .duration = [this](const Launch&) { return endless_ ? Seconds{3600} : microseconds(5); }};
  }
  void set_endless(bool endless) override { endless_ = endless; }
  void refuse_launch(const Launch&) override { throw Error("the launch is refused"); }
  std::size_t in_use() override {
    std::size_t bytes = 0;
    for (const auto& one : opened_)
      if (const auto device = one.lock()) bytes += (device->info().memory - device->info().free_memory).count;
    return bytes;
  }
  bool leaves_work_in_flight() const override { return false; }

 private:
  std::vector<std::weak_ptr<MeasurableDevice>> opened_;
  bool endless_ = false;
};

SHIPLAP_DEVICE_SUITE(virtual_device, TestedVirtual);

}  // namespace
}  // namespace shiplap::testing
