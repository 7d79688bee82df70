// The queues of the chunks of one GPU, as the layout wants them.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/strategy/gpu_chunks.hpp"

namespace shiplap {

/// Which queue takes the copies to the GPU, the kernel and the copies to the host of a chunk. Where there are several
/// queues for the same work, chunks take them in turn.
class ChunkQueues {
 public:
  /// Adds the queues to the schedule. Each of `staging_threads` host threads has a pair of queues: one for what it
  /// submits on the way to the GPU, kernels included, and one for the copies to the host. Without such threads
  /// `choice.layout` decides.
  ChunkQueues(Schedule&, const Choice&, const GpuChunks&, std::uint32_t staging_threads);

  QueueId in(std::uint32_t chunk) const { return in_turn(in_, chunk); }
  QueueId kernel(std::uint32_t chunk) const { return in_turn(kernel_, chunk); }
  QueueId out(std::uint32_t chunk) const { return in_turn(out_, chunk); }
  /// Number of queues that take kernels: at most as many kernels run at the same time.
  std::size_t kernel_queues() const { return kernel_.size(); }

 private:
  static QueueId in_turn(const std::vector<QueueId>& queues, std::uint32_t chunk) {
    return queues[chunk % queues.size()];
  }

  std::vector<QueueId> in_, kernel_, out_;
};

}  // namespace shiplap
