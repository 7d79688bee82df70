// Opens devices by name, and lists those that can be opened.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/measurable_device.hpp"

namespace shiplap {

/// Opens a device by its name: "cuda:0", "virtual:h200", "virtual:path/to/profile.json". Throws UsageError with the
/// list of devices for an unknown name. Throws Unsupported naming what is missing (toolkit at build time, driver, GPU)
/// for a CUDA device that cannot be opened.
std::unique_ptr<MeasurableDevice> open(std::string_view name);

/// Every device that can be opened, and for each backend without a device the reason.
struct DeviceListing {
  std::vector<DeviceInfo> devices;  ///< devices that can be opened
  std::vector<std::string> absent;  ///< "cuda: this shiplap was built without CUDA"
};
/// Queries every backend and opens every built-in profile.
DeviceListing list_devices();

/// The first CUDA device when there is one, else "virtual:h200".
std::string default_device();

}  // namespace shiplap
