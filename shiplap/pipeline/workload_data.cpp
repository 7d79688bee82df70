#include "shiplap/pipeline/workload_data.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/host_work.hpp"

namespace shiplap {

Bytes host_memory_for(const Job& job) {
  Bytes sum;
  for (const Array& array : job.arrays) sum += size_on_host(array);
  return sum;
}

void require_available_memory(const Job& job, Bytes of_simulated_gpu) {
  const Bytes needed = host_memory_for(job);
  const std::optional<HostMemory> available = available_host_memory();
  if (!available || needed + of_simulated_gpu <= available->size) return;
  const std::optional<HostMemory> total = total_host_memory();
  throw Error(fmt::format(
      "{} needs {} of host memory for its arrays{}, and this host has {}{}: it cannot run here; make "
      "the workload smaller",
      job.name, to_string(needed),
      of_simulated_gpu.count > 0
          ? fmt::format(" and {} for the memory of the simulated GPU", to_string(of_simulated_gpu))
          : "",
      to_string(total.value_or(*available)), total ? fmt::format(" ({} available)", to_string(*available)) : ""));
}

WorkloadData::WorkloadData(Device& device, Workload workload) : workload_(std::move(workload)) {
  require_available_memory(workload_.job);
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
