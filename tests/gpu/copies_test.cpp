// Copies over all links of a node and from files, on real GPUs.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/pipeline/copy.hpp"
#include "shiplap/pipeline/file_copy.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/shiplap.hpp"
#include "tests/support/linked_gpus.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t seed = 11;

/// All GPUs of the machine, with a profile that has links of equal rates between host and GPUs and fast ones between
/// GPUs, so that large copies are divided.
struct CopiesOnGpus : ::testing::Test {
  void SetUp() override {
    std::string why_absent;
    const int gpus = count_cuda(why_absent);
    if (gpus == 0) GTEST_SKIP() << why_absent;
    std::vector<int> all;
    for (int gpu = 0; gpu < gpus; ++gpu) all.push_back(gpu);
    device = open_cuda(all);
    node = node_of(*device, linked_gpus(static_cast<std::uint32_t>(gpus)));
    cudaSetDevice(0);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }
  void TearDown() override {
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
  bool are_several() const { return device->info().gpus > 1 && device->info().peer_access; }

  std::shared_ptr<MeasurableDevice> device;
  Node node;
  cudaStream_t stream = nullptr;
};

TEST_F(CopiesOnGpus, bring_every_byte_there_and_back_in_the_order_of_the_stream) {
  const std::uint16_t gpus = device->info().gpus > 1 ? 2 : 1;
  Copier copier(node, {.relays = gpus > 1 ? std::vector<std::uint16_t>{0, 1} : std::vector<std::uint16_t>{0}});
  for (std::uint16_t gpu = 0; gpu < gpus; ++gpu)
    for (const Bytes size : {8_B, 1_MiB, 5_MiB + 8_B, 64_MiB, 300_MiB + 8_B, 64_MiB}) {
      const Memory from = device->allocate(Place::host(), MemoryKind::pinned, size);
      const Memory there = device->allocate(Place::gpu(gpu), MemoryKind::device, size);
      const Memory back = device->allocate(Place::host(), MemoryKind::pinned, size);
      device->fill(from, seed + size.count);
      std::memset(back.data(), 0, size.count);
      Relay in, out;
      for (int again = 0; again < 3; ++again) {
        in = copier.copy(there.data(), from.data(), size, stream);
        out = copier.copy(back.data(), there.data(), size, stream);
      }
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      EXPECT_EQ(device->mismatches(back, 0_B, size, seed + size.count, 0_B), 0u) << to_string(size) << " by " << gpu;
      if (size > 8_B && size < 64_MiB) continue;
      EXPECT_EQ(!in.through.empty(), are_several() && size > 8_B) << to_string(size);
      EXPECT_EQ(!out.through.empty(), are_several() && size > 8_B) << to_string(size);
    }
}

TEST_F(CopiesOnGpus, follow_each_other_in_whatever_streams_of_whichever_gpu_they_are) {
  if (!are_several()) GTEST_SKIP() << "needs two GPUs that reach each other";
  Copier copier(node);
  cudaStream_t other = nullptr;
  cudaSetDevice(1);
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  cudaSetDevice(0);
  const Bytes size = 128_MiB;
  std::vector<Memory> from, there;
  for (std::uint64_t i = 0; i < 4; ++i) {
    from.push_back(device->allocate(Place::host(), MemoryKind::pinned, size));
    there.push_back(device->allocate(Place::gpu(0), MemoryKind::device, size));
    device->fill(from.back(), seed + i);
  }
  // All of them use the same ring, at the same time if nothing orders them.
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < 4; ++i) copier.copy(there[i].data(), from[i].data(), size, i % 2 == 0 ? stream : other);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(device->mismatches(there[i], 0_B, size, seed + i, 0_B), 0u) << i;
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0) << "the caller's GPU stays as it was";
  cudaStreamDestroy(other);
}

TEST_F(CopiesOnGpus, go_over_their_own_link_in_a_stream_that_is_captured) {
  Copier copier(node);
  const Memory from = device->allocate(Place::host(), MemoryKind::pinned, 64_MiB);
  const Memory there = device->allocate(Place::gpu(0), MemoryKind::device, 64_MiB);
  device->fill(from, seed);
  ASSERT_EQ(cudaMemset(there.data(), 0, (64_MiB).count), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_TRUE(copier.copy(there.data(), from.data(), 64_MiB, stream).through.empty());
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t made = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&made, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(made, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(device->mismatches(there, 0_B, 64_MiB, seed, 0_B), 0u);
  cudaGraphExecDestroy(made);
  cudaGraphDestroy(graph);
}

TEST_F(CopiesOnGpus, of_a_job_over_other_links_too_give_what_its_kernel_gives) {
  if (!are_several()) GTEST_SKIP() << "needs two GPUs that reach each other";
  for (const char* name : {"saxpy:n=16Mi", "grayscale:width=4096,height=2048"}) {
    WorkloadData data(*device, find_workload(name));
    for (const char* strategy : {"explicit", "streams", "hybrid"}) {
      const Plan plan =
          shiplap::plan(node, data.job(), {.space = {.strategies = {strategy}, .relays = {1}}, .may_pin = false});
      RunReportOptions options{.repeats = 3};
      options.refill = [&] { data.refill(); };
      options.verify = [&] { return data.verify(); };
      const Report report = shiplap::run(*device, plan, data.job(), options);
      EXPECT_TRUE(report.verified()) << name << ", " << to_string(plan.chosen.choice) << ": " << *report.difference;
    }
  }
}

TEST_F(CopiesOnGpus, from_files_fill_what_their_parts_say_and_leave_the_rest) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "weights").string();
  const Bytes size = 37_MiB + 4096_B;
  const Memory written = device->allocate(Place::host(), MemoryKind::pinned, size);
  device->fill(written, seed);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(written.data()), static_cast<std::streamsize>(size.count));
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(descriptor, 0);
  const Memory there = device->allocate(Place::gpu(0), MemoryKind::device, 64_MiB);
  FileCopier copier(*device);
  for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{4096}}) {
    ASSERT_EQ(cudaMemset(there.data(), 0, (64_MiB).count), cudaSuccess);
    const std::vector<FilePart> parts{{.from = {descriptor, from, path}, .size = 8_MiB, .to = 16_MiB},
                                      {.from = {descriptor, from + (8_MiB).count, path}, .size = 29_MiB, .to = 32_MiB}};
    copier.copy(parts, there.data(), 64_MiB);
    EXPECT_EQ(device->mismatches(there, 16_MiB, 8_MiB, seed, Bytes{from}), 0u);
    EXPECT_EQ(device->mismatches(there, 32_MiB, 29_MiB, seed, Bytes{from} + 8_MiB), 0u);
    std::vector<char> rest((16_MiB).count);
    ASSERT_EQ(cudaMemcpy(rest.data(), there.data(), rest.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(std::count(rest.begin(), rest.end(), 0), static_cast<std::ptrdiff_t>(rest.size()));
  }
  const std::vector<FilePart> beyond{{.from = {descriptor, (30_MiB).count, path}, .size = 20_MiB}};
  EXPECT_THROW(copier.copy(beyond, there.data(), 64_MiB), Error) << "the file is shorter";
  close(descriptor);
}

}  // namespace
}  // namespace shiplap
