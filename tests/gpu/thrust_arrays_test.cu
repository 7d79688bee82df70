// Arrays as Thrust and libcu++ have them: taken from where they are, on the host and on the GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/mr/allocator.h>
#include <thrust/system/cuda/memory_resource.h>
#include <thrust/universal_vector.h>

#include <algorithm>
#include <cuda/std/span>
#include <variant>

#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using PinnedHostVector = thrust::host_vector<
    float,
    thrust::mr::stateless_resource_allocator<float, thrust::system::cuda::universal_host_pinned_memory_resource>>;

constexpr std::uint64_t n = 100'000;

__global__ void twice(Chunk chunk, View<const float> x, View<float> y) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) y[i] = 2 * x[i];
}

template <class In, class Out>
auto doubling(In&& x, Out&& y) {
  return Job{n, "twice"}
      .in("x", std::forward<In>(x))
      .out("y", std::forward<Out>(y))
      .kernel([](cudaStream_t stream, Chunk chunk, auto from, auto to) {
        twice<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk, from, to);
      });
}

using ArraysOnGpu = testing::OnGpu;

template <class Vector>
void expect_doubled(MeasurableDevice& device, MemoryKind kind) {
  Vector x(n, 3.0f);
  Vector y(n, 0.0f);
  const auto job = doubling(x, y);
  const Plan made = plan(load_or_measure(device), job);
  EXPECT_EQ(made.job.arrays[0].memory, made.pins ? MemoryKind::pinned : kind);
  run(device, made, job);
  for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], 6.0f) << i;
}

TEST_F(ArraysOnGpu, of_thrust_are_taken_from_the_memory_that_they_are_in) {
  expect_doubled<thrust::host_vector<float>>(*device, MemoryKind::pageable);
  expect_doubled<PinnedHostVector>(*device, MemoryKind::pinned);
  expect_doubled<thrust::universal_vector<float>>(*device, MemoryKind::managed);
}

TEST_F(ArraysOnGpu, are_taken_as_a_span_of_libcudacxx_that_is_a_temporary) {
  std::vector<float> x(n, 3.0f);
  std::vector<float> y(n);
  const auto job = doubling(cuda::std::span<const float>(x.data(), n), cuda::std::span<float>(y.data(), n));
  run(*device, plan(load_or_measure(*device), job), job);
  EXPECT_EQ(y[n - 1], 6.0f);
}

TEST_F(ArraysOnGpu, in_device_memory_are_read_and_written_there) {
  thrust::device_vector<float> x(n, 3.0f);
  thrust::device_vector<float> y(n);
  const auto job = doubling(x, y);
  const Plan planned = plan(load_or_measure(*device), job);
  EXPECT_TRUE(std::ranges::none_of(planned.chosen.schedule->ops,
                                   [](const Op& op) { return std::holds_alternative<Copy>(op.what); }));
  run(*device, planned, job);
  const thrust::host_vector<float> found = y;
  EXPECT_TRUE(std::ranges::all_of(found, [](float v) { return v == 6.0f; }));
}

}  // namespace
}  // namespace shiplap
