// What the built-in workloads say of their kernels' room against what the CUDA runtime says of the kernels themselves.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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

TEST_F(OccupancyOnGpu, of_every_built_in_kernel_is_what_its_job_says) {
  int of_multiprocessor = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&of_multiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor, 0), cudaSuccess);
  int major = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  if (of_multiprocessor != 2048 || major != 9) GTEST_SKIP() << "the registers that jobs speak of are those of sm_90";
  for (const std::string& name : testing::small_workloads()) {
    const Job job = find_workload(name).job;
    const std::vector<cudaKernelNodeParams> kernels = kernels_of(job);
    ASSERT_FALSE(kernels.empty()) << name;
    const cudaKernelNodeParams& kernel = kernels.front();
    const unsigned threads = kernel.blockDim.x * kernel.blockDim.y * kernel.blockDim.z;
    int blocks = 0;
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.func, static_cast<int>(threads),
                                                            kernel.sharedMemBytes),
              cudaSuccess);
    EXPECT_EQ(threads, job.threads_per_block) << name;
    EXPECT_EQ(wave_of(job, 2048), static_cast<std::uint64_t>(blocks)) << name;
  }
}

}  // namespace
}  // namespace shiplap
