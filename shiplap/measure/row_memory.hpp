// The memory that the trials of a row work on, and the verification of its bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// The buffers of a row, each as long as the longest trial needs it. Buffer i has the same role in all trials of a row.
class RowMemory {
 public:
  /// Allocates memory for `trials` (by point, then variant) and fills sources with a pattern. Throws Error when the
  /// pages of host memory are on another NUMA node than requested, because the figure would be attributed to the wrong
  /// node.
  RowMemory(MeasurableDevice&, const std::vector<std::vector<Trial>>& trials);

  /// Whether the NUMA node of all host memory is known.
  bool placement_known() const { return placement_known_; }
  std::vector<std::byte*> data() const;
  void poison_destinations(MeasurableDevice&, const Trial&) const;
  /// Verifies a trial. The result is "" when all bytes are right, else a sentence on the first error.
  std::string difference(MeasurableDevice&, const Trial&) const;

 private:
  void require_placed(const MeasurableDevice&, const Memory&, const std::string& name);
  std::string misplaced(const MeasurableDevice&, const Trial&) const;

  std::vector<Memory> memories_;
  bool placement_known_ = true;
};

}  // namespace shiplap
