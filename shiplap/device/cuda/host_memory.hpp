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

/// Allocates pageable, pinned or mapped memory on the NUMA node `place`, as far as the system lets the process choose
/// (see the condition `host.numa_placement`), or where the calling thread runs. Pinned and mapped memory has pages of
/// 2 MiB where the system provides them. Throws Error for a node that the process cannot use or when memory is short
/// (with requested and available bytes), Unsupported for another kind. The table must outlive the memory.
Memory allocate_host_memory(const Api&, Place place, MemoryKind, Bytes);

/// Binds the calling thread to those of its cores that are on a NUMA node. The thread stays as it is where there are
/// none or the system refuses. Throws Error for a node that the process cannot use.
void keep_to_cores_of(std::uint16_t numa_node);
/// Binds its thread as keep_to_cores_of does until it is destroyed.
class OnCoresOf {
 public:
  explicit OnCoresOf(std::uint16_t numa_node);
  ~OnCoresOf();
  OnCoresOf(const OnCoresOf&) = delete;
  OnCoresOf& operator=(const OnCoresOf&) = delete;

 private:
  std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)> before_;
};

/// NUMA nodes of this host with cores that this process may use, `nearest` before the others.
std::vector<std::uint16_t> numa_nodes_of_host(std::uint16_t nearest = any_numa_node);

/// NUMA nodes that hold pages of the memory, in increasing order; nullopt where the system does not say.
std::optional<std::vector<unsigned>> numa_nodes_of(std::span<const std::byte> memory);

}  // namespace shiplap
