// The two stages of ideal overlap, ready to run beside a choice: the duplex copies, and the whole kernel on resident
// data. Also prepares single launches on resident data.
#pragma once

#include <cstdint>

#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/device_ring.hpp"

namespace shiplap {

/// Prepares the copies of all arrays from and to pinned memory. Arrays in other memory are replaced by pinned ones. A
/// run overwrites pinned outputs.
Prepared prepare_duplex(Device&, const Job&, const Limits&, std::uint32_t gpus = 1, const Relay& = {});

/// Prepares the kernel over all items on resident data. When the data do not fit into the device memory, it is several
/// launches over the same data. With several GPUs it is the part of the items that one GPU works on.
Prepared prepare_kernel(Device&, const Job&, const Limits&, std::uint32_t gpus = 1);

/// Both stages of ideal overlap, ready to run beside a choice. Their times are measured as the runs of the choice are.
class IdealOverlapRuns {
 public:
  /// Each stage uses at most the limit of device memory. The copies are divided by the relay.
  IdealOverlapRuns(Device&, const Job&, const Limits&, std::uint32_t gpus = 1, const Relay& = {});
  /// Runs both stages, one after the other, and returns the larger makespan.
  Seconds run();
  /// Device memory of both stages.
  Bytes device_memory() const;

 private:
  Prepared copies_;
  Prepared kernel_;
};

/// A range of `items` items in the middle of the job, because the first and the last items often have less work.
ItemRange launched_items(const Job&, std::uint64_t items);
/// One launch over `launched_items` on buffers of the GPU, with at most `blocks` blocks (0: the kernel's own grid). The
/// alignment says where the arrays begin in their buffers. The memory of the first buffers is `read_in_place`.
Schedule launch_schedule(const Job&, std::uint64_t items, const Limits&, std::uint64_t blocks = 0,
                         DeviceRing::Alignment = DeviceRing::Alignment::own);
/// Addresses of the arrays on the GPU that launches read where they are, because the kernel does not write them.
std::vector<std::byte*> read_in_place(const Job&);
/// Prepares `launch_schedule` with the job's data on the GPU.
Prepared prepare_launch(Device&, const Job&, std::uint64_t items, const Limits&, std::uint64_t blocks = 0,
                        DeviceRing::Alignment = DeviceRing::Alignment::own);

/// Bytes of device memory that all arrays take for `launched_items`.
Bytes resident_size(const Job&, std::uint64_t items);
/// At most `items` items, halved until their arrays take at most half of the device memory.
std::uint64_t items_that_fit(const Job&, std::uint64_t items, const Limits&);

}  // namespace shiplap
