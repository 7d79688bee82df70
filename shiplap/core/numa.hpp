// The NUMA node of memory and threads that may be on any.
#pragma once

#include <cstdint>

namespace shiplap {

/// The number that stands for no particular NUMA node. A device takes the node nearest to its first GPU that the
/// process may use, and a profile its first link to the GPU.
inline constexpr std::uint16_t any_numa_node = 0xffff;

}  // namespace shiplap
