// Rules that change where data are. The profile is planted: one thread copies at 10 GB/s, device memory gives 4300
// GB/s.
#include "shiplap/advise/rules.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/advise/made_step.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using Afters = std::vector<EarlierOp>;

TEST(Rules, have_different_names_and_say_how_they_are_followed) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    ASSERT_FALSE(rule.how.empty()) << rule.name;
    EXPECT_EQ(rule.how.front().language, "CUDA C++") << rule.name;
    for (const HowTo& how : rule.how) EXPECT_FALSE(how.text.empty()) << rule.name;
  }
  EXPECT_EQ(names.size(), 13u);
}

TEST(Rules, leave_a_step_alone_that_only_computes) {
  MadeStep made;
  made.kernel(milliseconds(1));
  made.kernel(milliseconds(2), 2, {{0, 0}});
  for (const Rule& rule : rules()) EXPECT_FALSE(rule.change(made.step, planted_profile())) << rule.name;
}

/// Two arrays are sent, of which the first does not change.
struct OneConstantArray : MadeStep {
  OneConstantArray() {
    in(8_MiB, MemoryKind::pageable);
    last().host_before = microseconds(30);
    wait({{0, 0}});
    last().host_before = microseconds(4);
    in(1_MiB);
    last().host_before = microseconds(7);
    kernel(milliseconds(1), 2, {{0, 0}, {2, 0}, {5, 1}});
    out(2_MiB);
    wait({{0, 0}, {4, 0}});
    last().host_before = microseconds(5);
    step.ops[0].same_content = true;
    step.ops[4].same_content = true;  // of results it says nothing
  }
};

TEST(KeepOnGpu, leaves_out_the_copy_that_brings_the_same_bytes_with_what_waits_for_it_alone) {
  const OneConstantArray made;
  const auto change = keep_on_gpu(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "ikow");
  EXPECT_EQ(copied_bytes(change->step, true), 1_MiB);
  EXPECT_EQ(copied_bytes(change->step, false), 2_MiB);
  EXPECT_EQ(change->step.ops[1].after, (Afters{{0, 0}, {3, 1}}));
  EXPECT_EQ(change->step.ops[3].after, (Afters{{2, 0}}));
  EXPECT_MICROSECONDS(kernel_time(change->step), 1000);
  EXPECT_MICROSECONDS(time_before_calls(change->step), 7 + 5);  // what came before the copy was spent for it
  EXPECT_NE(change->what.find("8 MiB"), std::string::npos) << change->what;
  EXPECT_FALSE(change->bound);
}

TEST(KeepOnGpu, does_not_apply_where_bytes_changed_or_are_unknown) {
  OneConstantArray made;
  made[0].same_content = false;
  EXPECT_FALSE(keep_on_gpu(made.step, planted_profile()));
}

TEST(KeepOnGpu, leaves_copies_to_a_place_that_another_copy_writes_to) {
  OneConstantArray made;
  made[0].device_address = made[2].device_address = 0x1000;
  EXPECT_FALSE(keep_on_gpu(made.step, planted_profile()));
  made[2].device_address = 0x2000;
  EXPECT_TRUE(keep_on_gpu(made.step, planted_profile()));
}

TEST(KeepOnGpu, leaves_arrays_that_the_gpu_has_no_memory_for) {
  OneConstantArray made;
  made[0].size = planted_profile().gpus.front().memory;
  EXPECT_FALSE(keep_on_gpu(made.step, planted_profile()));
}

TEST(KeepOnGpu, leaves_the_host_time_that_is_too_long_for_preparing_the_copy) {
  OneConstantArray made;
  made[0].host_before = milliseconds(10);  // 8 MiB are copied in 0.8 ms, or in 1.7 ms at half of the rate
  const auto change = keep_on_gpu(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_MICROSECONDS(time_before_calls(change->step), 10'000 + 7 + 5);
}

TEST(KeepResultsOnGpu, leaves_out_both_copies_of_an_array_that_comes_back_as_a_bound) {
  for (const std::uint64_t address : {0u, 4096u}) {
    MadeStep made;
    made[made.in(64_MiB)].host_address = address;
    made.kernel(milliseconds(1));
    made[made.out(64_MiB)].host_address = address;
    const auto change = keep_results_on_gpu(made.step, planted_profile());
    ASSERT_TRUE(change) << address;
    EXPECT_EQ(letters_of(change->step), "k") << address;
    EXPECT_TRUE(change->bound) << address;
  }
}

TEST(KeepResultsOnGpu, does_not_apply_to_other_sizes_or_addresses_or_to_bytes_that_never_changed) {
  const auto applies = [](Bytes out_size, std::uint64_t out_address, bool same_content, bool once) {
    MadeStep made;
    const std::size_t in = made.in(64_MiB);
    made[in].host_address = 4096;
    made[in].same_content = same_content;
    made.kernel(milliseconds(1));
    made[made.out(out_size)].host_address = out_address;
    made.step.once = once;
    return keep_results_on_gpu(made.step, planted_profile()).has_value();
  };
  EXPECT_TRUE(applies(64_MiB, 4096, false, false));
  EXPECT_FALSE(applies(32_MiB, 4096, false, false));
  EXPECT_FALSE(applies(64_MiB, 8192, false, false));
  EXPECT_FALSE(applies(64_MiB, 4096, true, false));
  EXPECT_FALSE(applies(64_MiB, 4096, false, true)) << "nothing is sent after it came back";
}

TEST(AllocateOnce, takes_the_time_of_allocating_off_the_host_and_nothing_else) {
  MadeStep made;
  made.in(1_MiB);
  made.last().host_before = microseconds(100);
  made.last().allocating = microseconds(60);
  made.kernel(milliseconds(1));
  made.last().host_before = microseconds(20);
  const auto change = allocate_once(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "ik");
  EXPECT_MICROSECONDS(change->step.ops[0].host_before, 40);
  EXPECT_MICROSECONDS(change->step.ops[1].host_before, 20);
  EXPECT_FALSE(allocate_once(change->step, planted_profile()));  // nothing is left
}

TEST(AllocateOnce, leaves_out_the_waits_of_calls_that_free_memory_unless_they_wait_for_results) {
  for (const bool brings_results : {false, true}) {
    MadeStep made;
    made.in(1_MiB);
    const std::size_t last = brings_results ? made.out(1_MiB) : made.kernel(milliseconds(1));
    made[made.wait({{last, 0}})].name = "cudaFree";
    made.kernel(milliseconds(1));
    const auto change = allocate_once(made.step, planted_profile());
    EXPECT_EQ(change.has_value(), !brings_results);
    EXPECT_EQ(change ? letters_of(change->step) : "", brings_results ? "" : "ikk");
    EXPECT_FALSE(drop_waits(made.step, planted_profile())) << "the call stays, and so does its wait";
  }
}

TEST(AllocateOnce, is_in_one_piece_where_nothing_is_freed) {
  for (const std::uint32_t frees : {0u, 1u}) {
    MadeStep made;
    made.in(1_MiB);
    made.last().host_before = made.last().allocating = microseconds(100);
    made.last().allocations = 1;
    made.last().frees = frees;
    const std::string what = allocate_once(made.step, planted_profile()).value().what;
    EXPECT_EQ(what.find("in one piece") != std::string::npos, frees == 0) << what;
  }
}

TEST(AllocateOnce, does_not_apply_below_half_a_percent_of_the_step) {
  MadeStep made;  // takes 10 ms
  made.kernel(milliseconds(1));
  made.last().host_before = microseconds(100);
  made.last().allocating = microseconds(49);
  EXPECT_FALSE(allocate_once(made.step, planted_profile()));
  made.last().allocating = microseconds(51);
  EXPECT_TRUE(allocate_once(made.step, planted_profile()));
}

/// Three copies: one to the GPU and one to the host that are pageable, and a pinned one.
struct PageableArrays : MadeStep {
  PageableArrays() {
    in(64_MiB, MemoryKind::pageable);
    in(2_MiB);
    kernel(milliseconds(1));
    out(64_KiB, MemoryKind::pageable);
    wait({{3, 0}});
    for (const std::size_t i : {0, 3}) {
      step.ops[i].time = milliseconds(5);
      step.ops[i].call = milliseconds(6);
      step.ops[i].same_address = true;
    }
  }
};

TEST(Pin, makes_pageable_copies_pinned_ones_that_take_the_time_of_the_profile) {
  const PageableArrays made;
  const auto change = pin(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "iikow");
  for (const std::size_t i : {0, 1, 3}) {
    EXPECT_EQ(change->step.ops[i].host_memory, MemoryKind::pinned) << i;
    EXPECT_EQ(change->step.ops[i].time, Seconds{0}) << i;
    EXPECT_EQ(change->step.ops[i].call, Seconds{0}) << i;
    EXPECT_EQ(change->step.ops[i].size, made.step.ops[i].size) << i;
  }
  EXPECT_MICROSECONDS(change->once, 2000 + 50);  // the two rows of the planted table
  EXPECT_NE(change->what.find(to_string(64_MiB + 64_KiB)), std::string::npos) << change->what;
  EXPECT_FALSE(change->bound);
}

TEST(Pin, keeps_the_host_waiting_for_a_copy_unless_the_program_waits_for_it_next) {
  PageableArrays made;
  auto change = pin(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->step.ops[0].blocks);
  EXPECT_FALSE(change->step.ops[1].blocks);  // was pinned before
  EXPECT_FALSE(change->step.ops[3].blocks);  // a wait for it follows
  made[4].after = {{3, 1}};                  // the wait is for the copy of the step before
  change = pin(made.step, planted_profile());
  EXPECT_TRUE(change->step.ops[3].blocks);
}

TEST(Pin, asks_for_arrays_that_are_used_in_turn_when_one_address_is_not_the_same_in_every_step) {
  PageableArrays made;
  const std::string same = pin(made.step, planted_profile())->allowed_if;
  made[3].same_address = false;
  const std::string other = pin(made.step, planted_profile())->allowed_if;
  EXPECT_NE(same.find("paid once"), std::string::npos) << same;
  EXPECT_EQ(other.find("paid once"), std::string::npos) << other;
  EXPECT_NE(other.find("in turn"), std::string::npos) << other;
}

TEST(Pin, does_not_apply_where_less_than_64_KiB_are_pageable) {
  MadeStep made;
  made.in(64_MiB);
  made.in(Bytes{65535}, MemoryKind::pageable);
  EXPECT_FALSE(pin(made.step, planted_profile()));
  made.out(1_B, MemoryKind::pageable);
  EXPECT_TRUE(pin(made.step, planted_profile()));
}

/// A pinned copy of 10 MB, before which the host spends 0.6 ms. One thread needs 1 ms to copy 10 MB.
struct StagedCopy : MadeStep {
  StagedCopy() {
    in(Bytes{10'000'000});
    last().host_before = microseconds(600);
    kernel(milliseconds(1));
    last().host_before = microseconds(3);
  }
};

TEST(WriteIntoPinnedMemory, takes_the_time_before_a_pinned_copy_away_as_a_bound) {
  const StagedCopy made;
  const auto change = write_into_pinned_memory(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "ik");
  EXPECT_EQ(copied_bytes(change->step, true), Bytes{10'000'000});
  EXPECT_MICROSECONDS(time_before_calls(change->step), 3);
  EXPECT_TRUE(change->bound);
}

TEST(WriteIntoPinnedMemory, does_not_apply_to_copies_for_which_the_host_had_no_time_or_did_something_else) {
  const auto applies = [](auto alter) {
    StagedCopy made;
    alter(made[0]);
    return write_into_pinned_memory(made.step, planted_profile()).has_value();
  };
  EXPECT_TRUE(applies([](StepOp& op) { op.host_before = microseconds(501); }));
  EXPECT_FALSE(applies([](StepOp& op) { op.host_before = microseconds(499); }));
  EXPECT_FALSE(applies([](StepOp& op) { op.is_gathered = true; }));
  EXPECT_FALSE(applies([](StepOp& op) { op.host_memory = MemoryKind::pageable; }));
  EXPECT_FALSE(applies([](StepOp& op) { op.to_device = false; }));
  EXPECT_FALSE(applies([](StepOp& op) { op.size = Bytes{65535}; }));
  Profile without_host = planted_profile();
  without_host.host.reset();
  EXPECT_FALSE(write_into_pinned_memory(StagedCopy().step, without_host));
}

/// Pages of 32 MiB move to the GPU and 64 KiB back while kernels and the host touch them.
struct ManagedStep : MadeStep {
  ManagedStep() {
    kernel(milliseconds(2), 3);
    last().host_before = microseconds(10);
    kernel(milliseconds(1), 3);
    wait({{1, 0}, {0, 1}});
    last().host_before = microseconds(500);
    for (StepOp& op : step.ops) op.grid = 1000;
    step.migrations = {1000, 32_MiB, 64_KiB, microseconds(2000), microseconds(300)};
  }
};

TEST(PrefetchManaged, moves_the_pages_before_the_first_kernel_and_after_the_last_one) {
  const ManagedStep made;
  const auto change = prefetch_managed(made.step, planted_profile());
  ASSERT_TRUE(change);
  const ProgramStep& step = change->step;
  ASSERT_EQ(letters_of(step), "ikkow");
  EXPECT_EQ(copied_bytes(step, true), 32_MiB);
  EXPECT_EQ(copied_bytes(step, false), 64_KiB);
  EXPECT_MICROSECONDS(step.ops[0].time, 760);  // the rows of the planted tables
  EXPECT_MICROSECONDS(step.ops[3].time, 82);
  EXPECT_FALSE(step.ops[0].blocks);
  EXPECT_TRUE(step.ops[3].blocks);
  for (const std::size_t i : {0, 1, 2, 3}) EXPECT_EQ(step.ops[i].stream, 3u) << i;
  EXPECT_EQ(step.ops[4].after, (Afters{{2, 0}, {1, 1}}));
  // Kernels take the time of 32 MiB in device memory, and the host no longer waits for pages in its longest pause.
  EXPECT_MICROSECONDS(kernel_time(step), 33554432 / 4300e9 * 1e6);  // their grid fills the GPU
  EXPECT_NEAR(step.ops[1].time / step.ops[2].time, 2, 1e-9);
  EXPECT_MICROSECONDS(step.ops[4].host_before, 200);
  EXPECT_MICROSECONDS(step.ops[1].host_before, 10);
  EXPECT_EQ((step.migrations.to_device + step.migrations.to_host).count, 0u);
  EXPECT_TRUE(change->bound);
}

TEST(PrefetchManaged, leaves_kernels_the_part_of_the_bandwidth_that_their_blocks_can_use) {
  ManagedStep made;
  const Profile profile = planted_profile();
  for (StepOp& op : made.step.ops) op.grid = profile.gpus[0].sm_count / 4;
  const auto change = prefetch_managed(made.step, profile);
  ASSERT_TRUE(change);
  EXPECT_MICROSECONDS(kernel_time(change->step), 4 * 33554432 / 4300e9 * 1e6);
}

TEST(PrefetchManaged, shortens_kernels_by_no_more_than_all_faults_one_after_the_other_take) {
  ManagedStep made;
  made.step.migrations.moves_to_device = 2;
  made.step.migrations.to_device = 2_MiB;
  const Profile profile = planted_profile();
  const Seconds of_both = 2.0 * time_at(profile.links[0].managed->demand_h2d, 1_MiB);
  ASSERT_LT(of_both, milliseconds(2.9));
  const auto change = prefetch_managed(made.step, profile);
  ASSERT_TRUE(change);
  EXPECT_MICROSECONDS(kernel_time(change->step), 3000 - in_microseconds(of_both));
}

TEST(PrefetchManaged, leaves_kernels_as_they_are_where_pages_only_move_to_the_host) {
  ManagedStep made;
  made.step.migrations.to_device = 0_B;
  const auto change = prefetch_managed(made.step, planted_profile());
  ASSERT_TRUE(change);
  EXPECT_EQ(letters_of(change->step), "kkow");
  EXPECT_MICROSECONDS(kernel_time(change->step), 3000);
}

TEST(PrefetchManaged, does_not_apply_without_migrations_kernels_or_figures) {
  ManagedStep none;
  none.step.migrations = {};
  EXPECT_FALSE(prefetch_managed(none.step, planted_profile()));
  MadeStep no_kernels;
  no_kernels.in(1_MiB);
  no_kernels.step.migrations = ManagedStep().step.migrations;
  EXPECT_FALSE(prefetch_managed(no_kernels.step, planted_profile()));
  Profile no_figures = planted_profile();
  no_figures.links[0].managed.reset();
  EXPECT_FALSE(prefetch_managed(ManagedStep().step, no_figures));
}

}  // namespace
}  // namespace shiplap
