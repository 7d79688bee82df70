// Pinning of memory of the caller, shared by all devices of the process.
#pragma once

#include <functional>
#include <string>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/memory.hpp"

namespace shiplap {

/// The type of memory of the caller; `context` is asked for what to say in an error. Throws Error when only a part of
/// the bytes is pinned, or when they are in several pinned ranges.
cudaMemoryType type_of_range(const Api&, const std::byte* data, Bytes size,
                             const std::function<std::string()>& context);

/// Pins memory of the caller as Device::pin does, with a context as above. A GPU must be selected. The table must
/// outlive the result.
Memory pin_in_process(const Api&, std::byte* data, Bytes size, const std::function<std::string()>& context);

/// Finds out whether the system pins memory of the kind of these bytes, as Device::require_pinnable does. A GPU must be
/// selected.
void try_to_pin_in_process(const Api&, std::byte* data, Bytes size, const std::function<std::string()>& context);

}  // namespace shiplap
