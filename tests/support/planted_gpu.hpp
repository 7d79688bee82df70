// A virtual GPU with the planted profile.
#pragma once

#include <memory>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {

inline std::shared_ptr<MeasurableDevice> planted_gpu() { return open_virtual(planted_profile(), "virtual:planted"); }

}  // namespace shiplap
