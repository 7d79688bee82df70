// The memory of a row of the table: what its trials work on, and whether the right bytes came out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// The row's buffers, each as long as the longest trial needs it; trials of one row agree on what buffer i is.
class RowMemory {
 public:
  /// `trials` are those of each point's variants. Fills sources with a pattern. Throws Error when the pages of host
  /// memory are on another NUMA node than asked for, because it would be measured under the wrong name.
  RowMemory(MeasurableDevice&, const std::vector<std::vector<Trial>>& trials);

  /// Whether the system could tell, for all host memory, on which NUMA node its pages are.
  bool placement_known() const { return placement_known_; }
  std::vector<std::byte*> data() const;
  void poison_destinations(MeasurableDevice&, const Trial&) const;
  /// "" when the trial did its work, else a sentence on what did not arrive, has changed or has not moved.
  std::string difference(MeasurableDevice&, const Trial&) const;

 private:
  void require_placed(const MeasurableDevice&, const Memory&, const std::string& name);
  std::string misplaced(const MeasurableDevice&, const Trial&) const;

  std::vector<Memory> memories_;
  bool placement_known_ = true;
};

}  // namespace shiplap
