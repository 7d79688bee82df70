#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/workload/built_in/spmv.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Workload saxpy_workload() {
  Workload w = find_workload("saxpy:n=1Mi", {});
  w.job.cost = derived_cost(w.job, planted_profile());
  return w;
}

TEST(Pipeline, probes_a_kernel_and_gets_back_the_cost_that_the_virtual_gpu_charges) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Pipeline pipeline(*gpu, saxpy_workload());
  const KernelCost probed = pipeline.probe_kernel(limits_of(planted_profile()));
  ASSERT_GE(probed.points.size(), 2u);
  EXPECT_LE(probed.points.size(), 3u);
  for (const auto& point : probed.points)
    EXPECT_NEAR(point.work.value / pipeline.workload().job.cost.at(point.items), 1, 1e-9) << point.items;
}

TEST(Pipeline, probes_the_cost_of_average_items_where_the_first_have_more_data) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  const SpmvShape shape{.rows = 20000, .nonzeros = 2000000};
  Workload spmv = find_workload("spmv:rows=20000,nonzeros=2000000", {});
  // The planted kernel takes 1 ns a nonzero, 100 a row on average.
  spmv.job.binding.duration = [&](const Launch& launch) {
    return Seconds{1e-9 * static_cast<double>(first_nonzero(shape, launch.first_item + launch.items) -
                                              first_nonzero(shape, launch.first_item))};
  };
  Pipeline pipeline(*gpu, std::move(spmv));
  const KernelCost probed = pipeline.probe_kernel(limits_of(planted_profile()));
  ASSERT_GT(probed.points.size(), 1u);
  for (const auto& point : probed.points)
    EXPECT_NEAR(point.work.value.count() / (100e-9 * static_cast<double>(point.items)), 1, 0.02) << point.items;
}

TEST(Pipeline, probes_items_in_the_middle_of_the_job_and_several_in_a_row_where_a_wave_has_no_two) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  // Levels of 1056 blocks, of which 1056 fit at once. The first level takes nothing at all, others 10 µs each and 5 for
  // the one above the first; with 16 blocks 66 times as long.
  Workload levels = find_workload("pop-state:nx=1024,ny=528,nz=20", {});
  levels.job.binding.duration = [](const Launch& launch) {
    const double few = launch.blocks == 16 ? 66 : 1;
    return launch.first_item == 0 && launch.items < 20
               ? Seconds{0}
               : microseconds(few * (5 + 10 * static_cast<double>(launch.items)));
  };
  Pipeline pipeline(*gpu, std::move(levels));
  const KernelCost probed = pipeline.probe_kernel(limits_of(planted_profile()));
  ASSERT_EQ(probed.limited.size(), 2u);
  EXPECT_EQ(probed.limited[0].items, 1u);
  EXPECT_EQ(probed.limited[1].items, 4u);
  EXPECT_NEAR(in_microseconds(probed.limited[0].work.value), 66 * 15, 1e-6);
  EXPECT_NEAR(in_microseconds(probed.limited[1].work.value), 66 * 45, 1e-6);
  EXPECT_NEAR(in_microseconds(probed.points.front().work.value), 15, 1e-6);
}

TEST(Run, observes_on_the_virtual_device_what_was_predicted_and_verifies) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Pipeline pipeline(*gpu, saxpy_workload());
  const Candidate predicted = predict(pipeline.workload().job, planted_profile(), {.chunks = 8});
  const RunReport report = run(pipeline, *gpu, limits_of(planted_profile()),
                               {.choice = {.chunks = 8}, .predicted = predicted, .repeat = 2, .trace = true});
  EXPECT_TRUE(report.verified) << report.difference;
  EXPECT_EQ(report.samples_ms.size(), 2u);
  EXPECT_NEAR(report.observed_ms.value / in_milliseconds(predicted.predicted.value), 1, 1e-12);
  EXPECT_EQ(report.timeline.spans.size(), report.schedule.ops.size());
  EXPECT_GT(report.efficiency, 0);
  EXPECT_LE(report.efficiency, 1.001);
}

TEST(Run, reports_what_differs_when_the_kernel_is_wrong) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Workload w = saxpy_workload();
  const auto right = w.job.binding.host;
  w.job.binding.host = [right](const Launch& launch) {
    right(launch);
    if (launch.first_item > 0) reinterpret_cast<float*>(launch.operands[1])[3] += 1;
  };
  Pipeline pipeline(*gpu, w);
  const RunReport report =
      run(pipeline, *gpu, limits_of(planted_profile()), {.choice = {.chunks = 4}, .predicted = {}, .repeat = 1});
  EXPECT_FALSE(report.verified);
  EXPECT_NE(report.difference.find("y["), std::string::npos) << report.difference;
}

TEST(Pipeline, measures_the_bound_of_a_job_larger_than_the_device_memory_in_pieces) {
  Profile small = planted_profile();
  small.gpus[0].memory = 6_MiB;
  const auto gpu = open_virtual(small, "virtual:small");
  Pipeline pipeline(*gpu, saxpy_workload());  // 4 MiB each of x and y
  const Limits limits = limits_of(small);
  EXPECT_GT(pipeline.prepare_kernel(limits).run({.hold = true}).timeline.makespan.count(), 0);
  EXPECT_GT(pipeline.prepare_duplex(limits).run({.hold = true}).timeline.makespan.count(), 0);
}

TEST(Pipeline, brings_every_byte_through_by_every_strategy_in_the_memory_that_it_is_for) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  for (const Strategy& strategy : strategies())
    for (const std::uint32_t chunks : {1u, 7u}) {
      Workload w = saxpy_workload();
      for (Array& array : w.job.arrays)
        array.memory = strategy.memory == ArrayMemory::pageable  ? MemoryKind::pageable
                       : strategy.memory == ArrayMemory::managed ? MemoryKind::managed
                                                                 : MemoryKind::pinned;
      Pipeline pipeline(*gpu, w);
      const Choice choice{.strategy = std::string(strategy.name), .chunks = chunks, .threads = 3};
      const Limits limits = limits_of(planted_profile());
      const RunReport report = run(pipeline, *gpu, limits, {.choice = choice, .predicted = {}, .repeat = 2});
      EXPECT_TRUE(report.verified) << to_string(choice) << ": " << report.difference;
      EXPECT_GT(report.efficiency, 0) << to_string(choice);
      EXPECT_LT(report.efficiency, 1.001) << to_string(choice) << " is measured against what the link can do";
      EXPECT_NEAR(report.observed_ms.value,
                  in_milliseconds(predict(w.job, planted_profile(), choice, limits).predicted.value), 1e-9)
          << to_string(choice);
    }
}

TEST(Pipeline, finds_the_pages_of_managed_arrays_on_the_host_before_every_run) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Workload w = saxpy_workload();
  for (Array& array : w.job.arrays) array.memory = MemoryKind::managed;
  Pipeline pipeline(*gpu, w);
  auto prepared = pipeline.prepare({.strategy = "managed", .threads = 1}, limits_of(planted_profile()));
  const Seconds first = prepared.run().timeline.makespan;
  EXPECT_EQ(prepared.run().timeline.makespan, first);
  // 8 MiB over and 4 MiB back, at the planted rates.
  EXPECT_GT(first, 4_MiB / gigabytes_per_second(4));
}

}  // namespace
}  // namespace shiplap
