// Which call of the CUDA runtime an invalid capture is due to.
#pragma once

#include <functional>
#include <string>

namespace shiplap {

/// Does `work` and returns the name of the first runtime call of this thread that fails meanwhile because a stream is
/// captured, with its error; empty when none does, or CUPTI is missing or in use. Loading CUPTI may slow later calls of
/// the process: for use when something has failed already.
std::string call_refused_in(const std::function<void()>& work);

}  // namespace shiplap
