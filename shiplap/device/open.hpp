// Opens devices by name, and lists those that can be opened.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/measurable_device.hpp"

namespace shiplap {

/// Opens a device by its name: "cuda:0", "virtual:h200", "virtual:path/to/profile.json". Several GPUs are one device:
/// "cuda:0,1", and "virtual:h200:2" or "virtual:h200,h200", which has exactly two GPUs: those of the profile, and
/// beyond them GPUs and links like the first. Without a number a virtual device has the GPUs of the profile.
/// Throws UsageError that says which names there are for an unknown one. Throws Unsupported naming what is missing
/// (toolkit at build time, driver, GPU) for a CUDA device that cannot be opened. Nodes and prepared jobs of the device
/// share its ownership.
std::shared_ptr<MeasurableDevice> open(std::string_view name);

/// Every device that can be opened, and for each backend without a device the reason.
struct DeviceListing {
  std::vector<DeviceInfo> devices;  ///< devices that can be opened
  std::vector<std::string> absent;  ///< "cuda: this shiplap was built without CUDA"
};
/// Queries every backend and opens every built-in profile.
DeviceListing list_devices();

/// The first CUDA device when there is one, else "virtual:h200".
std::string default_device();

/// The profile that a virtual device of this name simulates, a built-in one or a file; "" for the name of another
/// device. Throws UsageError for a number of GPUs that there cannot be.
std::string profile_of_virtual_device(std::string_view name);

}  // namespace shiplap
