// Plans for pageable and pinned arrays: when arrays are pinned, and when zero-copy is considered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The array that stays is copied once and remains pageable: the schedule that runs says so of both arrays.
TEST(PlannedJob, pins_only_the_arrays_that_are_cut) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  const Memory x = gpu->allocate(Place::host(), MemoryKind::pageable, 64_MiB);
  std::vector<float> factor(16 << 20, 2.0f);
  const std::span<float> data(reinterpret_cast<float*>(x.data()), 16 << 20);
  const auto job =
      Job{data.size()}.inout("x", data).broadcast("factor", factor).host_kernel([](Chunk c, auto to, auto by) {
        for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] = 3 * by[i];
      });
  const Plan often = plan(node_of(*gpu, find_profile("h200")), job, {.runs = 1'000'000});
  ASSERT_TRUE(often.pins);
  EXPECT_EQ(often.chosen.schedule->buffers[0].memory, MemoryKind::pinned);
  EXPECT_EQ(often.chosen.schedule->buffers[1].memory, MemoryKind::pageable);
  prepare(*gpu, often, job).run();
  EXPECT_EQ(data[4711], 6.0f);
  EXPECT_EQ(gpu->kind_of(x.data()), MemoryKind::pageable) << "as it was before";
}

TEST(PlannedJob, pins_vectors_that_are_used_often_enough) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  std::vector<float> x(16 << 20, 1.0f);
  std::vector<float> y(16 << 20, 2.0f);
  const auto job = Job{x.size()}.in("x", x).inout("y", y).host_kernel([](Chunk c, auto from, auto to) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] += from[i];
  });
  const Node node = node_of(*gpu, find_profile("h200"));
  EXPECT_FALSE(plan(node, job, {.runs = 1}).pins);
  const Plan often = plan(node, job, {.runs = 1'000'000});
  EXPECT_TRUE(often.pins);
  EXPECT_GT(often.pinning, Seconds{0});
  {
    Prepared prepared = prepare(*gpu, often, job);
    EXPECT_EQ(gpu->kind_of(reinterpret_cast<const std::byte*>(x.data())), MemoryKind::pinned);
    prepared.run();
  }
  EXPECT_EQ(gpu->kind_of(reinterpret_cast<const std::byte*>(x.data())), MemoryKind::pageable);
  EXPECT_EQ(y[12345], 3.0f);
  PlanOptions as_they_are{.runs = 1'000'000};
  as_they_are.may_pin = false;
  EXPECT_FALSE(plan(node, job, as_they_are).pins);
}

/// Whether a plan considered strategies in which the kernel accesses host memory, and why not.
bool considers_zero_copy(const Plan& plan) {
  return std::ranges::any_of(plan.ranking.candidates,
                             [](const Candidate& c) { return find_strategy(c.choice.strategy).zero_copy; });
}
std::string why_no_zero_copy(const Plan& plan) {
  const auto found = std::ranges::find(plan.ranking.refused, "implicit", &Refused::strategy);
  return found == plan.ranking.refused.end() ? "" : found->reason;
}

TEST(PlannedJob, is_offered_zero_copy_only_where_that_was_said_or_measured) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  const Node node = node_of(*gpu, find_profile("h200"));
  pinned_vector<float> x(*gpu, 1 << 20);
  const auto job = Job{x.size(), "mine"}.inout("x", x).host_kernel([](Chunk, auto) {});
  const Plan unknown = plan(node, job);
  EXPECT_FALSE(considers_zero_copy(unknown));
  EXPECT_THAT(why_no_zero_copy(unknown), HasSubstr("not known to touch each byte about once"));
  EXPECT_TRUE(considers_zero_copy(plan(node, job.zero_copy_suits())));
  EXPECT_THAT(why_no_zero_copy(plan(node, job.touches_bytes_repeatedly())), HasSubstr("touches bytes repeatedly"));

  const KernelCost::Point at_all{x.size(), Interval<Seconds>::exact(microseconds(100))};
  KernelCost measured{.points = {at_all}, .origin = "measured"};
  EXPECT_FALSE(considers_zero_copy(plan(node, job.kernel_time(measured))));
  measured.zero_copy = {{.in = true, .out = true, .alone = {at_all}, .beside = {}}};
  EXPECT_TRUE(considers_zero_copy(plan(node, job.kernel_time(measured))));
  EXPECT_FALSE(considers_zero_copy(plan(node, job.kernel_time(measured).touches_bytes_repeatedly())));
}

TEST(PlannedJob, weighs_pinning_for_a_strategy_that_needs_pinned_arrays) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  std::vector<float> x(16 << 20, 1.0f);
  const auto job = Job{x.size(), "mine"}.inout("x", x).host_kernel([](Chunk, auto) {});
  const Node node = node_of(*gpu, find_profile("h200"));
  const SearchSpace streams{.strategies = {"streams"}, .chunks = {8}};
  const Plan often = plan(node, job, {.space = streams, .runs = 1'000'000});
  EXPECT_TRUE(often.pins);
  EXPECT_EQ(often.chosen.choice.strategy, "streams");
  EXPECT_EQ(often.chosen.choice.chunks, 8u);
  const auto once = message_of<Unsupported>([&] { plan(node, job, {.space = streams, .runs = 1}); });
  EXPECT_THAT(once, AllOf(HasSubstr("streams: pinned arrays are needed, and x is in pageable memory"),
                          HasSubstr("`runs` or more over the same arrays, a plan pins them")));
  EXPECT_FALSE(plan(node, job, {.space = {.strategies = {"staged"}}, .runs = 1'000'000}).pins);
}

TEST(PlannedJob, names_the_array_that_makes_all_count_as_pageable) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  pinned_vector<float> x(*gpu, 1 << 20);
  std::vector<float> y(1 << 20);
  const auto job = Job{x.size(), "mine"}.in("x", x).out("y", y).host_kernel([](Chunk, auto...) {});
  const Plan made = plan(node_of(*gpu, find_profile("h200")), job, {.may_pin = false});
  const auto refused = std::ranges::find(made.ranking.refused, "streams", &Refused::strategy);
  ASSERT_NE(refused, made.ranking.refused.end());
  EXPECT_THAT(refused->reason, AllOf(HasSubstr("y is in pageable memory and makes all arrays"), HasSubstr("pin y"),
                                     Not(HasSubstr("x is in"))));
}

TEST(PlannedJob, keeps_arrays_pinned_until_the_last_one_that_uses_them_has_gone) {
  const auto gpu = planted_gpu();
  std::vector<float> x(1 << 16);
  const auto* data = reinterpret_cast<const std::byte*>(x.data());
  const auto lock = [&] { return gpu->pin(reinterpret_cast<std::byte*>(x.data()), Bytes{x.size() * 4}); };
  Memory first = lock();
  Memory second = lock();
  first = Memory();
  EXPECT_EQ(gpu->kind_of(data), MemoryKind::pinned);
  second = Memory();
  EXPECT_EQ(gpu->kind_of(data), MemoryKind::pageable);
}

}  // namespace
}  // namespace shiplap
