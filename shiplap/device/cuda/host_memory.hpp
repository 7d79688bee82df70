// Allocation of host memory for transfers, on a chosen NUMA node and with pages that exist.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/memory.hpp"

struct hwloc_bitmap_s;

namespace shiplap {

/// Allocates pageable, pinned or mapped memory on the NUMA node `place`. Pinned and mapped memory has pages of 2 MiB
/// where the system provides them. Throws Error when the node does not exist or memory is short (with requested and
/// available bytes), Unsupported for another kind. The table must outlive the memory.
Memory allocate_host_memory(const Api&, Place place, MemoryKind, Bytes);

/// Binds the calling thread to the cores of a NUMA node. Throws Error when there is no such node, or the system
/// refuses.
void keep_to_cores_of(std::uint16_t numa_node);
/// Binds its thread to the cores of a NUMA node until it is destroyed.
class OnCoresOf {
 public:
  explicit OnCoresOf(std::uint16_t numa_node);
  ~OnCoresOf();
  OnCoresOf(const OnCoresOf&) = delete;
  OnCoresOf& operator=(const OnCoresOf&) = delete;

 private:
  std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)> before_;
};

/// NUMA nodes of this host with cores that this process may use.
std::vector<std::uint16_t> numa_nodes_of_host();

/// NUMA nodes that hold pages of the memory, in increasing order; nullopt where the system does not say.
std::optional<std::vector<unsigned>> numa_nodes_of(std::span<const std::byte> memory);

}  // namespace shiplap
