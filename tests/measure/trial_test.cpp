#include "shiplap/measure/trial.hpp"

#include <gtest/gtest.h>

#include <map>
#include <variant>

#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/host_trial.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

struct Calls {
  unsigned copies = 0, launches = 0, records = 0, waits = 0;
};

Calls calls_of(const Schedule& schedule) {
  Calls calls;
  const Submission program = submission(schedule);
  for (const SubmissionStep& step : program.agents.at(0)) {
    switch (step.kind) {
      case SubmissionStep::Kind::submit:
        ++(std::holds_alternative<Copy>(schedule.ops[step.op.index()].what) ? calls.copies : calls.launches);
        break;
      case SubmissionStep::Kind::await:
      case SubmissionStep::Kind::synchronize:
        break;
      case SubmissionStep::Kind::wait:
        ++calls.waits;
        break;
      case SubmissionStep::Kind::record:
      case SubmissionStep::Kind::finish:
        ++calls.records;
        break;
    }
  }
  return calls;
}

class TrialTest : public ::testing::Test {
 protected:
  std::shared_ptr<MeasurableDevice> device_ = open_virtual(planted_profile(), "virtual:planted");
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

TEST_F(TrialTest, loads_the_other_direction_for_longer_than_the_timed_burst_takes) {
  for (const CopyDirection way : {CopyDirection::host_to_device, CopyDirection::device_to_host}) {
    const Trial trial = duplex_burst(way, 1_MiB, 7);
    EXPECT_TRUE(problems(trial.schedule).empty());
    EXPECT_EQ(trial.timed, StreamId{0});
    EXPECT_EQ(trial.transfers.at(0).length, 7_MiB);
    Bytes timed;
    Bytes load;
    for (const Op& op : trial.schedule.ops) {
      const auto& copy = std::get<Copy>(op.what);
      EXPECT_EQ(direction(trial.schedule, copy) == way, op.stream == trial.timed);
      (op.stream == trial.timed ? timed : load) += copy.from.length;
    }
    EXPECT_EQ(timed, 7_MiB);
    EXPECT_EQ(load, 18_MiB);
  }
}

TEST_F(TrialTest, orders_an_empty_pipeline_by_events_or_by_its_streams) {
  for (const CopyDirection way : {host_to_device, device_to_host})
    for (const unsigned streams : {1u, 4u}) {
      const Trial trial = empty_pipeline(*device_, {.way = way, .size = 4_KiB, .chunks = 8, .streams = streams});
      EXPECT_TRUE(problems(trial.schedule).empty());
      EXPECT_EQ(trial.transfers.size(), 1u);
      const Calls calls = calls_of(trial.schedule);
      EXPECT_EQ(calls.copies, 8u);
      EXPECT_EQ(calls.launches, 8u);
      EXPECT_EQ(calls.waits, streams == 1 ? 8u : 0u);
      EXPECT_EQ(trial.timed, StreamId{}) << "to its end";
    }
}

TEST_F(TrialTest, stops_the_clock_of_a_duplex_pipeline_while_both_directions_move) {
  const Trial trial = empty_pipeline(*device_, {.duplex = true, .size = 4_KiB, .chunks = 8, .streams = 4});
  EXPECT_TRUE(problems(trial.schedule).empty());
  EXPECT_EQ(trial.schedule.streams.at(trial.timed.index()).name, "end");
  std::map<CopyDirection, unsigned> copies;
  for (const Op& op : trial.schedule.ops)
    if (const auto* copy = std::get_if<Copy>(&op.what)) ++copies[direction(trial.schedule, *copy)];
  EXPECT_EQ(copies[host_to_device], 9u);
  EXPECT_GT(copies[device_to_host], 2 * 9u);
  EXPECT_EQ(trial.schedule.ops.at(17).after.size(), 1u) << "the last copy waits for the one before it";
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

TEST_F(TrialTest, lets_every_op_of_a_chain_wait_for_the_one_before_it) {
  for (const CopyDirection way : both_directions) {
    for (const unsigned streams : {1u, 4u}) {
      const Trial trial = chain(*device_, {.way = way, .count = 6, .streams = streams, .size = 4_KiB});
      EXPECT_TRUE(problems(trial.schedule).empty());
      EXPECT_EQ(trial.timed, StreamId{5 % streams});
      const Calls calls = calls_of(trial.schedule);
      EXPECT_EQ(calls.launches, 6u);
      EXPECT_EQ(calls.copies, 6u);
      EXPECT_EQ(calls.waits, streams == 1 ? 0u : 5u);
      for (std::size_t i = 1; i < trial.schedule.ops.size(); ++i) {
        const Op& op = trial.schedule.ops[i];
        const OpId before{static_cast<std::uint32_t>(i - 1)};
        EXPECT_TRUE(op.stream == trial.schedule.ops[i - 1].stream || op.after == std::vector{before});
      }
    }
  }
}

TEST_F(TrialTest, gives_the_stream_kernel_the_memory_it_works_on) {
  const Trial trial = single_kernel(*device_, ProbeKind::stream, 1, 4096);
  EXPECT_TRUE(problems(trial.schedule).empty());
  const auto& kernel = std::get<Kernel>(trial.schedule.ops.at(0).what);
  ASSERT_EQ(kernel.operands.size(), 1u);
  EXPECT_EQ(kernel.operands[0].region.length, 4_KiB);
  EXPECT_EQ(kernel.operands[0].mode, AccessMode::write);
}

TEST_F(TrialTest, of_a_call_of_the_host_is_one_that_concerns_memory) {
  for (const auto other : {HostCall::Kind::create_stream, HostCall::Kind::destroy_stream, HostCall::Kind::wait})
    EXPECT_EQ(message_of([&] { host_call(other, MemoryKind::pageable, 1_KiB); }),
              "`timed`: not a call that concerns memory");
  EXPECT_EQ(host_call(HostCall::Kind::unpin, MemoryKind::pageable, 1_KiB).timed_op, OpId{1}) << "after the pin";
}

}  // namespace
}  // namespace shiplap
