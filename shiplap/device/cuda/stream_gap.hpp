// A place in a stream of the caller's between which and the rest of the stream a run can be put.
#pragma once

#include <memory>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/device.hpp"

namespace shiplap {

/// On the selected GPU. The stream is held by a host function, which waits without making calls: a run behind it uses
/// other streams and needs none of its own. The table must outlive the gap. Throws Error naming the call.
std::unique_ptr<StreamGap> open_stream_gap(const Api&, cudaStream_t);

}  // namespace shiplap
