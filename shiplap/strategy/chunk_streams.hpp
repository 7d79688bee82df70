// The streams of the chunks of one GPU, as the layout wants them.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/gpu_chunks.hpp"

namespace shiplap {

/// Which stream takes the copies to the GPU, the kernel and the copies to the host of a chunk. Where there are several
/// streams for the same work, chunks take them in turn.
class ChunkStreams {
 public:
  /// Adds the streams to the schedule. Each of `staging_threads` host threads has a pair of streams: one for what it
  /// submits on the way to the GPU, kernels included, and one for the copies to the host. Without such threads
  /// `choice.layout` decides.
  ChunkStreams(Schedule&, const Choice&, const GpuChunks&, std::uint32_t staging_threads);

  StreamId in(std::uint32_t chunk) const { return in_turn(in_, chunk); }
  StreamId kernel(std::uint32_t chunk) const { return in_turn(kernel_, chunk); }
  StreamId out(std::uint32_t chunk) const { return in_turn(out_, chunk); }
  /// Number of streams that take kernels: at most as many kernels run at the same time.
  std::size_t kernel_streams() const { return kernel_.size(); }

 private:
  static StreamId in_turn(const std::vector<StreamId>& streams, std::uint32_t chunk) {
    return streams[chunk % streams.size()];
  }

  std::vector<StreamId> in_, kernel_, out_;
};

}  // namespace shiplap
