// Devices as `shiplap devices --json` lists them, for programs that choose one.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/device/device_info.hpp"

namespace shiplap {

/// The devices that can be opened.
struct ListedDevices {
  std::string default_device;       ///< the one that is used where none is named
  std::vector<DeviceInfo> devices;  ///< with the id that `open` takes, what the device has, and its conditions
  std::vector<std::string> absent;  ///< for each backend without a device the reason
};

Json to_json(const ListedDevices&);
/// Reads what to_json wrote. Throws Error that names the key.
void from_json(const JsonReader&, ListedDevices&);

}  // namespace shiplap
