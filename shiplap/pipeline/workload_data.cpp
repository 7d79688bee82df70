#include "shiplap/pipeline/workload_data.hpp"

#include <utility>

namespace shiplap {

WorkloadData::WorkloadData(Device& device, Workload workload) : workload_(std::move(workload)) {
  for (Array& array : workload_.job.arrays) {
    memory_.push_back(device.allocate(Place::host(), array.memory, size_on_host(array)));
    array.data = memory_.back().data();
  }
  refill();
}

WorkloadData::~WorkloadData() = default;

void WorkloadData::refill() { workload_.fill(arrays()); }

std::string WorkloadData::verify() const { return workload_.verify(arrays()); }

std::vector<std::span<std::byte>> WorkloadData::arrays() const {
  std::vector<std::span<std::byte>> spans;
  for (const Memory& memory : memory_) spans.push_back(memory.bytes());
  return spans;
}

}  // namespace shiplap
