// How many blocks the GPU holds at once, as a probe takes it from a captured launch, against what the CUDA runtime says
// of the kernels themselves.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/workload/launches.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/support/built_in_workloads.hpp"

namespace shiplap {
namespace {

struct OccupancyOnGpu : testing::OnGpu {
  /// Of what the job launches for all of its items; nothing is run.
  static std::vector<cudaKernelNodeParams> kernels_of(const Job& job) {
    std::vector<Bytes> lengths;
    for (const Array& array : job.arrays) lengths.push_back(array.size);
    void* memory = nullptr;  // one for all: copies of an array are refused where it ends before they do
    EXPECT_EQ(cudaMalloc(&memory, std::ranges::max(lengths).count), cudaSuccess);
    std::vector<std::byte*> operands(job.arrays.size(), static_cast<std::byte*>(memory));
    const std::vector<Bytes> origins(job.arrays.size());
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    job.binding.cuda({.first_item = 0,
                      .items = job.items,
                      .operands = operands,
                      .lengths = lengths,
                      .origins = origins,
                      .blocks = blocks_of(job, job.items),
                      .stream = stream});
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << job.name;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    std::vector<cudaGraphNode_t> nodes(count);
    EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
    std::vector<cudaKernelNodeParams> kernels;
    for (const cudaGraphNode_t node : nodes) {
      cudaGraphNodeType type{};
      EXPECT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
      if (type != cudaGraphNodeTypeKernel) continue;
      kernels.emplace_back();
      EXPECT_EQ(cudaGraphKernelNodeGetParams(node, &kernels.back()), cudaSuccess);
    }
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    return kernels;
  }
};

TEST_F(OccupancyOnGpu, of_every_built_in_kernel_is_found_by_a_probe) {
  int sm_count = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  for (const std::string& name : testing::small_workloads()) {
    Workload workload = find_workload(name);
    std::uint64_t fewest = ~std::uint64_t{0};
    for (const cudaKernelNodeParams& kernel : kernels_of(workload.job)) {
      const unsigned threads = kernel.blockDim.x * kernel.blockDim.y * kernel.blockDim.z;
      int blocks = 0;
      ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.func, static_cast<int>(threads),
                                                              kernel.sharedMemBytes),
                cudaSuccess);
      EXPECT_EQ(threads, workload.job.threads_per_block) << name;
      fewest = std::min(fewest, static_cast<std::uint64_t>(blocks));
    }
    WorkloadData data(*device, std::move(workload));
    const KernelCost cost = probe_kernel(*device, data.job(), Limits{.device_memory = device->info().free_memory},
                                         {.repeats = 1, .zero_copy = Seconds{0}});
    EXPECT_EQ(cost.resident_blocks, fewest * static_cast<std::uint64_t>(sm_count)) << name;
  }
}

TEST_F(OccupancyOnGpu, of_kernels_on_host_memory_a_probe_finds_plausible_times_and_leaves_what_is_read) {
  Workload workload = find_workload("scalar-add:in=48MiB,out=12MiB");
  WorkloadData data(*device, std::move(workload));
  const KernelCost cost = probe_kernel(*device, data.job(), Limits{.device_memory = device->info().free_memory});
  ASSERT_EQ(cost.zero_copy.size(), 9u) << "inputs, outputs and both, at three grids each";
  for (const KernelCost::ZeroCopy& row : cost.zero_copy) {
    ASSERT_FALSE(row.alone.empty());
    for (std::size_t p = 1; p < row.alone.size(); ++p)
      EXPECT_GT(row.alone[p].work.value, row.alone[p - 1].work.value) << "more items take longer";
    // No link of today moves 32 MiB in less than 50 us.
    EXPECT_GT(row.alone.back().work.value, microseconds(row.in ? 50 : 10));
    EXPECT_GE(row.copies_beside, 1);
  }
  data.set_cost(cost);
  // The inputs are as they were: a run finds what it should.
  Prepared prepared =
      prepare(*device, data.job(), {.strategy = "explicit"}, Limits{.device_memory = device->info().free_memory});
  prepared.run();
  EXPECT_EQ(data.verify(), "");
}

}  // namespace
}  // namespace shiplap
