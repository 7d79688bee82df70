// The GPU beside the library: nothing in a build without CUDA.
#pragma once

#include <cstdint>

namespace endurance {

/// Bytes of the current GPU's memory that are in use, by all processes. 0 without CUDA.
std::uint64_t used_on_gpu();
/// Waits for the default stream. Throws shiplap::Error when its work failed.
void wait_for_gpu();

}  // namespace endurance
