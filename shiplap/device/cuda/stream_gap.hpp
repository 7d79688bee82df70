// A gap in a stream of the caller, in which a run of other streams can be placed.
#pragma once

#include <memory>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/device.hpp"

namespace shiplap {

/// Opens a gap in a stream of the selected GPU. A host function holds the stream and makes no CUDA calls while it
/// waits. The run in the gap uses other streams. The table must outlive the gap. Throws Error naming the call.
std::unique_ptr<StreamGap> open_stream_gap(const Api&, cudaStream_t);

}  // namespace shiplap
