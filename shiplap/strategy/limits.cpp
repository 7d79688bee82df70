#include "shiplap/strategy/limits.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

Limits limits_of(const Profile& profile) {
  if (profile.gpus.empty()) throw Unsupported(fmt::format("profile {} has no GPU", profile.name));
  const GpuModel& gpu = profile.gpus.front();
  return {.device_memory = gpu.memory / 5 * 4,
          .resident_threads = gpu.resident_threads ? static_cast<std::uint64_t>(gpu.resident_threads->value + 0.5) : 0};
}

}  // namespace shiplap
