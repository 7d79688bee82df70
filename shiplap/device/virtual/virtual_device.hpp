// The virtual device: simulates a schedule on a profile and moves the real bytes in the simulated order.
#pragma once

#include <memory>
#include <string>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Opens a virtual device. `id` is the name under which it was opened ("virtual:h200").
std::unique_ptr<MeasurableDevice> open_virtual(Profile, std::string id);

}  // namespace shiplap
