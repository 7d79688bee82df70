// What captures tell of a kernel: every call is faked, and the kernels of a graph are those that were launched.
#include "shiplap/pipeline/captured_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/workload/described_job.hpp"
#include "shiplap/workload/launches.hpp"
#include "tests/device/cuda/fake_api.hpp"

namespace shiplap {
namespace {

struct CapturedKernelFake : ::testing::Test {
  Api api = testing::fake_api();
  std::unique_ptr<Device> device = open_cuda(0, api);
  Limits limits{.device_memory = 512_KiB};

  /// A job over single bytes whose kernel is so many launches.
  Job job(std::uint64_t items, const std::function<std::uint64_t(std::uint64_t)>& launches) {
    return Job{items, "counted"}
        .shaped<char>("x", Role::inout, items)
        .kernel([this, launches](CUstream_st* stream, Chunk chunk, auto) {
          for (std::uint64_t i = 0; i < launches(chunk.count); ++i)
            api.launch_kernel(empty_kernel(), dim3(1), dim3(1), nullptr, 0, stream);
        });
  }
  Job captured(std::uint64_t items, const std::function<std::uint64_t(std::uint64_t)>& launches) {
    return as_captured(*device, job(items, launches), limits);
  }
};

TEST_F(CapturedKernelFake, is_counted_whatever_the_job_states) {
  for (const std::uint64_t launches : {1u, 2u, 7u}) {
    const Job found = captured(100'000, [&](std::uint64_t) { return launches; });
    EXPECT_EQ(found.launches, launches);
    EXPECT_EQ(found.launches_per_item, 0);
    EXPECT_EQ(launches_of(found, 50'000), launches);
  }
}

TEST_F(CapturedKernelFake, of_a_loop_over_its_items_has_launches_for_each) {
  const Job found = captured(1000, [](std::uint64_t items) { return 3 + 2 * items; });
  EXPECT_EQ(launches_of(found, 1), 5u);
  EXPECT_EQ(launches_of(found, 1000), 2003u);
}

TEST_F(CapturedKernelFake, of_many_launches_is_captured_for_few_items) {
  std::uint64_t most = 0;
  const Job found = captured(400'000, [&](std::uint64_t items) {
    most = std::max(most, items);
    return items;
  });
  EXPECT_LE(most, 5000u);
  EXPECT_EQ(launches_of(found, 400'000), 400'000u);
}

TEST_F(CapturedKernelFake, that_cuts_its_items_to_what_a_grid_holds_has_a_launch_for_each_such_part) {
  const Job found = captured(400'000, [](std::uint64_t items) { return (items + 999) / 1000; });
  for (const std::uint64_t items : {1000u, 50'000u, 400'000u}) {
    const double parts = static_cast<double>(items) / 1000;
    EXPECT_NEAR(static_cast<double>(launches_of(found, items)), parts, 1 + parts / 50);
  }
}

TEST_F(CapturedKernelFake, whose_launches_are_on_no_line_counts_as_the_most_that_were_seen) {
  const Job found = captured(80'000, [](std::uint64_t items) { return 1 + std::bit_width(items); });
  EXPECT_EQ(found.launches_per_item, 0);
  EXPECT_EQ(found.launches, 1u + 14u) << "10,000 items are an eighth";
}

TEST_F(CapturedKernelFake, is_captured_within_half_of_the_device_memory) {
  limits.device_memory = 20'000_B;
  std::uint64_t most = 0;
  captured(400'000, [&](std::uint64_t items) {
    most = std::max(most, items);
    return 1;
  });
  EXPECT_LE(most, 10'000u);
  EXPECT_GT(most, 4'000u);
}

}  // namespace
}  // namespace shiplap
