// Every built-in workload under every strategy on a real GPU.
#include "tests/support/built_in_workloads.hpp"

#include <gtest/gtest.h>

#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/pipeline.hpp"
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
        const Choice choice{.chunks = chunks, .layout = layout, .queues = 3, .graph = graph};
        EXPECT_EQ(testing::difference_after_runs(*device, name, choice), "") << name << ": " << to_string(choice);
      }
}

// Grids that are smaller than the work, and larger.
TEST_F(BuiltInWorkloadsOnGpu, come_out_right_with_whatever_grid) {
  for (const std::string& name : testing::small_workloads())
    for (const std::uint64_t blocks : {1u, 3u})
      for (const char* strategy : {"streams", "implicit", "hybrid"}) {
        const Choice choice{.strategy = strategy, .chunks = 2, .blocks = blocks};
        EXPECT_EQ(testing::difference_after_runs(*device, name, choice), "") << name << ": " << to_string(choice);
      }
}

// Sizes of which the kernels have paths of their own: many tiles, whole vectors, long rows.
TEST_F(BuiltInWorkloadsOnGpu, come_out_right_at_larger_sizes) {
  for (const char* name : {"saxpy:n=1000003",
                           "matmul:p=512",
                           "matmul:m=1000,n=772,p=900",
                           "matmul:m=333,n=1027,p=259",
                           "histogram:frames=40,width=352,height=288",
                           "histogram:frames=40,width=352,height=288,data=degenerate",
                           "histogram:frames=9,width=701,height=577,data=mixed",
                           "grayscale:frames=33,width=352,height=288,output=both",
                           "grayscale:frames=33,width=351,height=287,output=both",
                           "pop-state:nx=256,ny=255,nz=9,outputs=3",
                           "pop-buoydiff:nx=256,ny=256,nz=12",
                           "arccos:n=1000003,calls=1",
                           "arccos:n=1Mi,calls=512",
                           "arccos:n=1Mi,calls=31,precision=promoted",
                           "diffusion:nx=128,ny=128,nz=64,steps=33",
                           "diffusion:nx=300,ny=200,nz=16,steps=4",
                           "convolution:height=513,width=1025",
                           "convolution:height=300,width=256,filter=3",
                           "convolution:height=300,width=256,filter=18",
                           "spmv:rows=20000,nonzeros=2000000",
                           "spmv:rows=4001,nonzeros=4001",
                           "spmv:rows=4000,nonzeros=3000000"})
    for (const std::uint32_t chunks : {1u, 3u}) {
      const Choice choice{.chunks = chunks};
      EXPECT_EQ(testing::difference_after_runs(*device, name, choice), "") << name << ": " << to_string(choice);
    }
}

TEST_F(BuiltInWorkloadsOnGpu, do_what_their_jobs_say_and_nothing_else) {
  for (const std::string& name : testing::small_workloads()) {
    Pipeline pipeline(*device, find_workload(name));
    EXPECT_NO_THROW(require_declared_reach(*device, pipeline.workload().job)) << name;
  }
}

}  // namespace
}  // namespace shiplap
