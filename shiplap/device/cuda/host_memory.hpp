// Host memory of the kinds that a GPU copies from and to: on the NUMA node asked for, with pages that exist.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/device.hpp"

namespace shiplap {

/// Memory of the host alone on `place`, a NUMA node by the system's number. Pinned and mapped memory lies in pages of
/// 2 MiB where the system gives them to who asks. Throws Error when the node does not exist or memory is short (with
/// the numbers), Unsupported for another kind. The table must outlive the memory.
Memory allocate_host_memory(const Api&, Place place, MemoryKind, Bytes);

/// The NUMA nodes on which the pages of the memory are, by increasing number; nullopt where the system does not say.
std::optional<std::vector<unsigned>> numa_nodes_of(std::span<const std::byte> memory);

}  // namespace shiplap
