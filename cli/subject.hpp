// The device that a command speaks of, with the profile to predict from and the limits to stay within.
#pragma once

#include <memory>
#include <string>

#include "cli/cli11.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {

struct Subject {
  /// Opens the device ("" is the default one) and finds its profile, or takes the one named.
  Subject(const std::string& device_name, const std::string& profile_name);

  /// The workload's job with a kernel cost: its own when it states one, derived from the device's profile on a virtual
  /// device, measured on resident data on a real one (which allocates its arrays for the time being).
  Job costed(Workload) const;

  std::unique_ptr<Device> device;
  DeviceInfo info;
  Profile profile;
  Limits limits;  ///< of the profile, and on a real device of the memory that is free now
};

/// Gives a job without a kernel cost one derived from its flops and bytes.
void give_derived_cost(Job&, const Profile&);

/// Whether the kernel is to be measured before planning: a real kernel on a real device, its time not
/// stated.
bool wants_probe(const Workload&, const DeviceInfo&);

/// --scale: a profile derived from the one that is named.
CLI::Option* add_scale_flag(CLI::App&, std::string& scale);
/// The profile itself without such a wish.
Profile scaled(Profile, const std::string& scale);

}  // namespace shiplap::cli
