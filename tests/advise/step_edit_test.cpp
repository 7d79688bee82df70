#include "shiplap/advise/step_edit.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/advise/made_step.hpp"

namespace shiplap {
namespace {

using Afters = std::vector<EarlierOp>;

/// Four kernels of one thread, 1, 2, 4 and 8 µs after the call before. Each waits for the one before it, and the first
/// one for the last one of the step before.
struct Chain : MadeStep {
  Chain() {
    kernel(microseconds(1), 1, {{3, 1}});
    for (std::size_t i = 1; i < 4; ++i) kernel(microseconds(1), 1, {{i - 1, 0}});
    for (std::size_t i = 0; i < 4; ++i) step.ops[i].host_before = microseconds(static_cast<double>(1 << i));
  }
};

TEST(StepEdit, gives_the_same_step_when_all_ops_are_kept) {
  Chain made;
  made.step.migrations.to_host = 5_B;
  made.step.repeats = 17;
  StepEdit edit(made.step);
  for (std::size_t i = 0; i < 4; ++i) edit.keep(i);
  EXPECT_EQ(edit.size(), 4u);
  const ProgramStep step = std::move(edit).finish();
  ASSERT_EQ(step.ops.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(step.ops[i].after, made[i].after) << i;
    EXPECT_EQ(step.ops[i].host_before, made[i].host_before) << i;
  }
  EXPECT_EQ(step.repeats, 17u);
  EXPECT_EQ(step.migrations.to_host, 5_B);
  EXPECT_EQ(step.time, made.step.time);
}

TEST(StepEdit, passes_the_time_of_an_op_that_is_left_out_to_the_next_one_of_its_thread) {
  Chain made;
  made[2].thread = 5;
  StepEdit edit(made.step);
  edit.keep(0);
  edit.leave_out(1);
  edit.keep(2);
  edit.keep(3);
  const ProgramStep step = std::move(edit).finish();
  const double expected[] = {1, 4, 8 + 2};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_MICROSECONDS(step.ops[i].host_before, expected[i]) << i;
}

TEST(StepEdit, passes_the_time_of_the_last_op_on_into_the_next_step) {
  const Chain made;
  StepEdit edit(made.step);
  for (std::size_t i = 0; i < 2; ++i) edit.keep(i);
  for (std::size_t i = 2; i < 4; ++i) edit.leave_out(i);
  const ProgramStep step = std::move(edit).finish();
  EXPECT_MICROSECONDS(step.ops[0].host_before, 1 + 4 + 8);
  EXPECT_MICROSECONDS(step.ops[1].host_before, 2);
}

TEST(StepEdit, drops_the_time_of_an_op_for_which_alone_it_was_spent) {
  const Chain made;
  StepEdit edit(made.step);
  edit.keep(0);
  edit.leave_out(1, true);
  edit.keep(2);
  edit.keep(3);
  EXPECT_MICROSECONDS(time_before_calls(std::move(edit).finish()), 1 + 4 + 8);
}

TEST(StepEdit, drops_dependencies_on_ops_that_are_left_out_and_renumbers_the_others) {
  const Chain made;
  StepEdit edit(made.step);
  for (const std::size_t i : {0, 2, 3}) edit.keep(i);
  const ProgramStep step = std::move(edit).finish();
  EXPECT_EQ(step.ops[0].after, (Afters{{2, 1}}));
  EXPECT_EQ(step.ops[1].after, Afters{});
  EXPECT_EQ(step.ops[2].after, (Afters{{1, 0}}));
}

TEST(StepEdit, keeps_dependencies_right_when_ops_move) {
  const Chain made;
  StepEdit edit(made.step);
  for (const std::size_t i : {3, 0, 1, 2}) edit.keep(i);
  const ProgramStep step = std::move(edit).finish();
  EXPECT_EQ(step.ops[0].after, (Afters{{3, 0}}));
  EXPECT_EQ(step.ops[1].after, (Afters{{0, 1}}));
  EXPECT_EQ(step.ops[3].after, (Afters{{2, 0}}));
}

TEST(StepEdit, replaces_an_op_by_a_further_one_whose_own_dependencies_are_positions_in_the_list) {
  const Chain made;
  StepEdit edit(made.step);
  StepOp copy{};
  copy.kind = StepOp::Kind::copy;
  copy.after = {{1, 1}};
  edit.leave_out(0);
  edit.replace(0, edit.add(copy));
  EXPECT_EQ(edit.size(), 1u);
  edit.keep(1);
  const ProgramStep step = std::move(edit).finish();
  EXPECT_EQ(step.ops[0].after, (Afters{{1, 1}}));
  EXPECT_EQ(step.ops[1].after, (Afters{{0, 0}}));
  EXPECT_MICROSECONDS(step.ops[0].host_before, 1);  // passed on to the further op, which is of the same thread
}

TEST(StepEdit, changes_only_its_own_copy_of_an_op) {
  Chain made;
  StepEdit edit(made.step);
  edit.keep(0).time = microseconds(9);
  EXPECT_MICROSECONDS(made[0].time, 1);
  EXPECT_MICROSECONDS(kernel_time(std::move(edit).finish()), 9);
}

TEST(StepEdit, keeps_the_call_that_a_thread_waits_for_and_forgets_one_that_is_left_out) {
  Chain made;
  made[2].handed_over_by = EarlierOp{1, 0};
  made[3].handed_over_by = EarlierOp{0, 1};
  StepEdit edit(made.step);
  for (const std::size_t i : {1, 2, 3}) edit.keep(i);
  const ProgramStep step = std::move(edit).finish();
  EXPECT_EQ(step.ops[1].handed_over_by, (EarlierOp{0, 0}));
  EXPECT_FALSE(step.ops[2].handed_over_by);
}

}  // namespace
}  // namespace shiplap
