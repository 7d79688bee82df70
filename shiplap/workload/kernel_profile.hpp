// What is known of a kernel as a file: written where it was measured, read where it cannot be.
#pragma once

#include <filesystem>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// All of it.
Json to_json(const KernelCost&);
/// What to_json wrote. Throws Error naming source and key.
KernelCost kernel_cost_from_json(const JsonReader&);

/// The kernel profile of a workload, of the schema docs/schema/kernel-profile.schema.json. Throws Error naming the
/// path.
void save_kernel_profile(const std::string& workload, const std::string& device_name, const KernelCost&,
                         const std::filesystem::path&);
/// Throws Error naming the path, UsageError where it is of another workload.
KernelCost load_kernel_profile(const std::string& workload, const std::filesystem::path&);

}  // namespace shiplap
