// Allocation of host memory for transfers, on a chosen NUMA node and with pages that exist.
#pragma once

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/memory.hpp"

namespace shiplap {

/// Allocates pageable, pinned or mapped memory on the NUMA node `place`, as far as the system lets the process choose
/// (see the condition `host.numa_placement`), or where the calling thread runs. Pinned and mapped memory has pages of
/// 2 MiB where the system provides them. Throws Error for a node that the process cannot use or when memory is short
/// (with requested and available bytes), Unsupported for another kind. The table must outlive the memory.
Memory allocate_host_memory(const Api&, Place place, MemoryKind, Bytes);

}  // namespace shiplap
