// Blocks a stream of the caller while a run in other streams takes its turn.
#pragma once

#include <memory>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/stream_gap.hpp"

namespace shiplap {

/// Blocks a stream of the selected GPU. A host function holds the stream and makes no CUDA calls while it waits. The
/// run meanwhile uses other streams. The table must outlive the result. Throws Error naming the call.
std::unique_ptr<StreamGap> open_stream_gap(const Api&, cudaStream_t);

}  // namespace shiplap
