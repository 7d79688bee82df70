#include "shiplap/pipeline/contiguous_job.hpp"

#include <cstring>

namespace shiplap {

ContiguousJob::ContiguousJob(Device& device, const Job& job) : job_(job) {
  for (Array& array : job_.arrays) {
    if (!array.blocks) continue;
    if (array.data != nullptr) {
      copies_.push_back(device.allocate(Place::host(), MemoryKind::pinned, array.size));
      std::byte* const copy = copies_.back().data();
      for (std::uint64_t k = 0; k < array.blocks->count; ++k)
        std::memcpy(copy + k * array.blocks->block.count, array.data + start_of_block(array, k).count,
                    array.blocks->block.count);
      array.data = copy;
      array.memory = MemoryKind::pinned;
    }
    array.blocks.reset();
  }
}

}  // namespace shiplap
