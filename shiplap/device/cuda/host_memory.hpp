// Host memory of the kinds that a GPU copies from and to: on the NUMA node asked for, with pages that exist.
#pragma once

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/device.hpp"

namespace shiplap {

/// Pageable, pinned or mapped memory on `place`, a host NUMA node by the system's number. Pinned and mapped memory lies
/// in pages of 2 MiB where the system gives them to who asks. Throws Error when the node does not exist or memory is
/// short (with the numbers), Unsupported for another kind. The table must outlive the memory.
Memory allocate_host_memory(const Api&, Place place, MemoryKind, Bytes);

}  // namespace shiplap
