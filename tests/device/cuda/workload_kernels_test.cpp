// The CUDA kernels of the built-in workloads on a real GPU, against their host references.
#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/schedule/schedule.hpp"
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
  for (std::size_t a = 0; a < workload.job.arrays.size(); ++a) arrays.push_back(memory[a].bytes());
  const auto execution = device.prepare(schedule, bindings_of(memory, {workload.job.binding}));
  workload.fill(arrays);
  const RunResult result = execution->run();
  if (makespan != nullptr) *makespan = result.timeline.makespan;
  return workload.verify(arrays);
}

TEST_F(WorkloadKernels, equal_the_host_reference_at_odd_sizes_and_odd_chunks) {
  for (const char* name : {"saxpy:n=1",
                           "saxpy:n=1000003",
                           "saxpy:n=4Mi",
                           "scalar-add:in=4MiB,out=4MiB,iterations=20",
                           "scalar-add:in=4000012,out=4000012,iterations=1",
                           "scalar-add:in=3MiB,out=7MiB,iterations=5",
                           "scalar-add:in=7MiB,out=3MiB,iterations=5",
                           "scalar-add:in=4000012,out=1000004,iterations=3",
                           "histogram:frames=9",
                           "histogram:frames=200,width=131,height=67",
                           "histogram:frames=9,width=3,height=5,data=mixed",
                           "histogram:frames=7,data=degenerate,copies=4",
                           "grayscale:frames=9",
                           "grayscale:frames=200,width=131,height=67,output=both",
                           "grayscale:frames=9,width=3,height=5,output=both",
                           "grayscale:frames=9,output=both",
                           "arccos:n=1",
                           "arccos:n=1000003",
                           "arccos:n=1000003,calls=2,precision=promoted",
                           "arccos:n=100001,calls=512",
                           "arccos:n=100001,calls=511,precision=promoted",
                           "pop-state:nx=256,ny=255,nz=9,outputs=3",
                           "pop-buoydiff:nx=256,ny=256,nz=12",
                           "diffusion:nx=128,ny=128,nz=64,steps=33",
                           "diffusion:nx=300,ny=200,nz=16,steps=4"}) {
    const Workload workload = find_workload(name);
    for (const std::uint32_t chunks : {1u, 3u, 7u}) {
      if (chunks > workload.job.items) continue;
      EXPECT_EQ(difference(*device, workload, {.strategy = "streams", .chunks = chunks}), "")
          << name << ", " << chunks << " chunks";
    }
  }
}

TEST_F(WorkloadKernels, equal_the_host_reference_where_tiles_are_cut_off_and_where_rows_are_empty) {
  // Every size of tile, with vectors and without; filters that the compiler knows and others.
  for (const char* name : {"matmul:p=1,m=7,n=1",
                           "matmul:p=61",
                           "matmul:p=256",
                           "matmul:p=300,m=1023,n=515",
                           "matmul:p=77,m=1100,n=1300",
                           "matmul:p=129,m=2177,n=2052",
                           "matmul:p=64,m=2177,n=2051",
                           "convolution:height=70,width=132,filter=17",
                           "convolution:height=333,width=515,filter=17",
                           "convolution:height=64,width=1000,filter=9",
                           "convolution:height=65,width=65,filter=3",
                           "convolution:height=100,width=333,filter=5",
                           "convolution:height=40,width=70,filter=7",
                           "convolution:height=33,width=31,filter=1",
                           "convolution:height=100,width=200,filter=64",
                           "convolution:height=7,width=1,filter=2",
                           "spmv:rows=20000",
                           "spmv:rows=1000,nonzeros=200000",
                           "spmv:rows=3000,nonzeros=100000",
                           "spmv:rows=50000,nonzeros=40000",
                           "spmv:rows=9,nonzeros=1"}) {
    const Workload workload = find_workload(name);
    for (const std::uint32_t chunks : {1u, 3u, 7u})
      EXPECT_EQ(difference(*device, workload, {.strategy = "streams", .chunks = chunks}), "")
          << name << ", " << chunks << " chunks";
    EXPECT_EQ(difference(*device, workload, {.strategy = "streams", .max_grid = 3}), "") << name << ", 3 blocks";
  }
}

TEST_F(WorkloadKernels, do_all_of_their_work_with_few_blocks) {
  for (const char* name : {"saxpy:n=1000003", "histogram:frames=9,width=131,height=67",
                           "grayscale:frames=9,width=131,height=67,output=both", "arccos:n=1000003,calls=3"})
    for (const std::uint64_t blocks : {1, 4})
      EXPECT_EQ(difference(*device, find_workload(name), {.strategy = "implicit", .max_grid = blocks}), "")
          << name << ", " << blocks << " blocks";
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
        StatedJob{Bytes{3000}, Bytes{7001}, milliseconds(1)},
        StatedJob{.in = 4_MiB, .out = 2_MiB, .kernel = milliseconds(1), .item = 4_KiB, .before = 2, .after = 1},
        StatedJob{.in = Bytes{3003}, .out = Bytes{1001}, .kernel = milliseconds(1), .item = 3_B, .before = 1}})
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
