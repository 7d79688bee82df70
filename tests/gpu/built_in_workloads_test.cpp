// Every built-in workload under every strategy on a real GPU.
#include "tests/support/built_in_workloads.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using BuiltInWorkloadsOnGpu = testing::OnGpu;

TEST_F(BuiltInWorkloadsOnGpu, come_out_right_under_every_strategy_in_any_number_of_chunks) {
  for (const std::string& name : testing::small_workloads())
    for (const Strategy& strategy : strategies()) {
      const Job job = testing::workload_for(name, strategy).job;
      for (const std::uint32_t chunks : testing::chunk_counts(job)) {
        const Choice choice{.strategy = std::string(strategy.name), .chunks = chunks, .ring = 3, .threads = 2};
        EXPECT_EQ(testing::difference_after_runs(*device, name, choice), "") << name << ": " << to_string(choice);
        if (!strategy.chunked) break;
      }
    }
}

TEST_F(BuiltInWorkloadsOnGpu, come_out_right_in_every_layout_and_as_a_graph) {
  for (const std::string& name : testing::small_workloads())
    for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three})
      for (const bool graph : {false, true}) {
        const auto chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>(5, find_workload(name).job.items));
        const Choice choice{.chunks = chunks, .layout = layout, .streams = 3, .graph = graph};
        EXPECT_EQ(testing::difference_after_runs(*device, name, choice), "") << name << ": " << to_string(choice);
      }
}

// Grids that are smaller than the work, and larger.
TEST_F(BuiltInWorkloadsOnGpu, come_out_right_with_whatever_grid) {
  for (const std::string& name : testing::small_workloads())
    for (const std::uint64_t blocks : {1u, 3u})
      for (const char* strategy : {"streams", "implicit", "hybrid"}) {
        const Choice choice{.strategy = strategy, .chunks = 2, .max_grid = blocks};
        EXPECT_EQ(testing::difference_after_runs(*device, name, choice), "") << name << ": " << to_string(choice);
      }
}

TEST_F(BuiltInWorkloadsOnGpu, do_what_their_jobs_say_and_nothing_else) {
  for (const std::string& name : testing::small_workloads()) {
    WorkloadData data(*device, find_workload(name));
    EXPECT_NO_THROW(require_declared_reach(*device, data.job())) << name;
  }
}

// A kernel of many launches is faster where the cache keeps its data from one to the next.
TEST_F(BuiltInWorkloadsOnGpu, are_measured_where_the_cache_keeps_their_data) {
  const Bytes cache = device->info().l2_cache;
  ASSERT_GT(cache, 1_MiB);
  // Each launch reads and writes 256 KiB a level: four times what the cache holds.
  const std::uint64_t levels = 4 * cache.count / (256 * 1024);
  WorkloadData data(*device, find_workload(fmt::format("diffusion:nx=128,ny=128,nz={},steps=32", levels)));
  const KernelCost cost = probe_kernel(*device, data.job(), Limits{.device_memory = device->info().free_memory});
  EXPECT_GT(cost.cached_items, levels / 12);
  EXPECT_LE(cost.cached_items, levels / 6);
  ASSERT_EQ(cost.points.size(), 3u);
  const auto of_an_item = [](const KernelCost::Point& p) { return p.work.value / static_cast<double>(p.items); };
  EXPECT_EQ(cost.points[1].items, cost.cached_items);
  EXPECT_LT(of_an_item(cost.points[1]), of_an_item(cost.points[2]));
}

}  // namespace
}  // namespace shiplap
