#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/run.hpp"
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
  const auto right = w.kernel.host;
  w.kernel.host = [right](const Launch& launch) {
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

}  // namespace
}  // namespace shiplap
