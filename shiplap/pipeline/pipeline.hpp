// A workload with its memory on a device, filled, ready to be run under different choices and to be verified.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

class Pipeline {
 public:
  /// Allocates and fills the arrays.
  Pipeline(Device&, Workload);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  const Workload& workload() const { return workload_; }

  KernelCost probe_kernel(const Limits&, const ProbeOptions& = {});
  void set_cost(KernelCost cost) { workload_.job.cost = std::move(cost); }

  Prepared prepare(const Choice&, const Limits&);
  Prepared prepare_duplex(const Limits&);
  Prepared prepare_kernel(const Limits&);

  /// Refills the arrays, so that a run that wrote nothing cannot pass.
  void refill();
  /// "" when the outputs equal the host reference, else what differs first.
  std::string verify() const;

 private:
  std::vector<std::span<std::byte>> arrays() const;
  Device& device_;
  Workload workload_;
  std::vector<Memory> memory_;
};

}  // namespace shiplap
