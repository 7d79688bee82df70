// What the tests on a real GPU share: the GPU or the reason to skip, and the table of CUDA functions to put faults in.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::testing {

struct OnGpu : ::testing::Test {
  void SetUp() override {
    std::string why_absent;
    if (count_cuda(why_absent) == 0) GTEST_SKIP() << why_absent;
    device = open_cuda(0, api);
  }

  Api api = real_api();
  std::unique_ptr<MeasurableDevice> device;
};

/// Memory on the device for every buffer of a schedule, in its order.
inline std::vector<Memory> memory_for(Device& device, const Schedule& schedule) {
  std::vector<Memory> memory;
  for (const Buffer& b : schedule.buffers) memory.push_back(device.allocate(b.place, b.memory, b.size));
  return memory;
}

inline Bindings bindings_of(const std::vector<Memory>& memory, std::vector<KernelBinding> kernels) {
  Bindings bindings;
  for (const Memory& m : memory) bindings.buffers.push_back(m.data());
  bindings.kernels = std::move(kernels);
  return bindings;
}

/// The schedule of a workload under a choice. Running it takes no predicted time, but a strategy wants a cost.
inline Schedule schedule_for(const Workload& workload, const Choice& choice) {
  Job job = workload.job;
  if (job.cost.points.empty())
    job.cost = {.points = {{job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  return find_strategy(choice.strategy).schedule(job, choice, {.device_memory = 4_GiB, .resident_threads = 0});
}

}  // namespace shiplap::testing
