// A measured point that is ready to run. Each run of its schedules returns a reading of the row's clock.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/sampler.hpp"

namespace shiplap {

/// The trials of a point as probes; a call of a probe runs its trial once. Row, trials and memory must outlive this.
class ReadyPoint {
 public:
  /// Throws as Device::prepare does.
  ReadyPoint(MeasurableDevice&, const PrimitiveRow&, const std::vector<Trial>&, const RowMemory&);

  /// One probe for each trial, in the order of the trials.
  std::span<const Probe> probes() const { return probes_; }

  /// Runs `Trial::set_up` of a trial, if it has one.
  void set_up(std::size_t trial) const;
  /// Runs `Trial::read_back` of a trial, if it has one.
  void read_back(std::size_t trial) const;

 private:
  std::vector<std::unique_ptr<Execution>> executions_;
  std::vector<Probe> probes_;
  std::vector<Execution*> set_ups_;     // by trial; null for none
  std::vector<Execution*> read_backs_;  // by trial; null for none
};

}  // namespace shiplap
