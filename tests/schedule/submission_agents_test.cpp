// Submission by several agents, and of what agents perform themselves.
#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/schedule/submission.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/schedule/calls.hpp"
#include "tests/schedule/team.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

TEST(SubmissionByAgents, awaits_another_agents_op_before_it_waits_for_the_event_behind_it) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  team.on(team.b, worker, {first});
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0");
  EXPECT_EQ(calls(team, worker), "await 0, wait 0, submit 1, finish 1");
}

TEST(SubmissionByAgents, an_event_that_is_waited_for_is_the_one_that_was_recorded_behind_the_op) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.b, main_agent);
  team.on(team.c, worker, {first, second});
  const Submission program = submission(team.schedule);
  std::map<std::uint32_t, EventId> recorded;
  for (const SubmissionStep& step : program.agents[0])
    if (step.kind == SubmissionStep::Kind::record) recorded[step.op.value] = step.event;
  ASSERT_EQ(recorded.size(), 2u);
  EXPECT_NE(recorded[0], recorded[1]);
  int waits = 0;
  for (const SubmissionStep& step : program.agents[1])
    if (step.kind == SubmissionStep::Kind::wait) {
      EXPECT_EQ(step.event, recorded[step.awaited.value]);
      ++waits;
    }
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(program.events, 2u);
}

TEST(SubmissionByAgents, a_host_copy_that_depends_on_a_streams_op_synchronizes_with_the_event_behind_it) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  team.by_host(main_agent, {kernel});
  // Only a host thread waits for the end of stream a, so it gets an end mark all the same.
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, finish 0, synchronize 0, submit 1");
}

TEST(SubmissionByAgents, a_host_call_that_depends_on_another_agents_op_awaits_it_and_then_synchronizes) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  const BufferId x = team.host("x", 8_B);
  team.add(HostCall{.kind = HostCall::Kind::flush, .region = {x, 0_B, 8_B}}, {}, {kernel}, 0);
  team.schedule.ops.back().agent = worker;
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, finish 0");
  EXPECT_EQ(calls(team, worker), "await 0, synchronize 0, submit 1");
}

TEST(SubmissionByAgents, a_streams_last_op_that_another_stream_waits_for_too_gets_no_end_mark) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  team.by_host(main_agent, {kernel});
  team.on(team.b, main_agent, {kernel});
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, synchronize 0, submit 1, wait 0, submit 2, finish 2");
}

TEST(SubmissionByAgents, a_host_op_has_ended_when_the_same_agent_submits_what_depends_on_it) {
  Team team;
  const OpId copy = team.by_host(main_agent);
  team.on(team.a, main_agent, {copy});
  EXPECT_EQ(calls(team, main_agent), "submit 0, submit 1, finish 1");
  EXPECT_EQ(submission(team.schedule).events, 0u);
}

TEST(SubmissionByAgents, another_agents_host_op_is_awaited_and_has_no_event) {
  Team team;
  const OpId copy = team.by_host(worker);
  team.on(team.a, main_agent, {copy});
  EXPECT_EQ(calls(team, main_agent), "await 0, submit 1, finish 1");
  EXPECT_EQ(calls(team, worker), "submit 0");
}

TEST(SubmissionByAgents, a_host_op_awaits_the_host_op_of_another_agent_that_it_depends_on) {
  Team team;
  const OpId copy = team.by_host(main_agent);
  team.by_host(worker, {copy});
  EXPECT_EQ(calls(team, worker), "await 0, submit 1");
}

TEST(SubmissionByAgents, a_stream_gets_its_ops_in_order_from_two_agents_without_any_dependency) {
  Team team;
  team.on(team.a, main_agent);
  team.on(team.a, worker);
  team.on(team.a, main_agent);
  EXPECT_EQ(calls(team, main_agent), "submit 0, await 1, submit 2, finish 2");
  EXPECT_EQ(calls(team, worker), "await 0, submit 1");
}

TEST(SubmissionByAgents, an_op_of_its_own_stream_by_another_agent_is_awaited_but_has_no_event) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  team.on(team.a, worker, {first});
  EXPECT_EQ(calls(team, worker), "await 0, submit 1, finish 1");
  EXPECT_EQ(submission(team.schedule).events, 0u);
}

TEST(SubmissionByAgents, nothing_is_awaited_twice_and_an_earlier_op_not_after_a_later_one) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.a, main_agent);
  team.on(team.b, worker, {second});
  team.on(team.b, worker, {second});
  team.on(team.c, worker, {first});  // another stream has to wait for itself
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, submit 1, record 1");
  EXPECT_EQ(calls(team, worker), "await 1, wait 1, submit 2, submit 3, finish 3, wait 0, submit 4, finish 4");
}

TEST(SubmissionByAgents, of_several_ops_of_one_agent_the_latest_is_awaited) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.b, main_agent);
  team.on(team.c, worker, {first, second});
  EXPECT_EQ(calls(team, worker), "await 1, wait 1, wait 0, submit 2, finish 2");
}

TEST(SubmissionByAgents, an_agent_that_knows_the_end_of_an_op_knows_that_of_the_ops_before_it_in_its_stream) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.a, main_agent);
  team.by_host(main_agent, {second});
  team.by_host(main_agent, {first});
  EXPECT_EQ(calls(team, main_agent), "submit 0, submit 1, record 1, finish 1, synchronize 1, submit 2, submit 3");
}

TEST(SubmissionByAgents, each_agent_synchronizes_for_itself) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  team.by_host(main_agent, {kernel});
  team.by_host(worker, {kernel});
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, finish 0, synchronize 0, submit 1");
  EXPECT_EQ(calls(team, worker), "await 0, synchronize 0, submit 2");
}

TEST(SubmissionByAgents, a_single_agent_without_host_ops_neither_awaits_nor_synchronizes) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1024);
  for (const Layout layout : {Layout::per_chunk, Layout::three}) {
    const Submission program = submission(find_strategy("streams").schedule(
        job, {.chunks = 8, .layout = layout, .ring = layout == Layout::three ? 2u : 0u}, {.device_memory = 1_GiB}));
    ASSERT_EQ(program.agents.size(), 1u);
    std::size_t submitted = 0;
    for (const SubmissionStep& step : program.agents[0]) {
      EXPECT_NE(step.kind, SubmissionStep::Kind::await);
      EXPECT_NE(step.kind, SubmissionStep::Kind::synchronize);
      submitted += step.kind == SubmissionStep::Kind::submit;
    }
    EXPECT_EQ(submitted, 24u);
  }
}

}  // namespace
}  // namespace shiplap
