// What is the caller's on a real GPU: its contexts, its kernels, its graphs, its files, its access between GPUs.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/support/cancel.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using CallerOnGpu = testing::OnGpu;

/// A function of the driver's library, which the tests do not link.
template <class Function>
Function* of_driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

bool has_context(int gpu) {
  CUdevice device{};
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(of_driver<decltype(cuDeviceGet)>("cuDeviceGet")(&device, gpu), CUDA_SUCCESS);
  EXPECT_EQ(of_driver<decltype(cuDevicePrimaryCtxGetState)>("cuDevicePrimaryCtxGetState")(device, &flags, &active),
            CUDA_SUCCESS);
  return active != 0;
}

TEST_F(CallerOnGpu, launches_kernels_by_the_driver_that_a_trace_finds) {
  constexpr const char* text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry touch(.param .u64 p) { .reg .u64 %r<2>; .reg .u32 %x<2>; ld.param.u64 %r0, [p];
cvta.to.global.u64 %r1, %r0; ld.global.u32 %x0, [%r1]; st.global.u32 [%r1], %x0; ret; })";
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  CUmodule module = nullptr;
  CUfunction touch = nullptr;
  ASSERT_EQ(of_driver<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, text), CUDA_SUCCESS);
  ASSERT_EQ(of_driver<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&touch, module, "touch"), CUDA_SUCCESS);
  Schedule s;
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, 4_KiB});
  s.add({.what = Kernel{.kernel = s.add_kernel("touch"),
                        .items = 1,
                        .operands = {{{gpu, 0_B, 4_KiB}, AccessMode::write}},
                        .flows = {}},
         .stream = s.add_stream("compute"),
         .agent = AgentId{0},
         .after = {}});
  const Memory memory = device->allocate(Place::gpu(), MemoryKind::device, 4_KiB);
  const KernelBinding kernel{
      .host = {}, .cuda = [touch](const Launch& launch) {
        void* at = launch.operands[0];
        void* arguments[] = {&at};
        EXPECT_EQ(of_driver<decltype(cuLaunchKernel)>("cuLaunchKernel")(
                      touch, 1, 1, 1, 1, 1, 1, 0, static_cast<CUstream>(launch.stream), arguments, nullptr),
                  CUDA_SUCCESS);
      }};
  const auto execution = device->prepare(s, {.buffers = {memory.data()}, .kernels = {kernel}});
  const RunResult result = execution->run({.trace = Trace::best});
  ASSERT_EQ(result.timeline.spans.size(), 1u);
  EXPECT_GT(result.timeline.spans[0].end, result.timeline.spans[0].start) << result.trace_source;
}

/// The graph of a run that a stream of the caller captures.
class CapturedGraph {
 public:
  CapturedGraph(Device& device, Prepared& prepared) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    run_async(device, prepared, stream_).wait();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&made_, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess) << "what was made of it keeps the host nodes' data";
  }
  ~CapturedGraph() {
    EXPECT_EQ(cudaGraphExecDestroy(made_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  void launch() const {
    EXPECT_EQ(cudaGraphLaunch(made_, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t made_ = nullptr;
};

TEST_F(CallerOnGpu, captures_runs_that_do_their_work_in_every_launch) {
  for (const auto& [kind, choice] :
       {std::pair{MemoryKind::pageable, Choice{.strategy = "staged", .chunks = 8, .threads = 2}},
        {MemoryKind::pinned, Choice{.strategy = "streams", .chunks = 8}},
        {MemoryKind::pinned, Choice{.strategy = "streams", .chunks = 8, .ring = 2}},
        {MemoryKind::pinned, Choice{.strategy = "explicit"}},
        {MemoryKind::pinned, Choice{.strategy = "implicit"}}}) {
    SCOPED_TRACE(choice.strategy);
    testing::WholeJob job(*device, "saxpy:n=1000000", kind);
    Prepared prepared = prepare(*device, job.workload.job, choice, {.device_memory = 1_GiB});
    const CapturedGraph graph(*device, prepared);
    for (int launch = 0; launch < 3; ++launch) {
      job.fill();
      graph.launch();
      EXPECT_EQ(job.wrong(), "") << launch;
    }
    job.fill();
    prepared.run();
    EXPECT_EQ(job.wrong(), "") << "by itself";
  }
}

__global__ void add_one(const float* in, float* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] + 1;
}

/// A file of floats that is mapped as np.memmap does.
class MappedFile {
 public:
  MappedFile(const std::string& path, std::size_t count, bool writable) : bytes_(count * sizeof(float)) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_GE(file, 0);
    const std::vector<float> ones(count, 1.0F);
    EXPECT_EQ(write(file, ones.data(), bytes_), static_cast<ssize_t>(bytes_));
    void* const data = mmap(nullptr, bytes_, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
    EXPECT_NE(data, MAP_FAILED);
    close(file);
    values = {static_cast<float*>(data), count};
  }
  ~MappedFile() { munmap(values.data(), bytes_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<float> values;

 private:
  std::size_t bytes_;
};

TEST_F(CallerOnGpu, has_mapped_files_staged_that_cannot_be_pinned) {
  constexpr std::size_t n = 16 << 20;
  const TemporaryFolder folder;
  for (const bool writable : {false, true}) {
    MappedFile x((folder.path() / "x").string(), n, writable);
    std::vector<float> y(n);
    const auto job = Job{n, "map"}
                         .in("x", std::span<const float>(x.values))
                         .out("y", y)
                         .kernel_time(milliseconds(1))
                         .kernel([](cudaStream_t stream, Chunk chunk, auto in, auto out) {
                           add_one<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(
                               in.data(), out.data(), static_cast<unsigned>(chunk.count));
                         });
    PlanOptions options;
    options.runs = 1000;
    const Plan planned = plan(node_of(*device, find_profile("h200")), job, options);
    EXPECT_FALSE(planned.pins);
    ASSERT_FALSE(planned.memory->unknown.empty());
    EXPECT_THAT(planned.memory->unknown.front().reason, HasSubstr("cannot be pinned where they are"));
    prepare(*device, planned, job).run();
    EXPECT_EQ(y, std::vector<float>(n, 2.0F)) << writable;
  }
}

// With several GPUs: the last one is used, and nothing of the first one is touched.
TEST(CallersGpuOnGpu, is_the_one_that_it_was_and_no_context_is_made_elsewhere) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 2) GTEST_SKIP() << "this needs two GPUs";
  std::thread([gpus] {
    int current = -1;
    const bool first_had_one = has_context(0);
    std::string why;
    EXPECT_EQ(list_cuda(why).size(), static_cast<std::size_t>(gpus));
    EXPECT_EQ(has_context(0), first_had_one) << "after listing";
    {
      const auto device = open_cuda(gpus - 1);
      testing::WholeJob job(*device, "saxpy:n=100000", MemoryKind::pinned);
      Prepared prepared = prepare(*device, job.workload.job, {.chunks = 4}, {.device_memory = 1_GiB});
      prepared.run();
      EXPECT_EQ(job.wrong(), "");
      EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
      EXPECT_EQ(current, 0) << "CUDA's default, as before";
      EXPECT_EQ(cudaSetDevice(gpus - 1), cudaSuccess);
      const auto first = open_cuda(0);
      static_cast<void>(first->info());
      EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
      EXPECT_EQ(current, gpus - 1);
    }
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, gpus - 1);
  }).join();
}

TEST(CallersGpuOnGpu, keeps_access_between_gpus_as_long_as_a_device_uses_it) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 2) GTEST_SKIP() << "this needs two GPUs";
  auto first = open_cuda(std::vector{0, 1});
  const auto second = open_cuda(std::vector{0, 1});
  if (!second->info().peer_access) GTEST_SKIP() << "these GPUs cannot address each other's memory";
  Schedule s;
  const BufferId from = s.add_buffer({"from", Place::gpu(0), MemoryKind::device, 1_MiB});
  const BufferId to = s.add_buffer({"to", Place::gpu(1), MemoryKind::device, 1_MiB});
  s.add({.what = Copy{{from, 0_B, 1_MiB}, {to, 0_B, 1_MiB}},
         .stream = s.add_stream("copy", Place::gpu(0)),
         .agent = AgentId{0},
         .after = {}});
  const auto run_on = [&](MeasurableDevice& device) {
    const auto memory = testing::memory_for(device, s);
    device.prepare(s, testing::bindings_of(memory, {}))->run();
  };
  run_on(*first);
  run_on(*second);
  first.reset();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled) << "the second one still needs it";
  static_cast<void>(cudaGetLastError());
  run_on(*second);
}

}  // namespace
}  // namespace shiplap
