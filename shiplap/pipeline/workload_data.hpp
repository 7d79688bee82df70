// A workload with filled arrays in memory of a device's host, so that it can be run and verified.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

/// The memory of the host that the job's arrays need.
Bytes host_memory_for(const Job&);
/// Throws Error with the numbers when that, with the memory of a simulated GPU, is more than this host has available.
void require_available_memory(const Job&, Bytes of_simulated_gpu = Bytes{0});

/// The arrays of a workload, and its job on them.
class WorkloadData {
 public:
  /// Allocates and fills the arrays. Throws as require_available_memory does, before anything is allocated, and as
  /// Device::allocate does.
  WorkloadData(Device&, Workload);
  WorkloadData(const WorkloadData&) = delete;
  WorkloadData& operator=(const WorkloadData&) = delete;
  ~WorkloadData();

  /// The workload's job on these arrays.
  const Job& job() const { return workload_.job; }
  /// Sets the cost of the job's kernel.
  void set_cost(KernelCost cost) { workload_.job.cost = std::move(cost); }

  /// Fills the arrays anew and poisons the outputs, so that a run that writes nothing cannot pass.
  void refill();
  /// Compares the outputs with the host reference. Returns "" when they are right, else the first difference.
  std::string verify() const;

 private:
  std::vector<std::span<std::byte>> arrays() const;

  Workload workload_;
  std::vector<Memory> memory_;
};

}  // namespace shiplap
