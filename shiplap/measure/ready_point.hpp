// A point of the table made ready: its schedules are prepared, and each run of one gives a reading of the row's clock.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/sampler.hpp"

namespace shiplap {

/// The trials of a point, each as a probe that runs it once. Row, trials and memory must outlive this.
class ReadyPoint {
 public:
  /// Throws as Device::prepare does.
  ReadyPoint(MeasurableDevice&, const PrimitiveRow&, const std::vector<Trial>&, const RowMemory&);

  /// A probe for each trial, in their order.
  std::span<const Probe> probes() const { return probes_; }

 private:
  std::vector<std::unique_ptr<Execution>> executions_;
  std::vector<Probe> probes_;
};

}  // namespace shiplap
