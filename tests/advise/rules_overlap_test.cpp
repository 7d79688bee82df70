// Rules that let copies and kernels run at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_schedule.hpp"
#include "tests/advise/made_step.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using Afters = std::vector<EarlierOp>;

/// Copies in, computes, copies out and waits, all in stream 1. The copies block.
struct SerialStep : MadeStep {
  explicit SerialStep(Bytes size = 16_MiB + 3_B) {
    in(size);
    last().host_before = microseconds(10);
    in(1_MiB);
    kernel(milliseconds(1));
    last().grid = 1000;
    kernel(microseconds(300));
    last().host_before = microseconds(5);
    out(size / 2);
    wait({{4, 0}});
    last().host_before = microseconds(40);
    for (StepOp& op : step.ops)
      if (op.kind == StepOp::Kind::copy) {
        op.blocks = true;
        op.returning = microseconds(6);
      }
  }
};

void expect_same_work(const ProgramStep& changed, const ProgramStep& step) {
  EXPECT_EQ(copied_bytes(changed, true), copied_bytes(step, true));
  EXPECT_EQ(copied_bytes(changed, false), copied_bytes(step, false));
  EXPECT_MICROSECONDS(kernel_time(changed), in_microseconds(kernel_time(step)));
  EXPECT_MICROSECONDS(time_before_calls(changed), in_microseconds(time_before_calls(step)));
}

void expect_copies_do_not_hold_the_host(const ProgramStep& step) {
  for (const StepOp& op : step.ops)
    if (op.kind == StepOp::Kind::copy) {
      EXPECT_FALSE(op.blocks);
      EXPECT_EQ(op.returning, Seconds{0});  // nobody returns from waiting for it
    }
}

TEST(OverlapSteps, computes_on_what_the_step_before_has_copied_and_awaits_its_results) {
  const SerialStep made;
  const auto change = overlap_steps(made.step, planted_profile());
  ASSERT_TRUE(change);
  const ProgramStep& step = change->step;
  ASSERT_EQ(letters_of(step), "kkiiow");
  for (const std::size_t kernel : {0, 1}) EXPECT_EQ(step.ops[kernel].after, (Afters{{2, 1}, {3, 1}}));
  for (const std::size_t copy : {2, 3}) EXPECT_EQ(step.ops[copy].after, (Afters{{1, 1}}));
  EXPECT_EQ(step.ops[4].after, (Afters{{1, 0}}));
  EXPECT_EQ(step.ops[5].after, (Afters{{4, 1}}));
  EXPECT_EQ(step.ops[2].stream, step.ops[3].stream);
  EXPECT_NE(step.ops[2].stream, step.ops[0].stream);
  EXPECT_NE(step.ops[4].stream, step.ops[0].stream);
  EXPECT_NE(step.ops[4].stream, step.ops[2].stream);
  expect_copies_do_not_hold_the_host(step);
  expect_same_work(step, made.step);
  EXPECT_FALSE(change->bound);
}

TEST(OverlapSteps, takes_as_long_as_the_longest_of_copies_and_kernels) {
  // 55 GB/s to the GPU: 64 MiB take 1.22 ms. The kernel takes 1.2 ms as well.
  MadeStep made;
  made.in(64_MiB);
  made.kernel(milliseconds(1.2));
  made.wait({{1, 0}});
  const auto change = overlap_steps(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_NEAR(in_milliseconds(simulated_step(made.step, planted_profile()).time), 2.42, 0.03);
  EXPECT_NEAR(in_milliseconds(simulated_step(change->step, planted_profile()).time), 1.23, 0.02);
}

using Alteration = std::function<void(MadeStep&)>;
const Alteration alterations[] = {
    [](MadeStep& made) { std::swap(made[0], made[2]); },                 // computes, then copies
    [](MadeStep& made) { std::swap(made[0], made[4]); },                 // copies out first
    [](MadeStep& made) { std::swap(made[3], made[4]); },                 // computes after it has copied out
    [](MadeStep& made) { made[0].host_memory = MemoryKind::pageable; },  // the host copies itself
    [](MadeStep& made) { made[4].host_memory = MemoryKind::pageable; },  //
    [](MadeStep& made) { made[1].thread = 1; },                          // two threads
    [](MadeStep& made) { made[2].gpu = 1; },                             // two GPUs
    [](MadeStep& made) { made.step.ops.erase(made.step.ops.begin() + 2, made.step.ops.begin() + 4); },  // no kernel
};

TEST(OverlapSteps, leaves_steps_in_another_order_of_several_threads_or_with_pageable_copies) {
  for (std::size_t i = 0; i < std::size(alterations); ++i) {
    SerialStep made;
    alterations[i](made);
    EXPECT_FALSE(overlap_steps(made.step, planted_profile())) << i;
  }
}

TEST(OverlapSteps, leaves_steps_that_overlap_already_and_those_without_input) {
  SerialStep overlapping;
  overlapping[0].after = {{2, 1}};
  EXPECT_FALSE(overlap_steps(overlapping.step, planted_profile()));
  MadeStep no_input;
  no_input.kernel(milliseconds(1));
  no_input.out(1_MiB);
  EXPECT_FALSE(overlap_steps(no_input.step, planted_profile()));
}

TEST(Chunks, divide_copies_and_kernels_and_let_each_wait_for_its_own_chunk) {
  const SerialStep made;
  const auto change = cut_into_chunks_on_streams(made.step, planted_profile());
  ASSERT_TRUE(change);
  const ProgramStep& step = change->step;
  expect_same_work(step, made.step);
  expect_copies_do_not_hold_the_host(step);
  ASSERT_EQ(step.ops.size() % 5, 1u);  // two copies in, two kernels and a copy out for each chunk, and a wait
  const std::size_t chunks = step.ops.size() / 5;
  EXPECT_GE(chunks, 2u);
  EXPECT_NE(change->what.find(" " + std::to_string(chunks) + " chunks"), std::string::npos) << change->what;
  for (std::size_t k = 0; k < chunks; ++k) {
    const std::size_t first = 5 * k;
    ASSERT_EQ(letters_of(step).substr(first, 5), "iikko");
    for (const std::size_t i : {0, 1}) EXPECT_TRUE(step.ops[first + i].after.empty());
    for (const std::size_t i : {2, 3}) EXPECT_EQ(step.ops[first + i].after, (Afters{{first, 0}, {first + 1, 0}}));
    EXPECT_EQ(step.ops[first + 4].after, (Afters{{first + 3, 0}}));
    EXPECT_NEAR(in_bytes(step.ops[first].size), in_bytes(made.step.ops[0].size) / static_cast<double>(chunks), 1);
    EXPECT_EQ(step.ops[first + 2].grid, 1000 / chunks);
    EXPECT_MICROSECONDS(step.ops[first + 2].time, 1000 / static_cast<double>(chunks));
  }
  EXPECT_EQ(step.ops.back().kind, StepOp::Kind::wait);
  EXPECT_EQ(step.ops.back().after, (Afters{{step.ops.size() - 2, 0}}));
}

TEST(Chunks, are_not_made_of_an_iteration) {
  SerialStep made;
  ASSERT_TRUE(cut_into_chunks_on_streams(made.step, planted_profile()));
  made.step.is_iteration = true;
  EXPECT_FALSE(cut_into_chunks_on_streams(made.step, planted_profile()));
}

TEST(Chunks, are_as_many_as_make_the_step_fastest) {
  // The copies take 1.2 ms each and the kernel 1.2 ms: n chunks take about (n + 2) / n of that, so more are better,
  // until the overhead of each copy and launch, about 5 µs, outweighs what they save: 2.4 ms / n.
  MadeStep made;
  made.in(64_MiB);
  made.kernel(milliseconds(1.2));
  made.out(64_MiB);
  made.wait({{2, 0}});
  const auto change = cut_into_chunks_on_streams(made.step, planted_profile());
  ASSERT_TRUE(change);
  const std::size_t chunks = change->step.ops.size() / 3;
  EXPECT_GE(chunks, 8u);
  EXPECT_LE(chunks, 64u);
  const double least = 1.22 * static_cast<double>(chunks + 2) / static_cast<double>(chunks);
  const double time = in_milliseconds(simulated_step(change->step, planted_profile()).time);
  EXPECT_GE(time, least * 0.99);
  EXPECT_LE(time, least * 1.2);
}

TEST(Chunks, are_not_smaller_than_256_KiB_of_copies) {
  EXPECT_FALSE(cut_into_chunks_on_streams(
      [] {
        MadeStep made;
        made.in(512_KiB - 1_B);
        made.kernel(milliseconds(1));
        return made.step;
      }(),
      planted_profile()));
  MadeStep made;
  made.in(512_KiB);
  made.kernel(milliseconds(1));
  const auto change = cut_into_chunks_on_streams(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "ikikw");
  EXPECT_EQ(change->step.ops.back().after, (Afters{{3, 0}}));  // without results the last kernel is awaited
}

TEST(Chunks, are_not_made_of_steps_in_another_order_of_several_threads_or_with_pageable_copies) {
  for (std::size_t i = 0; i < std::size(alterations); ++i) {
    SerialStep made;
    alterations[i](made);
    EXPECT_FALSE(cut_into_chunks_on_streams(made.step, planted_profile())) << i;
  }
}

TEST(ZeroCopy, moves_the_bytes_of_the_copies_in_the_kernels_and_waits_for_the_last_one) {
  const SerialStep made;
  const auto change = access_host_memory(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->bound);
  EXPECT_EQ(letters_of(change->step), "kkw");
  const auto& ops = change->step.ops;
  EXPECT_EQ(ops[0].reads_host, copied_bytes(made.step, true));
  EXPECT_EQ(ops[1].writes_host, copied_bytes(made.step, false));
  EXPECT_EQ(ops[0].writes_host + ops[1].reads_host, Bytes{});
  EXPECT_EQ(ops[2].after, (Afters{{1, 0}}));
}

// A flag of 4 bytes takes its calls, and no link.
TEST(ZeroCopy, is_no_advice_for_next_to_no_bytes) {
  MadeStep made;
  made.in(4_B);
  made.kernel(microseconds(100));
  made.out(4_B);
  made.wait({{2, 0}});
  EXPECT_FALSE(access_host_memory(made.step, planted_profile()));
}

TEST(ZeroCopy, takes_the_time_of_the_bytes_on_the_link_where_the_kernel_is_shorter) {
  MadeStep made;
  made.in(64_MiB);
  made.kernel(microseconds(10));
  made.last().grid = 100'000;  // fills the GPU
  made.wait({{1, 0}});
  const Profile profile = planted_profile();
  const auto change = access_host_memory(made.step, profile);
  ASSERT_TRUE(change);
  const double fastest = profile.links.front().zero_copy->read.back().rate.value.bytes_per_second;
  const double seconds = in_bytes(64_MiB) / fastest;
  EXPECT_NEAR(simulated_step(change->step, profile).time.count(), seconds, 0.05 * seconds);
  Profile without = profile;
  without.links.front().zero_copy.reset();
  EXPECT_FALSE(access_host_memory(made.step, without));
}

}  // namespace
}  // namespace shiplap
