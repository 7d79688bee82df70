// The streams of the chunks of one GPU by Choice::layout.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/core/id.hpp"
#include "shiplap/strategy/gpu_chunks.hpp"

namespace shiplap {

/// The streams for the copies to the GPU, the kernel and the copies to the host of each chunk. Several streams for the
/// same work are used cyclically: chunk c uses stream c mod n.
class ChunkStreams {
 public:
  /// Adds the streams of the layout to the schedule.
  ChunkStreams(Schedule&, Layout, const Choice&, const GpuChunks&);

  StreamId in(std::uint32_t chunk) const { return cyclic(in_, chunk); }
  StreamId kernel(std::uint32_t chunk) const { return cyclic(kernel_, chunk); }
  StreamId out(std::uint32_t chunk) const { return cyclic(out_, chunk); }
  /// Number of streams with kernels, which is the largest number of kernels at the same time.
  std::size_t kernel_streams() const { return kernel_.size(); }

 private:
  static StreamId cyclic(const std::vector<StreamId>& streams, std::uint32_t chunk) {
    return streams[chunk % streams.size()];
  }

  std::vector<StreamId> in_, kernel_, out_;
};

}  // namespace shiplap
