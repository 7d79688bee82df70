// The bound on a real GPU: no run is faster, at sizes at which latencies matter and at sizes at which rates do.
#include "shiplap/plan/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using BoundOnGpu = testing::OnGpu;

TEST_F(BoundOnGpu, is_never_above_an_observed_time) {
  MeasureOptions quick;
  quick.effort = Effort::quick;
  quick.largest = 256_MiB;
  const MeasureResult measured = measure(*device, quick);
  const Node node = node_of(*device, fit(measured.measurements, device->info()));
  unsigned observed = 0;
  for (const char* name : {"saxpy:n=16Ki", "saxpy:n=256Ki", "saxpy:n=4Mi", "saxpy:n=32Mi",
                           "scalar-add:in=1MiB,out=1MiB,iterations=1", "scalar-add:in=64MiB,out=16MiB,iterations=1"}) {
    WorkloadData data(*device, find_workload(name));
    const Plan planned = plan(node, data.job());
    data.set_cost(planned.job.cost);
    for (const char* strategy : {"implicit", "hybrid", "hybrid-mirror", "streams", "explicit"})
      for (const std::uint32_t chunks : {1u, 4u, 16u}) {
        const Choice choice{.strategy = strategy, .chunks = chunks};
        Prepared prepared = prepare(*device, data.job(), choice, planned.limits);
        prepared.run();
        Seconds least = prepared.run().timeline.makespan;
        for (int run = 0; run < 10; ++run) least = std::min(least, prepared.run().timeline.makespan);
        EXPECT_GE(in_microseconds(least), in_microseconds(planned.ranking.bound.time))
            << name << ", " << to_string(choice);
        ++observed;
      }
  }
  EXPECT_EQ(observed, 6u * 5 * 3);
}

}  // namespace
}  // namespace shiplap
