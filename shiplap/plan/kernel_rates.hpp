// The rates of a job's kernel by the metrics of Harris 2012.
#pragma once

#include <optional>
#include <string>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The time of the whole kernel on resident data, and its rates (Harris: "How to Implement Performance Metrics in CUDA
/// C/C++", NVIDIA 2012). They say of the kernel what KernelCost::origin says of its time: those of a derived time are
/// derived.
struct KernelRates {
  Seconds time{0};                               ///< one launch over all items
  std::optional<Bandwidth> effective_bandwidth;  ///< (R_B + W_B) / t; nullopt unless Job::device_traffic is stated
  std::optional<double> gigaflops;               ///< operations / t / 1e9; nullopt unless Job::flops is stated
};

/// The rates of the job's kernel; nullopt when the time of the kernel is not known or 0.
std::optional<KernelRates> kernel_rates(const Job&);
/// A text such as "56.41 µs, 3.57 TB/s effective bandwidth, 594.8 GFLOP/s".
std::string to_string(const KernelRates&);
/// "time" in ms, "effective_bandwidth" in GB/s and "gigaflops" in GFLOP/s; null where they are not known.
Json to_json(const KernelRates&);

}  // namespace shiplap
