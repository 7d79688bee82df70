// Many jobs on one GPU at a time, and kernels and streams that never end.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/support/cancel.hpp"

namespace shiplap {
namespace {

using LoadOnGpu = testing::OnGpu;

constexpr Limits roomy_gpu{.device_memory = 1_GiB};

std::size_t free_on_gpu() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

/// Runs 64 threads with jobs of their own. Returns the number of wrong results.
int run_many(MeasurableDevice& device) {
  constexpr int many = 64;
  std::vector<int> wrong(many, -1);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < many; ++t)
      threads.emplace_back([&device, &wrong, t] {
        const MemoryKind kind = t % 2 == 0 ? MemoryKind::pageable : MemoryKind::pinned;
        testing::WholeJob job(device, "saxpy:n=" + std::to_string(1'000'000 + 1300 * t), kind);
        const Choice choice = t % 2 == 0 ? Choice{.strategy = "staged", .chunks = 8, .threads = 2}
                                         : Choice{.strategy = "streams", .chunks = 8, .graph = t % 4 == 1};
        int bad = 0;
        for (int round = 0; round < 3; ++round) {
          Prepared prepared = prepare(device, job.workload.job, choice, roomy_gpu);
          for (int run = 0; run < 10; ++run) {
            job.fill();
            prepared.run();
            bad += job.wrong().empty() ? 0 : 1;
          }
        }
        wrong[t] = bad;
      });
  }
  int sum = 0;
  for (const int bad : wrong) sum += bad;
  return sum;
}

TEST_F(LoadOnGpu, of_64_threads_gives_right_results_and_the_memory_back) {
  EXPECT_EQ(run_many(*device), 0);
  const std::size_t before = free_on_gpu();
  EXPECT_EQ(run_many(*device), 0);
  EXPECT_EQ(free_on_gpu(), before);
}

// --- What never ends: until the flag is set, so that the test itself can end ---

__global__ void until_set(const volatile int* flag) {
  while (*flag == 0) {
  }
}

struct Flag {
  explicit Flag(MeasurableDevice& device) : memory(device.allocate(Place::host(), MemoryKind::mapped, 4_B)) {
    *value() = 0;
  }
  ~Flag() {
    set();
    cudaDeviceSynchronize();
  }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  volatile int* value() const { return reinterpret_cast<volatile int*>(memory.data()); }
  void set() const { *value() = 1; }

  Memory memory;
};

constexpr Seconds limit = milliseconds(200);
constexpr Seconds at_once = milliseconds(100);  ///< what threads and the driver may add

TEST_F(LoadOnGpu, behind_a_stream_of_the_caller_that_never_ends_ends_at_its_limit) {
  testing::WholeJob job(*device, "saxpy:n=100000", MemoryKind::pinned);
  Prepared prepared = prepare(*device, job.workload.job, {.chunks = 4}, roomy_gpu);
  prepared.run();
  job.fill();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    const Flag flag(*device);
    until_set<<<1, 1, 0, stream>>>(flag.value());
    const Seconds began = steady_time();
    Running running = run_async(*device, prepared, stream, {.limit = limit});
    EXPECT_THROW(running.wait(), TimedOut);
    EXPECT_LT(steady_time() - began, limit + at_once);
    EXPECT_NE(job.wrong(), "") << "nothing of it was submitted";
    Running cancelled = run_async(*device, prepared, stream);
    cancelled.cancel();
    EXPECT_THROW(cancelled.wait(), Cancelled);
    prepared.run({.limit = Seconds{5}});  // in its own streams the job runs concurrently with that kernel
    EXPECT_EQ(job.wrong(), "");
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(LoadOnGpu, whose_kernel_never_ends_ends_at_its_limit_and_keeps_its_memory_until_the_kernel_ends) {
  constexpr std::uint64_t n = 1000;
  auto x = pinned_vector<int>(*device, n, 1);
  auto y = pinned_vector<int>(*device, n);
  const Flag flag(*device);
  const auto job =
      Job{n, "endless"}
          .in("x", x)
          .out("y", y)
          .kernel_time(microseconds(10))
          .kernel([&](cudaStream_t stream, Chunk, auto, auto) { until_set<<<1, 1, 0, stream>>>(flag.value()); });
  for (const bool graph : {false, true}) {
    *flag.value() = 0;
    const Seconds began = steady_time();
    {
      Prepared prepared = prepare(*device, job, {.chunks = 4, .graph = graph}, roomy_gpu);
      EXPECT_THROW(prepared.run({.limit = limit}), TimedOut);
      EXPECT_TRUE(prepared.overdue());
      EXPECT_THROW(prepared.run(), TimedOut);
    }
    EXPECT_LT(steady_time() - began, limit + 5 * at_once) << "destroyed without waiting";
    flag.set();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    Prepared again = prepare(*device, job, {.chunks = 4, .graph = graph}, roomy_gpu);
    again.run({.limit = Seconds{5}});
    EXPECT_FALSE(again.overdue());
  }
}

}  // namespace
}  // namespace shiplap
