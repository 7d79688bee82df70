// Rules that change how many calls there are and what they wait for.
#include <gtest/gtest.h>

#include <string>

#include "shiplap/advise/rules.hpp"
#include "tests/advise/made_step.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using Afters = std::vector<EarlierOp>;

/// Small copies, then a kernel in another stream that waits for two of them, and a wait for one of the step before.
struct SmallCopies : MadeStep {
  explicit SmallCopies(std::size_t number, Bytes size = Bytes{1000}) {
    for (std::size_t i = 0; i < number; ++i) {
      in(size, MemoryKind::pageable, 2);
      last().call = microseconds(2);
      last().time = microseconds(3);
      last().same_content = true;
    }
    step.ops[0].host_before = microseconds(5);
    kernel(milliseconds(1), 3, {{3, 0}, {0, 0}});
    wait({{6, 1}});
  }
};

TEST(BatchCopies, makes_one_pinned_copy_of_all_bytes_that_the_host_gathers) {
  SmallCopies made(8);
  made[7].blocks = true;
  made[7].returning = microseconds(9);
  const auto change = batch_copies(made.step, planted_profile());
  ASSERT_TRUE(change);
  ASSERT_EQ(letters_of(change->step), "ikw");
  const StepOp& copy = change->step.ops[0];
  EXPECT_EQ(copy.size, Bytes{8000});
  EXPECT_EQ(copy.host_memory, MemoryKind::pinned);
  EXPECT_TRUE(copy.is_gathered);
  EXPECT_TRUE(copy.same_content);
  EXPECT_EQ(copy.time, Seconds{0});
  EXPECT_TRUE(copy.blocks);  // as the last of them
  EXPECT_MICROSECONDS(copy.returning, 9);
  EXPECT_MICROSECONDS(copy.host_before, 5 + 8000 / 10e9 * 1e6);  // one thread copies at 10 GB/s
  for (const EarlierOp& earlier : change->step.ops[1].after) EXPECT_EQ(earlier, (EarlierOp{0, 0}));
  EXPECT_EQ(change->step.ops[2].after, (Afters{{0, 1}}));
  EXPECT_MICROSECONDS(kernel_time(change->step), 1000);
}

TEST(BatchCopies, keeps_the_time_of_the_program_s_own_code_between_the_copies) {
  SmallCopies made(8);
  for (std::size_t i = 1; i < 8; ++i) made[i].host_before = microseconds(20);
  made[4].host_before = microseconds(0.2);  // the time of a loop, which ends with the calls
  made[6].allocating = microseconds(15);
  const auto change = batch_copies(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_MICROSECONDS(time_before_calls(change->step), 5 + 6 * 20 + 8000 / 10e9 * 1e6);
  EXPECT_MICROSECONDS(change->step.ops[0].allocating, 15);
}

TEST(BatchCopies, moves_bytes_that_changed_in_one_copy_as_changed_bytes) {
  SmallCopies made(8);
  made[5].same_content = false;
  EXPECT_FALSE(batch_copies(made.step, planted_profile())->step.ops[0].same_content);
}

TEST(BatchCopies, waits_for_all_that_one_of_the_copies_waited_for) {
  SmallCopies made(8);
  made[2].after = {{8, 1}};
  const auto change = batch_copies(made.step, planted_profile());
  EXPECT_EQ(change->step.ops[0].after, (Afters{{1, 1}}));
}

TEST(BatchCopies, makes_a_copy_of_each_run_and_leaves_what_stands_between_them) {
  MadeStep made;
  for (std::size_t i = 0; i < 9; ++i) made.in(Bytes{100 + i});
  made.in(1_MiB);
  for (std::size_t i = 0; i < 8; ++i) made.out(Bytes{10});
  const auto change = batch_copies(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "iio");
  EXPECT_EQ(copied_bytes(change->step, true), copied_bytes(made.step, true));
  EXPECT_EQ(copied_bytes(change->step, false), Bytes{80});
  EXPECT_EQ(change->step.ops[1].size, 1_MiB);
}

TEST(BatchCopies, gathers_copies_between_which_arrays_are_filled_and_keeps_the_fills) {
  MadeStep made;
  for (std::size_t i = 0; i < 9; ++i) {
    made.in(Bytes{1000});
    made.kernel(microseconds(2));
    made.last().work = StepOp::Work::fill;
  }
  made.kernel(microseconds(10));
  const auto change = batch_copies(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "i" + std::string(10, 'k'));
  EXPECT_EQ(copied_bytes(change->step, true), 9000_B);
  EXPECT_MICROSECONDS(kernel_time(change->step), 9 * 2 + 10);
}

TEST(BatchCopies, does_not_apply_to_seven_copies_or_large_ones) {
  EXPECT_FALSE(batch_copies(SmallCopies(7).step, planted_profile()));
  EXPECT_TRUE(batch_copies(SmallCopies(8, 256_KiB).step, planted_profile()));
  EXPECT_FALSE(batch_copies(SmallCopies(8, 256_KiB + 1_B).step, planted_profile()));
}

TEST(BatchCopies, does_not_apply_to_runs_that_another_op_stream_or_direction_interrupts) {
  MadeStep with_kernels, streams, directions, threads;
  for (std::uint32_t i = 0; i < 20; ++i) {
    with_kernels.in(Bytes{1000});
    if (i % 5 == 4) with_kernels.kernel(microseconds(10));
    streams.in(Bytes{1000}, MemoryKind::pinned, i % 2);
    i % 2 == 0 ? directions.in(Bytes{1000}) : directions.out(Bytes{1000});
    threads.in(Bytes{1000});
    threads.last().thread = i % 2;
  }
  EXPECT_FALSE(batch_copies(with_kernels.step, planted_profile()));
  EXPECT_FALSE(batch_copies(streams.step, planted_profile()));
  EXPECT_FALSE(batch_copies(directions.step, planted_profile()));
  EXPECT_FALSE(batch_copies(threads.step, planted_profile()));
}

/// A copy to the GPU that blocks, a wait for it, a kernel and a copy to the host that blocks.
struct BlockingCopies : MadeStep {
  BlockingCopies() {
    in(4_MiB);
    wait({{0, 0}});
    last().host_before = microseconds(11);
    kernel(milliseconds(1));
    last().host_before = microseconds(5);
    out(2_MiB);
    for (const std::size_t i : {0, 3}) {
      step.ops[i].blocks = true;
      step.ops[i].returning = microseconds(7);
    }
  }
};

TEST(CopyAsynchronously, lets_copies_to_the_gpu_return_at_once_and_those_to_the_host_wait_as_before) {
  const BlockingCopies made;
  const auto change = copy_asynchronously(made.step, planted_profile());
  ASSERT_TRUE(change);
  ASSERT_EQ(letters_of(change->step), "iko");
  EXPECT_FALSE(change->step.ops[0].blocks);
  EXPECT_EQ(change->step.ops[0].returning, Seconds{0});
  EXPECT_EQ(change->step.ops[0].size, 4_MiB);
  EXPECT_TRUE(change->step.ops[2].blocks);
  EXPECT_MICROSECONDS(change->step.ops[2].returning, 7);
  EXPECT_MICROSECONDS(change->step.ops[1].host_before, 5 + 11);  // the host's own code stays
}

TEST(CopyAsynchronously, leaves_pageable_copies_and_waits_for_them_or_for_anything_else) {
  BlockingCopies pageable;
  pageable[0].host_memory = MemoryKind::pageable;
  EXPECT_FALSE(copy_asynchronously(pageable.step, planted_profile()));

  MadeStep others;
  others.in(4_MiB);
  others.kernel(milliseconds(1));
  others.wait({{0, 0}, {1, 0}});
  others.wait({{0, 1}});  // of the step before: the program may be about to write the array
  others.wait({});
  EXPECT_FALSE(copy_asynchronously(others.step, planted_profile()));
}

/// Waits before, between and after copies to the host.
struct Waits : MadeStep {
  Waits() {
    in(1_MiB);
    wait({{0, 0}});
    last().host_before = microseconds(1);
    kernel(milliseconds(1));
    wait({{2, 0}});
    last().host_before = microseconds(2);
    out(1_MiB);
    wait({{4, 0}});
    last().host_before = microseconds(4);
    kernel(milliseconds(1));
    wait({{6, 0}});
    last().host_before = microseconds(8);
  }
};

TEST(DropWaits, keeps_the_wait_after_a_copy_to_the_host_and_drops_all_others) {
  const Waits made;
  const auto change = drop_waits(made.step, planted_profile());
  ASSERT_TRUE(change);
  ASSERT_EQ(letters_of(change->step), "ikowk");
  EXPECT_EQ(change->step.ops[3].after, (Afters{{2, 0}}));
  EXPECT_NE(change->what.find('3'), std::string::npos) << change->what;
  // The host's own code stays: before the next op, and after the last one before the first op of the next step.
  const double expected[] = {8, 1, 2, 4, 0};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_MICROSECONDS(change->step.ops[i].host_before, expected[i]) << i;
}

// A program that runs once would end before its GPU does.
TEST(DropWaits, keeps_the_last_wait_of_a_program_that_runs_once) {
  MadeStep made;
  made.step.once = true;
  made.kernel(milliseconds(1));
  made.wait({{0, 0}});
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
  made.kernel(milliseconds(1));
  made.wait({{2, 0}});
  const auto change = drop_waits(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "kkw");
}

TEST(DropWaits, does_not_apply_where_managed_memory_moves) {
  Waits made;
  made.step.migrations.to_host = 4_KiB;
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
  made.step.migrations = {};
  made.step.migrations.to_device = 4_KiB;
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
}

TEST(DropWaits, leaves_waits_for_results_and_for_the_step_before) {
  MadeStep made;
  made.wait({{1, 1}});
  made.kernel(milliseconds(1));
  made.out(1_MiB);
  made.kernel(milliseconds(1));
  made.wait({{3, 0}});  // the results may have come before it
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
}

TEST(DropWaits, keeps_the_wait_for_results_after_a_wait_for_another_stream) {
  MadeStep made;
  made.kernel(milliseconds(1), 1);
  made.kernel(milliseconds(1), 2);
  made.out(1_MiB, MemoryKind::pinned, 1);
  made.wait({{1, 0}});
  made.wait({{2, 0}});
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
}

// The event is recorded behind the copy in: who has waited for it may refill the input, and has no result.
TEST(DropWaits, keeps_the_wait_for_results_after_a_wait_for_an_earlier_op_of_their_stream) {
  MadeStep made;
  made.in(1_MiB);
  made.kernel(milliseconds(1));
  made.out(1_MiB);
  made.wait({{0, 0}});
  made.wait({{2, 0}});
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
}

TEST(DropWaits, keeps_the_wait_for_results_of_the_step_before) {
  MadeStep made;
  made.in(1_MiB);
  made.wait({{0, 0}});  // also for the results in the same stream
  made.kernel(milliseconds(1));
  made.out(1_MiB);
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
  EXPECT_FALSE(copy_asynchronously(made.step, planted_profile()));
}

TEST(DropWaits, drops_a_wait_where_the_step_before_has_waited_for_its_results) {
  MadeStep made;
  made.kernel(milliseconds(1));
  made.wait({{0, 0}});
  made.out(1_MiB);
  made.wait({{2, 0}});
  const auto changed = drop_waits(made.step, planted_profile());
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->step.ops.size(), 3u);
}

// A copy in of stream 2 begins after the results of stream 1, so a wait for it is a wait for these.
TEST(DropWaits, keeps_the_wait_of_each_thread_for_results_that_it_reads) {
  MadeStep made;
  made.out(1_MiB);
  made.wait({{0, 0}});
  made.wait({{0, 0}});
  made.last().thread = 1;
  made.wait({{0, 0}});
  made.last().thread = 1;
  const auto change = drop_waits(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "oww");
}

TEST(CopyAsynchronously, keeps_a_wait_through_which_results_of_another_stream_are_waited_for) {
  MadeStep made;
  made.kernel(milliseconds(1), 1);
  made.out(1_MiB, MemoryKind::pinned, 1);
  made.in(1_MiB, MemoryKind::pinned, 2);
  made.last().after = {{1, 0}};
  made.wait({{2, 0}});
  EXPECT_FALSE(copy_asynchronously(made.step, planted_profile()));
  made.step.ops[2].after.clear();
  made.wait({{1, 0}});
  EXPECT_TRUE(copy_asynchronously(made.step, planted_profile()));
}

TEST(DropWaits, leaves_waits_for_something_unknown) {
  MadeStep made;
  made.kernel(milliseconds(1));
  made.wait({});
  EXPECT_FALSE(drop_waits(made.step, planted_profile()));
}

}  // namespace
}  // namespace shiplap
