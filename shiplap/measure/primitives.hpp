// The table of primitives: for each, which points are measured and the schedule behind a point.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// The arguments of a point, by name: {"bytes": 4096, "copies": 16}.
using Arguments = std::map<std::string, double>;

/// What the choice of points depends on.
struct Setting {
  Effort effort = Effort::standard;
  Bytes largest;  ///< size of the largest copy
  DeviceInfo info;
};

/// Variants of a schedule that are sampled in turns, because their difference is what counts. Mostly there is one.
struct Point {
  std::string label;  ///< "4 MiB x 8, 64"
  std::vector<Arguments> variants;
};

/// What the host's clock times, for a primitive whose clock is the host's.
enum class HostClock : std::uint8_t {
  submission,  ///< from the first call to the return of the last one
  completion,  ///< from the first call until the host knows that all work has ended
  operation,   ///< the op `Trial::timed_op`, which an agent performs
};

struct PrimitiveRow {
  Primitive primitive;
  /// The points of the row. Throws Unsupported with the reason when this device has none.
  std::vector<Point> (*points)(const Setting&);
  /// The schedule behind a variant of a point. Throws Unsupported when the device cannot run it.
  Trial (*trial)(MeasurableDevice&, const Arguments&);
  HostClock host_clock = HostClock::submission;
};
std::span<const PrimitiveRow> primitive_rows();

}  // namespace shiplap
