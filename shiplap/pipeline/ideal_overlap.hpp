// The two stages of ideal overlap, ready to be run beside a choice: the copies of both directions at once, and the
// whole kernel on resident data.
#pragma once

#include <cstdint>

#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/strategy/device_ring.hpp"

namespace shiplap {

/// What the link can do, whatever memory the arrays are in: pinned memory stands in for others. A run leaves in
/// pinned outputs what its copies brought.
Prepared prepare_duplex(Device&, const Job&, const Limits&, std::uint32_t gpus = 1);

/// In launches that fit into the device memory, over the same data again and again. Of several GPUs, one does its share
/// of the items.
Prepared prepare_kernel(Device&, const Job&, const Limits&, std::uint32_t gpus = 1);

/// Both stages of ideal overlap, ready to run beside a choice. Their times are measured as the runs of the choice are.
class IdealOverlapRuns {
 public:
  /// Each stage uses at most the limit of device memory.
  IdealOverlapRuns(Device&, const Job&, const Limits&, std::uint32_t gpus = 1);
  /// Runs both stages, one after the other, and returns the larger makespan.
  Seconds run();
  /// Device memory of both stages.
  Bytes device_memory() const;

 private:
  Prepared copies_;
  Prepared kernel_;
};

/// So many items in the middle of the job: the first and the last ones often have less to do.
ItemRange launched_items(const Job&, std::uint64_t items);
/// One launch over these on buffers of the GPU, with at most `blocks` blocks (0: the kernel's own grid). The alignment
/// says where the arrays begin in their buffers.
Schedule launch_schedule(const Job&, std::uint64_t items, const Limits&, std::uint64_t blocks = 0,
                         DeviceRing::Alignment = DeviceRing::Alignment::own);
/// The same, ready to run on the job's data.
Prepared prepare_launch(Device&, const Job&, std::uint64_t items, const Limits&, std::uint64_t blocks = 0,
                        DeviceRing::Alignment = DeviceRing::Alignment::own);

/// Bytes of device memory that all arrays take for so many items in the middle of the job.
Bytes resident_size(const Job&, std::uint64_t items);

}  // namespace shiplap
