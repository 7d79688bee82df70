// What is done with a device while its calls are made to fail: together it makes every call of the table.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/measurable_device.hpp"

namespace shiplap::testing {

struct Scenario {
  std::string name;
  std::vector<int> gpus;
  /// Throws what the device throws. Without, the right bytes have come out. It lets go of all that it has made.
  std::function<void(MeasurableDevice&, const Api&)> work;
  std::size_t threads = 1;  ///< that make calls

  friend void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }
};

/// Before they pass on what a run has thrown, they look at what it has left behind: nothing in flight, and each chunk
/// of the output as it was or complete. The same execution must then run as ever, or throw again when the GPU is lost.
std::vector<Scenario> fault_scenarios();

}  // namespace shiplap::testing
