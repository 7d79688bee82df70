// Where memory and ops are, which kind of memory it is, and how an op accesses it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "shiplap/core/numa.hpp"

namespace shiplap {

/// The place of a buffer, stream or op: the host or one of its NUMA nodes, or a GPU of the node.
struct Place {
  /// The kinds of places.
  enum class Kind : std::uint8_t { host, gpu };
  Kind kind = Kind::host;               ///< host or GPU
  std::uint16_t index = any_numa_node;  ///< number of the NUMA node or any_numa_node, or of the GPU in the device

  /// The host, or one of its NUMA nodes.
  static constexpr Place host(std::uint16_t numa_node = any_numa_node) { return {Kind::host, numa_node}; }
  /// The place of a GPU, by its number in the device.
  static constexpr Place gpu(std::uint16_t number = 0) { return {Kind::gpu, number}; }
  /// Whether the place is on the host.
  constexpr bool is_host() const { return kind == Kind::host; }
  /// Whether the place is a GPU.
  constexpr bool is_gpu() const { return kind == Kind::gpu; }
  friend constexpr auto operator<=>(Place, Place) = default;
};

/// The kind of memory of a buffer. It determines how bytes can be moved.
enum class MemoryKind : std::uint8_t {
  pageable,
  pinned,          ///< pinned memory in pages of 2 MiB where the system has them
  mapped,          ///< pinned memory that kernels can access (zero-copy)
  driver_pinned,   ///< pinned memory that the driver allocates, in pages of 4 KiB
  write_combined,  ///< pinned memory that bypasses the caches of the CPU: fast to write, very slow to read
  managed,  ///< pages move between host and GPUs; the place of a buffer is where they are when the schedule starts
  device,   ///< memory of a GPU
};

/// Whether the memory is pinned, so that copy engines access it without staging by the driver.
bool is_pinned(MemoryKind);

/// How an op accesses a region. An op with `write` may also read the region, so it conflicts with every other access.
enum class AccessMode : std::uint8_t { read, write };
/// The name of the place, such as "host", "host 0" or "gpu 1".
std::string to_string(Place);
/// The name of the kind of memory, such as "pinned" or "write-combined".
std::string to_string(MemoryKind);
/// Reads the kind of memory that arrays of a program have: "pageable", "pinned" or "managed". Throws UsageError.
MemoryKind parse_array_memory(std::string_view);

}  // namespace shiplap
