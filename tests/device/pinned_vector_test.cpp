#include "shiplap/device/pinned_vector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <span>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

TEST(PinnedVector, holds_elements_that_its_device_knows_as_pinned) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  pinned_vector<double> x(*gpu, 1000, 2.5);
  EXPECT_EQ(gpu->kind_of(reinterpret_cast<const std::byte*>(x.data())), MemoryKind::pinned);
  ASSERT_EQ(x.size(), 1000u);
  EXPECT_EQ(std::ranges::count(x, 2.5), 1000);
  x[999] = 1;
  EXPECT_EQ(*(x.end() - 1), 1);
  const std::span<const double> all = x;
  EXPECT_EQ(all.data(), x.data());
  EXPECT_EQ(all.size(), 1000u);
}

TEST(PinnedVector, is_a_contiguous_range_that_a_job_takes) {
  static_assert(std::ranges::contiguous_range<pinned_vector<float>>);
  static_assert(!detail::is_view<pinned_vector<float>>());
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  pinned_vector<float> x(*gpu, 10);
  EXPECT_EQ(x[3], 0) << "elements have a value";
  const Job job = Job{10}.inout("x", x);
  EXPECT_EQ(job.arrays[0].data, reinterpret_cast<std::byte*>(x.data()));
  EXPECT_EQ(job.arrays[0].size, 40_B);
}

TEST(PinnedVector, is_moved_and_outlives_its_device) {
  auto gpu = open_virtual(planted_profile(), "virtual:planted");
  pinned_vector<int> from(*gpu, 4, 7);
  pinned_vector<int> to(std::move(from));
  EXPECT_TRUE(from.empty());
  from = std::move(to);
  EXPECT_TRUE(to.empty());
  gpu.reset();
  EXPECT_EQ(std::ranges::count(from, 7), 4);
  EXPECT_TRUE(pinned_vector<int>().empty());
}

}  // namespace
}  // namespace shiplap
