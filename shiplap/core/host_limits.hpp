// What a process may use of its host: processors and memory, under affinity masks, cgroups and resource limits.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Limits of the cgroups around this process, the tightest of each kind. nullopt: there is none.
struct CgroupLimits {
  std::optional<Bytes> memory{};       ///< most memory of all its processes
  std::optional<Bytes> memory_left{};  ///< what may still be used, without the file cache that the kernel would give up
  std::optional<double> cpus{};        ///< processor time for each time, as 1.5
};

/// Reads the limits of cgroup version 1 or 2 under this root of the file system, of which tests make their own. What
/// cannot be read limits nothing.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

/// Numbers of the hardware threads in the affinity mask of the calling thread, as the system counts them, in increasing
/// order; empty where the system does not tell.
std::vector<unsigned> cpus_of_affinity();

/// Number of hardware threads that this process may keep busy, at least 1: those of its affinity mask, and no more than
/// the cgroup's processor time, rounded up.
unsigned usable_cpus();

/// Address space that `ulimit -v` leaves to this process; nullopt without such a limit.
std::optional<Bytes> address_space_left();

}  // namespace shiplap
