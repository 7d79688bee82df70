// Every strategy on a real GPU: what comes out equals the host reference, run after run.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

/// A strategy wants a cost of the kernel, whatever it is.
Workload with_cost(Workload workload) {
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  return workload;
}

using StrategiesOnGpu = testing::OnGpu;

TEST_F(StrategiesOnGpu, are_run_and_measured_against_ideal_overlap_from_any_memory) {
  for (const MemoryKind memory : {MemoryKind::pinned, MemoryKind::pageable, MemoryKind::managed}) {
    Workload workload = find_workload("saxpy:n=1000003");
    for (Array& array : workload.job.arrays) array.memory = memory;
    WorkloadData data(*device, workload);
    const Limits limits{.device_memory = 64_MiB};
    data.set_cost(probe_kernel(*device, data.job(), limits, {.repeats = 3}));
    const Choice choice{.strategy = memory == MemoryKind::pinned     ? "streams"
                                    : memory == MemoryKind::pageable ? "staged"
                                                                     : "managed-prefetch",
                        .chunks = 2,
                        .threads = 2};
    const Profile h200 = find_profile("h200");
    const Plan planned{
        {.job = data.job(), .ranking = {}, .chosen = predict(data.job(), h200, choice, limits), .limits = limits}};
    const Report report = run(*device, planned, data.job(),
                              {.repeats = 3,
                               .ideal_overlap = true,
                               .trace = Trace::best,
                               .refill = [&data] { data.refill(); },
                               .verify = [&data] { return data.verify(); }});
    EXPECT_TRUE(report.verified()) << to_string(choice) << ": " << *report.difference;
    EXPECT_GT(report.ideal_overlap.value().value, Seconds{0}) << to_string(choice);
  }
}

TEST_F(StrategiesOnGpu, access_managed_memory_that_stays_on_the_host_as_fast_as_mapped_memory) {
  Workload workload = with_cost(find_workload("saxpy:n=16Mi"));
  std::map<MemoryKind, Seconds> times;
  for (const MemoryKind memory : {MemoryKind::pinned, MemoryKind::managed}) {
    for (Array& array : workload.job.arrays) array.memory = memory;
    WorkloadData data(*device, workload);
    const Choice choice{.strategy = memory == MemoryKind::pinned ? "implicit" : "managed-implicit"};
    auto prepared = prepare(*device, data.job(), choice, {.device_memory = 1_GiB});
    std::vector<Seconds> runs;
    for (int run = 0; run < 5; ++run) {
      data.refill();
      runs.push_back(prepared.run().timeline.makespan);
      EXPECT_EQ(data.verify(), "") << choice.strategy << " " << run;
    }
    std::ranges::sort(runs);
    times[memory] = runs[runs.size() / 2];
  }
  EXPECT_NEAR(times[MemoryKind::managed] / times[MemoryKind::pinned], 1, 0.2);
}

TEST_F(StrategiesOnGpu, stage_through_device_memory_that_holds_a_part_of_the_arrays) {
  Workload workload = with_cost(find_workload("saxpy:n=1Mi"));  // 4 MiB each of x and y
  for (Array& array : workload.job.arrays) array.memory = MemoryKind::pageable;
  WorkloadData data(*device, workload);
  auto prepared =
      prepare(*device, data.job(), {.strategy = "staged", .chunks = 64, .threads = 4}, {.device_memory = 1_MiB});
  EXPECT_LE(memory_at(prepared.schedule(), Place::gpu()), 1_MiB);
  for (int run = 0; run < 5; ++run) {
    data.refill();
    prepared.run();
    EXPECT_EQ(data.verify(), "") << run;
  }
}

TEST_F(StrategiesOnGpu, time_managed_memory_from_pages_that_are_on_the_host_in_every_run) {
  Workload workload = with_cost(find_workload("saxpy:n=4Mi"));
  for (Array& array : workload.job.arrays) array.memory = MemoryKind::managed;
  WorkloadData data(*device, workload);
  auto prepared = prepare(*device, data.job(), {.strategy = "managed", .threads = 1}, {.device_memory = 1_GiB});
  prepared.run();
  const Seconds second = prepared.run().timeline.makespan;
  const Seconds third = prepared.run().timeline.makespan;
  // 32 MiB that fault over and 16 MiB back: at 60 GB/s more than 0.8 ms, and without any faults some microseconds.
  for (const Seconds time : {second, third}) EXPECT_GT(time, milliseconds(0.8));
}

}  // namespace
}  // namespace shiplap
