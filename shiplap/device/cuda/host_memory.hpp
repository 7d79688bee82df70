// Host memory of the kinds that a GPU copies from and to: on the NUMA node asked for, with pages that exist.
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

/// Memory of the host alone on `place`, a NUMA node by the system's number. Pinned and mapped memory lies in pages of
/// 2 MiB where the system gives them to who asks. Throws Error when the node does not exist or memory is short (with
/// the numbers), Unsupported for another kind. The table must outlive the memory.
Memory allocate_host_memory(const Api&, Place place, MemoryKind, Bytes);

/// From now on the calling thread keeps to the cores of a NUMA node, by the system's number. Throws Error when there is
/// no such node, or the system refuses.
void keep_to_cores_of(std::uint16_t numa_node);
/// The same as long as it lives, for the thread that made it.
class OnCoresOf {
 public:
  explicit OnCoresOf(std::uint16_t numa_node);
  ~OnCoresOf();
  OnCoresOf(const OnCoresOf&) = delete;
  OnCoresOf& operator=(const OnCoresOf&) = delete;

 private:
  std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)> before_;
};

/// The NUMA nodes of this host that have cores which this process may use, by the system's numbers.
std::vector<std::uint16_t> numa_nodes_of_host();

/// The NUMA nodes on which the pages of the memory are, by increasing number; nullopt where the system does not say.
std::optional<std::vector<unsigned>> numa_nodes_of(std::span<const std::byte> memory);

}  // namespace shiplap
