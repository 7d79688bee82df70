// Turns a failed CUDA call into an Error that names the call, the error, what it was for and the remedy.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "shiplap/device/cuda/api.hpp"

namespace shiplap {

/// Text of a version, as in "13.0". CUDA packs a version as 1000 · major + 10 · minor.
std::string version_text(int packed);

/// Text of an error, as in "cudaErrorMemoryAllocation (out of memory)".
std::string error_text(const Api&, cudaError_t);

/// Clears the runtime's last error, which the next call would return otherwise, and throws Error (Unsupported when the
/// driver, the GPU or code for it is missing). `context` says what the call was for, such as an op and its chunk, or a
/// buffer.
[[noreturn]] void fail_call(const Api&, cudaError_t, std::string_view call, std::string_view context,
                            std::source_location where = std::source_location::current());

/// Calls `fail_call` unless the call has succeeded.
inline void check(const Api& api, cudaError_t error, std::string_view call, std::string_view context = {},
                  std::source_location where = std::source_location::current()) {
  if (error != cudaSuccess) [[unlikely]]
    fail_call(api, error, call, context, where);
}

}  // namespace shiplap
