#include "shiplap/pipeline/pipeline.hpp"

#include <utility>

#include "shiplap/pipeline/bound.hpp"
#include "shiplap/pipeline/probe.hpp"

namespace shiplap {

Pipeline::Pipeline(Device& device, Workload workload) : device_(device), workload_(std::move(workload)) {
  for (Array& array : workload_.job.arrays) {
    memory_.push_back(device_.allocate(Place::host(), array.memory, size_on_host(array)));
    array.data = memory_.back().data();
  }
  refill();
}

Pipeline::~Pipeline() = default;

std::vector<std::span<std::byte>> Pipeline::arrays() const {
  std::vector<std::span<std::byte>> spans;
  for (const Memory& memory : memory_) spans.push_back(memory.bytes());
  return spans;
}

void Pipeline::refill() { workload_.fill(arrays()); }

std::string Pipeline::verify() const { return workload_.verify(arrays()); }

KernelCost Pipeline::probe_kernel(const Limits& limits, const ProbeOptions& options) {
  return shiplap::probe_kernel(device_, workload_.job, limits, options);
}

Prepared Pipeline::prepare(const Choice& choice, const Limits& limits) {
  return shiplap::prepare(device_, workload_.job, choice, limits);
}

Prepared Pipeline::prepare_duplex(const Limits& limits) {
  return shiplap::prepare_duplex(device_, workload_.job, limits);
}

Prepared Pipeline::prepare_kernel(const Limits& limits) {
  return shiplap::prepare_kernel(device_, workload_.job, limits);
}

}  // namespace shiplap
