// A device whose clocks are not perfect: wraps another one and disturbs the times that it reports.
#pragma once

#include <cstdint>
#include <memory>

#include "shiplap/device/measurable_device.hpp"

namespace shiplap {

struct Noise {
  std::uint64_t seed = 1;
  double relative = 0.02;                  ///< standard deviation of the factor on every reported time
  Seconds event_step = microseconds(0.5);  ///< times by events are whole multiples of it
};

/// Every run reports the inner device's times, each multiplied by 1 + relative · (standard normal), event times then
/// rounded to steps. A schedule has noise of its own each time that it is prepared, whatever else is. The inner device
/// runs a schedule once and its times are kept: it must be deterministic.
std::shared_ptr<MeasurableDevice> make_noisy(std::shared_ptr<MeasurableDevice> inner, const Noise&);

}  // namespace shiplap
