// Files with the cost of a kernel, which are written where it was measured and read where it cannot be measured.
#pragma once

#include <filesystem>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Writes every field of the cost.
Json to_json(const KernelCost&);
/// Reads what to_json wrote. Throws Error that names the source and the key.
void from_json(const JsonReader&, KernelCost&);
/// The JSON Schema of what to_json writes.
Json json_schema(const KernelCost&);

/// The JSON Schema of kernel profiles.
Json kernel_profile_schema();
/// Writes the kernel profile of a workload (docs/schema/kernel-profile.schema.json). Throws Error that names the path.
void save_kernel_profile(const std::string& workload, const std::string& device_name, const KernelCost&,
                         const std::filesystem::path&);
/// Reads the kernel profile of a workload. Throws Error that names the path, UsageError when the profile is of another
/// workload.
KernelCost load_kernel_profile(const std::string& workload, const std::filesystem::path&);

}  // namespace shiplap
