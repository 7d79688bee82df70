// A node that can be checked and be made sick: the simulated GPU of a sound profile, with the conditions of a real one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/forwarding_device.hpp"

namespace shiplap {

/// The built-in H200, whose conditions a check knows.
inline Profile sound_profile() {
  Profile profile = find_profile("h200");
  profile.conditions["gpu.link"] = "32.0 GT/s PCIe x16";
  profile.conditions["gpu.link_loaded"] = "32.0 GT/s PCIe x16";
  profile.conditions["gpu.memory_bus_width"] = "6144 bits";
  return profile;
}

/// What is wrong with a node. Tests may change it while the node is measured.
struct Sickness {
  double slower = 1;                                   ///< factor on the times of all runs
  std::function<void()> in_run{};                      ///< called in each run, as for a clock of a test
  bool damages_bytes = false;                          ///< what arrives on the host is wrong
  std::function<double()> noise = [] { return 1.0; };  ///< a further factor on the time of each run
};

/// Copies of at most 16 MiB are measured, which keeps tests short.
class SickNode : public ForwardingDevice {
 public:
  explicit SickNode(Sickness& sickness, Profile profile = sound_profile())
      : ForwardingDevice(open_virtual(profile, "virtual:sick", VirtualBytes::left_out)),
        conditions_(std::move(profile.conditions)),
        sickness_(sickness) {}

  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.free_memory = 128_MiB;
    info.conditions = conditions_;
    info.conditions.erase("gpu.link_loaded");
    return info;
  }
  /// The link is read while it is busy.
  Conditions state() const override { return {{"gpu.link_loaded", conditions_.at("gpu.link_loaded")}}; }
  std::uint64_t mismatches(const Memory&, Bytes, Bytes, std::uint64_t, Bytes) override {
    return sickness_.damages_bytes ? 1 : 0;
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return std::make_unique<ChangedExecution>(ForwardingDevice::prepare(schedule, bindings), [this](RunResult& result) {
      if (sickness_.in_run) sickness_.in_run();
      const double factor = sickness_.slower * sickness_.noise();
      result.timeline.makespan *= factor;
      result.submission *= factor;
      result.host_total *= factor;
    });
  }

 private:
  Conditions conditions_;
  Sickness& sickness_;
};

}  // namespace shiplap
