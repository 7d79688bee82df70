// The chunks of a job that each GPU works on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// Consecutive chunks of a job, all for the same GPU.
struct GpuChunks {
  std::uint16_t gpu = 0;           ///< number of the GPU in its device
  std::uint16_t gpus = 1;          ///< number of GPUs that work on the job
  std::uint32_t first_number = 0;  ///< number of the first chunk among the chunks of all GPUs
  std::vector<ItemRange> items{};  ///< the items of each chunk

  std::uint32_t count() const { return static_cast<std::uint32_t>(items.size()); }
  /// Number of a chunk among the chunks of all GPUs.
  std::uint32_t number(std::uint32_t chunk) const { return first_number + chunk; }
};

/// The chunks of each GPU: the items are split evenly between `choice.gpus` GPUs, and each GPU cuts its items into
/// `choice.chunks` chunks. Throws UsageError for 0 GPUs, and Unsupported for a graph over several GPUs or an array that
/// is carried from chunk to chunk.
std::vector<GpuChunks> chunks_by_gpu(const Job&, const Choice&);

}  // namespace shiplap
