// The table of primitives: the points of each one, and the schedule that is timed at a point.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// The arguments of a point, by name: {"bytes": 4096, "copies": 16}.
using Arguments = std::map<std::string, double>;

/// The facts that determine which points are measured.
struct Setting {
  Effort effort = Effort::standard;
  Bytes largest;  ///< size of the largest copy
  DeviceInfo info;
};

/// A measured point: one schedule, or variants whose samples alternate because their difference is the result.
struct Point {
  std::string label;  ///< label for people: "4 MiB x 8, 64"
  std::vector<Arguments> variants;
};

/// The interval that the host's clock measures, for a primitive with that clock.
enum class HostClock : std::uint8_t {
  submission,  ///< from the first call to the return of the last one
  completion,  ///< from the first call until the host knows that all work has ended
  operation,   ///< the op `Trial::timed_op`, which an agent performs
};

struct PrimitiveRow {
  Primitive primitive;
  /// The points of the row. Throws Unsupported with the reason when the device supports none.
  std::function<std::vector<Point>(const Setting&)> points;
  /// The schedule of a variant of a point. Throws Unsupported when the device cannot run it.
  std::function<Trial(MeasurableDevice&, const Arguments&)> trial;
  HostClock host_clock = HostClock::submission;
};
std::span<const PrimitiveRow> primitive_rows();
/// The rows that `rows` or `only` of the options select, in the order in which they are measured. Throws UsageError for
/// an unknown name and when nothing matches.
std::vector<const PrimitiveRow*> selected_rows(const MeasureOptions&);

}  // namespace shiplap
