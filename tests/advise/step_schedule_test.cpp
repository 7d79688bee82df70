// Simulated times of steps that are made by hand. The profile has round figures: 1 MB takes 1 ms in each direction,
// also beside the opposite one, and a call or launch takes no time unless a test says so.
#include "shiplap/advise/step_schedule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shiplap/schedule/validate.hpp"
#include "tests/advise/made_step.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

constexpr Bytes megabyte{1'000'000};

Profile round_profile() {
  const PaperDirection direction{Seconds{0}, PerByte{1e-9}, Seconds{0}};
  Profile profile = paper_profile({.h2d = direction, .d2h = direction});
  profile.gpus[0].concurrent_kernels = true;
  profile.links[0].pageable =
      PageableModel{.h2d = {{megabyte, us(500)}}, .d2h = {{megabyte, us(600)}}, .both = {{megabyte, us(900)}}};
  return profile;
}
double step_us(const ProgramStep& step, const Profile& profile = round_profile()) {
  return in_microseconds(simulated_step(step, profile).time);
}

TEST(SimulatedStep, takes_the_time_of_the_host_where_this_is_longest) {
  MadeStep made;
  made.kernel(microseconds(100));
  made.last().host_before = microseconds(300);
  made.kernel(microseconds(50));
  made.last().host_before = microseconds(20);
  made.last().call = microseconds(7);
  EXPECT_NEAR(step_us(made.step), 300 + 20 + 7, 1e-6);
}

TEST(SimulatedStep, takes_the_time_of_the_kernels_where_this_is_longest) {
  MadeStep made;
  made.kernel(microseconds(400));
  made.last().host_before = microseconds(30);
  made.kernel(microseconds(50));
  EXPECT_NEAR(step_us(made.step), 450, 1e-6);
}

TEST(SimulatedStep, lets_host_and_gpu_take_turns_where_the_host_waits) {
  MadeStep made;
  made.kernel(microseconds(400));
  made.last().host_before = microseconds(300);
  made.wait({{0, 0}});
  made.last().host_before = microseconds(10);  // passes while the kernel runs
  made.last().returning = microseconds(25);
  EXPECT_NEAR(step_us(made.step), 300 + 400 + 25, 1e-6);
}

TEST(SimulatedStep, lets_the_host_run_a_step_ahead_where_it_waits_for_the_step_before) {
  MadeStep made;
  made.kernel(microseconds(400));
  made.last().host_before = microseconds(300);
  made.wait({{0, 1}});
  EXPECT_NEAR(step_us(made.step), 400, 1e-6);
}

TEST(SimulatedStep, runs_two_streams_at_the_same_time_unless_one_waits_for_the_other) {
  MadeStep made;
  made.in(megabyte, MemoryKind::pinned, 1);
  made.kernel(microseconds(700), 2);
  EXPECT_NEAR(step_us(made.step), 1000, 1e-6);
  made[1].after = {{0, 0}};  // the next copy runs concurrently with the kernel
  EXPECT_NEAR(step_us(made.step), 1000, 1e-6);
  made[0].after = {{1, 1}};  // and now it waits for the kernel of the step before
  EXPECT_NEAR(step_us(made.step), 1700, 1e-6);
  MadeStep one_stream;
  one_stream.in(megabyte, MemoryKind::pinned, 1);
  one_stream.kernel(microseconds(700), 1);
  EXPECT_NEAR(step_us(one_stream.step), 1700, 1e-6);
}

TEST(SimulatedStep, takes_the_recorded_time_of_a_copy_and_else_that_of_the_profile) {
  for (const MemoryKind memory : {MemoryKind::pinned, MemoryKind::pageable}) {
    MadeStep made;
    made.in(megabyte, memory);
    EXPECT_NEAR(step_us(made.step), memory == MemoryKind::pinned ? 1000 : 500, 1e-6);
    made.last().time = microseconds(1234);
    EXPECT_NEAR(step_us(made.step), 1234, 1e-6);
  }
  MadeStep back;
  back.out(megabyte, MemoryKind::pageable);
  EXPECT_NEAR(step_us(back.step), 600, 1e-6);
}

TEST(SimulatedStep, holds_the_host_in_copies_that_block) {
  MadeStep made;
  made.in(megabyte);
  made.kernel(microseconds(100), 2);
  made.last().host_before = microseconds(200);
  EXPECT_NEAR(step_us(made.step), 1000, 1e-6);  // the host runs ahead
  made[0].blocks = true;
  made[0].returning = microseconds(30);
  EXPECT_NEAR(step_us(made.step), 1000 + 30 + 200, 1e-6);
}

TEST(SimulatedStep, counts_the_time_of_a_call_once) {
  // The profile has 40 µs for a launch and 10 µs for a copy. The recorded calls take 50 µs and 12 µs.
  Profile profile = round_profile();
  profile.submission.launch = us(40);
  profile.submission.copy = us(10);
  MadeStep made;
  made.kernel(microseconds(1));
  made.last().call = microseconds(50);
  made.in(1_B, MemoryKind::pinned, 2);
  made.last().call = microseconds(12);
  EXPECT_NEAR(step_us(made.step, profile), 50 + 12, 1e-6);
  made[0].call = made[1].call = Seconds{0};  // unknown: those of the profile
  EXPECT_NEAR(step_us(made.step, profile), 40 + 10, 1e-6);
}

TEST(SimulatedStep, serialises_threads_of_which_each_waits_for_the_other) {
  MadeStep made;
  made.kernel(microseconds(1), 1);
  made.last().host_before = microseconds(300);
  made.kernel(microseconds(1), 2);
  made.last().thread = 1;
  made.last().host_before = microseconds(200);
  made.last().call = microseconds(5);
  EXPECT_NEAR(step_us(made.step), 300, 1e-6);  // independent
  made[1].handed_over_by = EarlierOp{0, 0};
  EXPECT_NEAR(step_us(made.step), 300, 1e-6);  // the first thread runs ahead
  made[0].handed_over_by = EarlierOp{1, 1};
  EXPECT_NEAR(step_us(made.step), 300 + 200 + 5, 1e-6);
}

TEST(SimulatedStep, copies_beside_the_kernel_of_the_step_before) {
  MadeStep made;
  made.in(megabyte, MemoryKind::pinned, 1);
  made.kernel(microseconds(900), 2, {{0, 0}});
  made.out(megabyte, MemoryKind::pinned, 3);
  made.last().after = {{1, 0}};
  EXPECT_NEAR(step_us(made.step), 1000, 1e-6);  // three steps are in flight
  made.wait({{2, 0}});
  EXPECT_NEAR(step_us(made.step), 2900, 1e-6);
}

TEST(SimulatedStep, lets_small_kernels_share_the_gpu_and_large_ones_not) {
  // 14 · 2048 threads are resident, which are 112 blocks of 256 threads.
  for (const auto& [blocks, expected] : {std::pair{56u, 400.0}, std::pair{112u, 800.0}}) {
    MadeStep made;
    for (const std::uint32_t stream : {1, 2}) {
      made.kernel(microseconds(400), stream);
      made.last().grid = blocks;
    }
    EXPECT_NEAR(step_us(made.step), expected, 1) << blocks;
  }
}

TEST(ScheduleOf, numbers_the_steps_and_has_each_op_in_each_of_them) {
  MadeStep made;
  made.in(megabyte, MemoryKind::pageable, 0);
  made.in(megabyte * 3);
  made.kernel(microseconds(5), 2, {{1, 0}, {0, 1}});
  made.wait({{2, 0}});
  made[3].thread = 9;
  const Schedule schedule = schedule_of(made.step, 5, round_profile());
  EXPECT_TRUE(problems(schedule).empty());
  EXPECT_EQ(schedule.agents.size(), 2u);
  EXPECT_EQ(schedule.streams.size(), 3u);
  std::vector<int> copies_of_step(5), kernels_of_step(5);
  Bytes bytes;
  for (const Op& op : schedule.ops) {
    ASSERT_LT(op.chunk, 5u);
    if (const auto* copy = std::get_if<Copy>(&op.what)) {
      ++copies_of_step[op.chunk];
      bytes += copy->from.length;
    }
    if (!std::holds_alternative<Kernel>(op.what)) continue;
    ++kernels_of_step[op.chunk];
    EXPECT_EQ(op.after.size(), op.chunk == 0 ? 1u : 2u);  // the first step has none before it
  }
  EXPECT_EQ(copies_of_step, std::vector<int>(5, 2));
  EXPECT_EQ(kernels_of_step, std::vector<int>(5, 1));
  EXPECT_EQ(bytes, megabyte * 4 * 5);
}

}  // namespace
}  // namespace shiplap
