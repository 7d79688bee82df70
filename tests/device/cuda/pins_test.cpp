// Memory of the caller that other code has pinned too, and plans that pin. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/pins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;

struct PinsFixture : ::testing::Test {
  std::byte* at(std::size_t offset) { return data.data() + offset; }

  Api api = fake_api();
  std::unique_ptr<MeasurableDevice> device = open_cuda(0, api);
  const int of_device = fake_cuda().live_pinned_memory;
  std::vector<std::byte> data = std::vector<std::byte>(1 << 20);
};
using Pins = PinsFixture;

TEST_F(Pins, of_other_code_are_left_to_it) {
  ASSERT_EQ(api.host_register(at(0), 1 << 20, 0), cudaSuccess);
  { const Memory pinned = device->pin(at(0), 64_KiB); }
  EXPECT_EQ(device->kind_of(at(0), 1_MiB), MemoryKind::pinned);
  ASSERT_EQ(api.host_unregister(at(0)), cudaSuccess);
}

TEST_F(Pins, of_other_code_on_two_halves_are_not_one_range) {
  ASSERT_EQ(api.host_register(at(0), 1 << 19, 0), cudaSuccess);
  ASSERT_EQ(api.host_register(at(1 << 19), 1 << 19, 0), cudaSuccess);
  EXPECT_THAT(message_of([&] { device->pin(at(0), 1_MiB); }), HasSubstr("only a part is pinned"));
  for (const std::size_t half : {0u, 1u << 19}) ASSERT_EQ(api.host_unregister(at(half)), cudaSuccess);
}

TEST_F(Pins, that_the_system_refuses_leave_no_holder) {
  fake_cuda().fail(0, cudaErrorMemoryAllocation, "host_register");
  EXPECT_THROW(device->pin(at(0), 4_KiB), Error);
  { const Memory larger = device->pin(at(0), 64_KiB); }
  EXPECT_EQ(fake_cuda().live_pinned_memory, of_device);
}

// Memory that the system does not let CUDA pin, as mapped files.
struct PlannedPinsFixture : ::testing::Test {
  static constexpr std::size_t n = 1 << 18;

  Plan planned(std::uint64_t runs) { return planned(runs, x); }

  Plan planned(std::uint64_t runs, std::span<const float> input) {
    job = Job{n, "map"}
              .in("x", input)
              .out("y", y)
              .kernel_time(milliseconds(1))
              .kernel([](CUstream_st*, Chunk chunk, auto in, auto out) {
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) out[i] = in[i] + 1;
              });
    PlanOptions options;
    options.runs = runs;
    return plan(node_of(*device, find_profile("h200")), job, options);
  }

  Api api = [] {
    Api faked = fake_api();
    fake_cuda().free_memory = fake_cuda().total_memory = 256u << 20;
    usual = faked.host_register;
    return faked;
  }();
  static inline cudaError_t (*usual)(void*, std::size_t, unsigned) = nullptr;
  static inline const void* refused = nullptr;
  std::unique_ptr<MeasurableDevice> device = open_cuda(0, api);
  std::vector<float> x = std::vector<float>(n, 1.0F);
  std::vector<float> y = std::vector<float>(n);
  Job job;
};
using PlannedPins = PlannedPinsFixture;

TEST_F(PlannedPins, are_not_of_memory_that_cannot_be_pinned) {
  refused = x.data();
  api.host_register = [](void* data, std::size_t size, unsigned flags) {
    return data == refused ? cudaErrorInvalidValue : usual(data, size, flags);
  };
  const Plan plan = planned(10000);
  EXPECT_FALSE(plan.pins);
  EXPECT_EQ(find_strategy(plan.chosen.choice.strategy).memory, ArrayMemory::pageable);
  ASSERT_EQ(plan.memory->unknown.size(), 1u);
  EXPECT_EQ(plan.memory->unknown.front().preparation, Preparation::registered);
  EXPECT_THAT(plan.memory->unknown.front().reason,
              ::testing::AllOf(HasSubstr("cannot be pinned where they are"), HasSubstr("cudaHostRegister")));
  prepare(*device, plan, job).run();
  EXPECT_EQ(y, std::vector<float>(n, 2.0F));
}

// An array with a page of a file in its middle, as shared memory between other pages.
TEST_F(PlannedPins, are_not_of_memory_that_cannot_be_pinned_in_its_middle) {
  const std::size_t size = n * sizeof(float);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* const middle = static_cast<std::byte*>(memory) + size / 2;
  const int file = memfd_create("page", 0);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(page)), 0);
  ASSERT_EQ(mmap(middle, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), middle);
  close(file);
  refused = middle;
  api.host_register = [](void* data, std::size_t length, unsigned flags) {
    const auto* const begin = static_cast<const std::byte*>(data);
    const bool has_it = begin <= refused && refused < begin + length;
    return has_it ? cudaErrorInvalidValue : usual(data, length, flags);
  };
  std::fill_n(static_cast<float*>(memory), n, 1.0F);
  {
    const Plan plan = planned(10000, {static_cast<const float*>(memory), n});
    EXPECT_FALSE(plan.pins);
    prepare(*device, plan, job).run();
  }
  EXPECT_EQ(y, std::vector<float>(n, 2.0F));
  munmap(memory, size);
}

TEST_F(PlannedPins, are_kept_where_memory_can_be_pinned) { EXPECT_TRUE(planned(10000).pins); }

}  // namespace
}  // namespace shiplap
