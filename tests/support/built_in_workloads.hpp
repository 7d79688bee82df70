// Small jobs of every built-in workload, of sizes that nothing divides, and the ways to run them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::testing {

/// A name for each workload and each variant of one.
std::vector<std::string> small_workloads();

/// The workload with a kernel cost and with its arrays in the memory that the strategy is for.
Workload workload_for(const std::string& name, const Strategy&);

/// 1, 2, a prime and the most that the job can be cut into; what does not divide, too.
std::vector<std::uint32_t> chunk_counts(const Job&);

/// Not those whose kernels reach into host memory where the kernel is not made for it.
bool can_run(const Job&, const Strategy&);

/// Runs the workload under the choice twice on the device and says what differs; "" when all is right, and when a
/// choice that cannot be run is refused.
std::string difference_after_runs(MeasurableDevice&, const std::string& name, const Choice&);

}  // namespace shiplap::testing
