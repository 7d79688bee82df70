#include "shiplap/schedule/submission.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/strategy/strategy.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

std::size_t count(const Submission& s, SubmissionStep::Kind kind) {
  std::size_t n = 0;
  for (const auto& steps : s.agents)
    n += static_cast<std::size_t>(
        std::count_if(steps.begin(), steps.end(), [&](const SubmissionStep& step) { return step.kind == kind; }));
  return n;
}

Submission of(Layout layout, std::uint32_t chunks, std::uint32_t ring = 0) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1024);
  return submission(find_strategy("streams").schedule(job, {.chunks = chunks, .layout = layout, .ring = ring},
                                                      {.device_memory = 1_GiB}));
}

TEST(Submission, needs_no_event_where_each_chunk_has_its_own_stream) {
  const Submission s = of(Layout::per_chunk, 8);
  EXPECT_EQ(count(s, SubmissionStep::Kind::submit), 24u);
  EXPECT_EQ(count(s, SubmissionStep::Kind::record), 0u);
  EXPECT_EQ(count(s, SubmissionStep::Kind::wait), 0u);
  EXPECT_EQ(count(s, SubmissionStep::Kind::finish), 8u);
}

TEST(Submission, ties_three_streams_by_two_events_a_chunk) {
  const Submission s = of(Layout::three, 8);
  EXPECT_EQ(count(s, SubmissionStep::Kind::record), 16u);
  EXPECT_EQ(count(s, SubmissionStep::Kind::wait), 16u);
  EXPECT_EQ(count(s, SubmissionStep::Kind::finish), 1u);  // in and compute end in streams that the last one waits for
  EXPECT_EQ(s.events, 16u);
}

TEST(Submission, records_one_event_behind_an_op_however_many_streams_wait_for_it) {
  Schedule s;
  const KernelId k = s.add_kernel("k");
  const auto kernel = [&] { return Kernel{.kernel = k, .items = 1, .operands = {}, .flows = {}}; };
  const OpId root = s.add({.what = kernel(), .stream = s.add_stream("root"), .after = {}});
  for (int q = 0; q < 5; ++q) s.add({.what = kernel(), .stream = s.add_stream("leaf"), .after = {root}});
  const Submission program = submission(s);
  EXPECT_EQ(count(program, SubmissionStep::Kind::record), 1u);
  EXPECT_EQ(count(program, SubmissionStep::Kind::wait), 5u);
  EXPECT_EQ(count(program, SubmissionStep::Kind::finish), 5u);
}

TEST(Submission, waits_once_where_a_stream_has_already_waited_for_a_later_op) {
  Schedule s;
  const KernelId k = s.add_kernel("k");
  const StreamId a = s.add_stream("a");
  const StreamId b = s.add_stream("b");
  const auto add = [&](StreamId q, std::vector<OpId> after) {
    return s.add(
        {.what = Kernel{.kernel = k, .items = 1, .operands = {}, .flows = {}}, .stream = q, .after = std::move(after)});
  };
  const OpId first = add(a, {});
  const OpId second = add(a, {});
  add(b, {first, second});
  add(b, {first});
  const Submission program = submission(s);
  EXPECT_EQ(count(program, SubmissionStep::Kind::wait), 1u);
  EXPECT_EQ(count(program, SubmissionStep::Kind::record), 1u);
}

TEST(Submission, keeps_the_order_of_the_schedule) {
  const Submission s = of(Layout::three, 4, 2);
  std::uint32_t last = 0;
  for (const SubmissionStep& step : s.agents[0])
    if (step.kind == SubmissionStep::Kind::submit) {
      EXPECT_TRUE(step.op.value == 0 || step.op.value == last + 1);
      last = step.op.value;
    }
  EXPECT_EQ(last, 11u);
}

}  // namespace
}  // namespace shiplap
