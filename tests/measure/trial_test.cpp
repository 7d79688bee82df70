#include "shiplap/measure/trial.hpp"

#include <gtest/gtest.h>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

struct Calls {
  unsigned copies = 0, launches = 0, records = 0, waits = 0;
};

Calls calls_of(const Schedule& schedule) {
  Calls calls;
  const Submission program = submission(schedule);
  for (const Step& step : program.agents.at(0)) {
    switch (step.kind) {
      case Step::Kind::submit:
        ++(std::holds_alternative<Copy>(schedule.ops[step.op.index()].what) ? calls.copies : calls.launches);
        break;
      case Step::Kind::wait:
        ++calls.waits;
        break;
      case Step::Kind::record:
      case Step::Kind::finish:
        ++calls.records;
        break;
    }
  }
  return calls;
}

class TrialTest : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = open_virtual(planted_profile(), "virtual:planted");
};

TEST_F(TrialTest, gives_every_copy_of_a_burst_bytes_of_its_own) {
  const Trial trial = copy_burst(CopyDirection::device_to_host, 3_B, 5);
  EXPECT_TRUE(problems(trial.schedule).empty());
  ASSERT_EQ(trial.schedule.ops.size(), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto& copy = std::get<Copy>(trial.schedule.ops[i].what);
    EXPECT_EQ(copy.from.offset.count, 3 * i);
    EXPECT_EQ(copy.to.offset.count, 3 * i);
    EXPECT_EQ(copy.to.length, 3_B);
    EXPECT_EQ(direction(trial.schedule, copy), CopyDirection::device_to_host);
  }
  EXPECT_EQ(trial.transfers.at(0).length, 15_B);
}

TEST_F(TrialTest, runs_both_directions_in_queues_and_memory_of_their_own) {
  const Trial trial = duplex_burst(1_KiB, 3, 2);
  EXPECT_TRUE(problems(trial.schedule).empty());
  EXPECT_EQ(trial.schedule.queues.size(), 2u);
  EXPECT_EQ(trial.schedule.buffers.size(), 4u);
  EXPECT_EQ(trial.transfers.at(0).length, 3_KiB);
  EXPECT_EQ(trial.transfers.at(1).length, 2_KiB);
}

TEST_F(TrialTest, makes_the_calls_that_followers_are_to_be_charged_for) {
  for (const unsigned n : {1u, 4u}) {
    const Trial trial = followers(*device_, 7, n);
    EXPECT_TRUE(problems(trial.schedule).empty());
    const Calls calls = calls_of(trial.schedule);
    EXPECT_EQ(calls.launches, 7 * (1 + n));
    EXPECT_EQ(calls.waits, 7 * n);
    EXPECT_EQ(calls.records, 7 + n) << "one for each launch of the leader and one end mark for each follower";
  }
}

TEST_F(TrialTest, hands_over_between_queues_at_every_op_of_a_handoff_but_the_first) {
  const Trial one = handoff(*device_, 5, false);
  const Trial two = handoff(*device_, 5, true);
  EXPECT_TRUE(problems(one.schedule).empty());
  EXPECT_TRUE(problems(two.schedule).empty());
  EXPECT_EQ(calls_of(one.schedule).waits, 0u);
  EXPECT_EQ(calls_of(two.schedule).waits, 9u);
  EXPECT_EQ(calls_of(two.schedule).copies, 5u);
  EXPECT_EQ(calls_of(two.schedule).launches, 5u);
}

TEST_F(TrialTest, gives_the_stream_kernel_the_memory_it_works_on) {
  const Trial trial = single_kernel(*device_, ProbeKernel::Kind::stream, 1, 4096);
  EXPECT_TRUE(problems(trial.schedule).empty());
  const auto& kernel = std::get<Kernel>(trial.schedule.ops.at(0).what);
  ASSERT_EQ(kernel.operands.size(), 1u);
  EXPECT_EQ(kernel.operands[0].region.length, 4_KiB);
  EXPECT_EQ(kernel.operands[0].mode, AccessMode::write);
}

}  // namespace
}  // namespace shiplap
