// The CUDA kernels of the built-in workloads on a real GPU, against their host references.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using testing::bindings_of;
using testing::memory_for;
using testing::schedule_for;
using WorkloadKernels = testing::OnGpu;

/// Runs the workload in chunks and returns what its own verification says; the time of the run goes to `makespan`.
std::string difference(Device& device, const Workload& workload, const Choice& choice, Seconds* makespan = nullptr) {
  const Schedule schedule = schedule_for(workload, choice);
  const auto memory = memory_for(device, schedule);
  std::vector<std::span<std::byte>> arrays;
  for (std::size_t a = 0; a < array_buffers(workload.job); ++a) arrays.push_back(memory[a].bytes());
  const auto execution = device.prepare(schedule, bindings_of(memory, {workload.job.binding}));
  workload.fill(arrays);
  const RunResult result = execution->run();
  if (makespan != nullptr) *makespan = result.timeline.makespan;
  return workload.verify(arrays);
}

TEST_F(WorkloadKernels, equal_the_host_reference_at_odd_sizes_and_odd_chunks) {
  for (const char* name :
       {"saxpy:n=1", "saxpy:n=1000003", "saxpy:n=4Mi", "scalar-add:in=4MiB,out=4MiB,iterations=20",
        "scalar-add:in=4000012,out=4000012,iterations=1", "scalar-add:in=3MiB,out=7MiB,iterations=5",
        "scalar-add:in=7MiB,out=3MiB,iterations=5", "scalar-add:in=4000012,out=1000004,iterations=3"}) {
    const Workload workload = find_workload(name);
    for (const std::uint32_t chunks : {1u, 3u, 7u}) {
      if (chunks > workload.job.items) continue;
      EXPECT_EQ(difference(*device, workload, {.strategy = "streams", .chunks = chunks}), "")
          << name << ", " << chunks << " chunks";
    }
  }
}

std::string stated_difference(Device& device, const StatedJob& job) {
  const Workload workload = stated_workload(job);
  const auto chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>(5, workload.job.items));
  return difference(device, workload, {.strategy = "streams", .chunks = chunks});
}

TEST_F(WorkloadKernels, write_every_byte_of_a_stated_output) {
  for (const StatedJob& job :
       {StatedJob{4_MiB, 4_MiB, milliseconds(1)}, StatedJob{4_MiB, 2_MiB, milliseconds(1)},
        StatedJob{2_MiB, 6_MiB, milliseconds(1)}, StatedJob{Bytes{1'000'003}, Bytes{1'000'003}, milliseconds(1)},
        StatedJob{Bytes{3000}, Bytes{7001}, milliseconds(1)}})
    EXPECT_EQ(stated_difference(*device, job), "") << to_string(job.in) << " to " << to_string(job.out);
}

TEST_F(WorkloadKernels, write_a_stated_output_without_an_input_and_read_an_input_without_an_output) {
  EXPECT_EQ(stated_difference(*device, {0_B, 4_MiB, milliseconds(1)}), "");
  EXPECT_EQ(stated_difference(*device, {4_MiB, 0_B, milliseconds(1)}), "");
}

TEST_F(WorkloadKernels, take_the_stated_time_and_keep_other_kernels_out) {
  const Workload workload = stated_workload({.in = 1_MiB, .out = 1_MiB, .kernel = milliseconds(20)});
  for (const std::uint32_t chunks : {1u, 4u}) {
    Seconds makespan{0};
    // A stream for each chunk: the kernels could run side by side if one left room for another.
    const Choice choice{.strategy = "streams", .chunks = chunks, .layout = Layout::per_chunk};
    difference(*device, workload, choice);
    EXPECT_EQ(difference(*device, workload, choice, &makespan), "");
    EXPECT_GT(in_milliseconds(makespan), 20.0);
    EXPECT_LT(in_milliseconds(makespan), 21.0);
  }
}

}  // namespace
}  // namespace shiplap
