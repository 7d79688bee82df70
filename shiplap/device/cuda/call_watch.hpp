// Finds the CUDA call that made a stream capture invalid.
#pragma once

#include <functional>
#include <string>

namespace shiplap {

/// Calls `work` and returns the name and error of the first call of this thread, of the runtime or the driver API, that
/// fails because a stream is being captured. The result is empty when none fails, or CUPTI is missing or in use.
/// Loading CUPTI may slow later calls of the process, so this is only for use after a failure.
std::string call_refused_in(const std::function<void()>& work);

}  // namespace shiplap
