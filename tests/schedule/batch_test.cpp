// Copies that are submitted in one call, and schedules that are submitted as a graph.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/schedule/calls.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

// Two agents, two streams, and buffers of 64 B: pinned x, pageable p, and d on the GPU. No op.
struct TwoStreams : Builder {
  StreamId q = schedule.add_stream("q");
  StreamId r = schedule.add_stream("r");
  BufferId x = host("x", 64_B);
  BufferId p = schedule.add_buffer(buffer("p", Place::host(), MemoryKind::pageable, 64_B));
  BufferId d = device("d", 64_B);
  TwoStreams() {
    schedule.agents = {{"main"}, {"worker"}};
    schedule.add_kernel("k");
  }
  // Copy i of 8 B has bytes of its own in both buffers.
  Region eighth(BufferId b, std::uint32_t i) const { return {b, 8_B * i, 8_B}; }
  OpId to_device(std::uint32_t i) { return copy(q, eighth(x, i), eighth(d, i)); }
  OpId batched(OpId id) {
    schedule.ops[id.index()].batched = true;
    return id;
  }
  // A batch of `copies` copies in stream q.
  void batch(std::uint32_t copies) {
    to_device(0);
    for (std::uint32_t i = 1; i < copies; ++i) batched(to_device(i));
  }
  // A kernel that reaches no memory.
  OpId on(StreamId stream, AgentId agent, std::vector<OpId> after = {}) {
    const OpId id = kernel(stream, {}, std::move(after));
    schedule.ops.back().agent = agent;
    return id;
  }
};

TEST(ValidateBatch, accepts_copies_of_one_stream_and_agent_with_bytes_of_their_own) {
  TwoStreams s;
  s.batch(5);
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

TEST(ValidateBatch, accepts_copies_that_read_the_same_bytes) {
  TwoStreams s;
  s.to_device(0);
  s.batched(s.copy(s.q, s.eighth(s.x, 0), s.eighth(s.d, 1)));
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

TEST(ValidateBatch, accepts_a_first_copy_that_waits_for_others) {
  TwoStreams s;
  const OpId before = s.on(s.r, main_agent);
  s.copy(s.q, s.eighth(s.x, 0), s.eighth(s.d, 0), {before});
  s.batched(s.to_device(1));
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

TEST(ValidateBatch, a_wait_for_one_copy_is_a_wait_for_all_of_its_batch) {
  for (const std::uint32_t awaited : {0u, 1u, 2u}) {
    TwoStreams s;
    s.batch(3);
    for (std::uint32_t i = 0; i < 3; ++i) s.kernel(s.r, {read(s.eighth(s.d, i))}, {OpId{awaited}});
    EXPECT_EQ(joined(problems(s.schedule)), "");
  }
}

TEST(ValidateBatch, refuses_a_first_op_that_is_batched) {
  TwoStreams s;
  s.batched(s.to_device(0));
  EXPECT_REFUSED(s.schedule, "copy H2D of chunk 0 (op 0) is batched with the op before it, and there is none");
}

TEST(ValidateBatch, refuses_what_is_no_copy_in_either_place) {
  TwoStreams behind;
  behind.to_device(0);
  behind.batched(behind.on(behind.q, main_agent));
  EXPECT_REFUSED(behind.schedule,
                 "kernel k of chunk 0 (op 1) is batched with copy H2D of chunk 0 (op 0); only copies can be");
  TwoStreams in_front;
  in_front.on(in_front.q, main_agent);
  in_front.batched(in_front.to_device(0));
  EXPECT_REFUSED(in_front.schedule,
                 "copy H2D of chunk 0 (op 1) is batched with kernel k of chunk 0 (op 0); only copies can be");
  TwoStreams by_host;
  by_host.to_device(0);
  by_host.batched(by_host.host_copy(main_agent, by_host.eighth(by_host.p, 1), by_host.eighth(by_host.x, 1)));
  EXPECT_REFUSED(by_host.schedule, "only copies can be");
}

TEST(ValidateBatch, refuses_another_stream_or_agent) {
  for (const bool other_stream : {true, false}) {
    TwoStreams s;
    s.batch(2);
    if (other_stream)
      s.schedule.ops[1].stream = s.r;
    else
      s.schedule.ops[1].agent = worker;
    EXPECT_REFUSED(s.schedule, "(op 1) is batched with the op before it, which has another stream or agent");
  }
}

TEST(ValidateBatch, refuses_dependencies_of_any_but_the_first) {
  TwoStreams s;
  const OpId before = s.on(s.r, main_agent);
  s.batch(3);
  s.schedule.ops[3].after = {before};
  EXPECT_REFUSED(s.schedule, "(op 3) is batched and waits for other ops; let the first of its batch wait");
}

TEST(ValidateBatch, refuses_pageable_memory_in_either_place) {
  for (const std::uint32_t pageable : {0u, 1u}) {
    TwoStreams s;
    s.batch(2);
    std::get<Copy>(s.schedule.ops[pageable].what).from = s.eighth(s.p, pageable);
    EXPECT_REFUSED(s.schedule, "(op 1) is batched, but the host waits for copies of pageable memory; pin it");
  }
}

TEST(ValidateBatch, refuses_copies_that_reach_the_same_bytes_also_where_others_lie_between) {
  // Written by both; written by the first and read by the last; read by the first and written by the last.
  for (const int way : {0, 1, 2}) {
    TwoStreams s;
    s.batch(2);
    const Region first_from = s.eighth(s.x, 0);
    const Region first_to = s.eighth(s.d, 0);
    const Region own{s.d, 60_B, 4_B};
    if (way == 0) s.copy(s.q, {s.x, 40_B, 4_B}, {first_to.buffer, 4_B, 4_B});
    if (way == 1) s.copy(s.q, {first_to.buffer, 4_B, 4_B}, own);
    if (way == 2) s.copy(s.q, {s.d, 40_B, 4_B}, {first_from.buffer, 0_B, 4_B});
    EXPECT_EQ(joined(problems(s.schedule)), "") << "without the batch the stream orders them, way " << way;
    s.batched(OpId{2});
    EXPECT_REFUSED(s.schedule,
                   "(op 2) and copy H2D of chunk 0 (op 0) share bytes, but the copies of a batch have no order");
  }
}

TEST(ValidateBatch, lets_two_batches_of_a_stream_reach_the_same_bytes) {
  TwoStreams s;
  s.batch(2);
  s.batch(2);
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

TEST(ValidateGraph, accepts_what_one_agent_submits_to_streams) {
  TwoStreams s;
  s.schedule.agents.resize(1);
  const OpId copied = s.to_device(0);
  s.on(s.r, main_agent, {copied});
  s.schedule.as_graph = true;
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

TEST(ValidateGraph, refuses_a_batch) {
  TwoStreams s;
  s.schedule.agents.resize(1);
  s.batch(2);
  s.schedule.as_graph = true;
  EXPECT_REFUSED(s.schedule, "(op 1) is batched in a graph, which has a node for each copy; leave the batch out");
}

TEST(ValidateGraph, refuses_several_agents) {
  TwoStreams s;
  s.to_device(0);
  s.schedule.as_graph = true;
  EXPECT_REFUSED(s.schedule, "copy H2D of chunk 0 (op 0) is part of a graph, which one agent submits");
}

TEST(ValidateGraph, refuses_what_the_host_performs) {
  TwoStreams s;
  s.schedule.agents.resize(1);
  s.schedule.as_graph = true;
  s.host_copy(main_agent, s.eighth(s.p, 0), s.eighth(s.x, 0));
  EXPECT_REFUSED(s.schedule, "host copy of chunk 0 (op 0) is performed by the host, which a graph cannot hold");
  s.schedule.ops.clear();
  s.add(HostCall{.kind = HostCall::Kind::create_stream}, {}, {}, 0);
  EXPECT_REFUSED(s.schedule, "creation of a stream of chunk 0 (op 0) is performed by the host");
}

TEST(FirstOfBatch, is_the_copy_that_the_others_are_submitted_with) {
  TwoStreams s;
  s.to_device(4);
  s.batch(3);
  s.on(s.q, main_agent);
  const std::uint32_t first[] = {0, 1, 1, 1, 4};
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(first_of_batch(s.schedule, OpId{i}), OpId{first[i]}) << i;
}

TEST(SubmissionOfBatch, is_one_step_for_all_of_its_copies_and_one_end_mark) {
  TwoStreams s;
  s.batch(4);
  EXPECT_EQ(calls(s), "submit 0 (4), finish 0");
}

TEST(SubmissionOfBatch, keeps_batches_that_follow_each_other_apart) {
  TwoStreams s;
  s.batch(2);
  s.batch(3);
  s.to_device(5);
  EXPECT_EQ(calls(s), "submit 0 (2), submit 2 (3), submit 5, finish 5");
}

TEST(SubmissionOfBatch, records_one_event_however_many_of_its_copies_others_wait_for) {
  TwoStreams s;
  s.batch(3);
  const StreamId t = s.schedule.add_stream("t");
  s.on(s.r, main_agent, {OpId{0}});
  s.on(t, main_agent, {OpId{1}});
  // Nobody waits for the last copy of stream q, so its end is marked; the two that wait end alone.
  EXPECT_EQ(calls(s), "submit 0 (3), record 0, finish 0, wait 0, submit 3, finish 3, wait 1, submit 4, finish 4");
  const Submission program = submission(s.schedule);
  EXPECT_EQ(program.events, 1u);
  for (const SubmissionStep& step : program.agents[0]) {
    if (step.kind != SubmissionStep::Kind::wait) continue;
    EXPECT_EQ(step.event, EventId{0});
  }
}

TEST(SubmissionOfBatch, needs_no_end_mark_when_another_stream_waits_for_its_last_copy) {
  TwoStreams s;
  s.batch(3);
  s.on(s.r, main_agent, {OpId{2}});
  EXPECT_EQ(calls(s), "submit 0 (3), record 0, wait 2, submit 3, finish 3");
}

TEST(SubmissionOfBatch, waits_in_front_of_its_first_copy) {
  TwoStreams s;
  const OpId before = s.on(s.r, main_agent);
  s.copy(s.q, s.eighth(s.x, 0), s.eighth(s.d, 0), {before});
  s.batched(s.to_device(1));
  EXPECT_EQ(calls(s), "submit 0, record 0, wait 0, submit 1 (2), finish 1");
}

TEST(SubmissionOfBatch, is_awaited_by_its_first_copy_when_another_agents_op_needs_one_in_the_middle) {
  TwoStreams s;
  s.batch(3);
  s.on(s.r, worker, {OpId{1}});
  // The steps of the batch are those of op 0: whoever awaited those of op 1 would wait for ever.
  EXPECT_EQ(calls(s, main_agent), "submit 0 (3), record 0, finish 0");
  EXPECT_EQ(calls(s, worker), "await 0, wait 1, submit 3, finish 3");
}

TEST(SubmissionOfBatch, is_awaited_once_by_an_agent_that_needs_two_of_its_copies) {
  TwoStreams s;
  s.batch(3);
  const StreamId t = s.schedule.add_stream("t");
  s.on(s.r, worker, {OpId{1}});
  s.on(t, worker, {OpId{2}});
  EXPECT_EQ(calls(s, worker), "await 0, wait 1, submit 3, finish 3, wait 2, submit 4, finish 4");
}

TEST(SubmissionOfBatch, is_awaited_by_another_agent_that_goes_on_in_its_stream) {
  TwoStreams s;
  s.batch(2);
  s.on(s.q, worker);
  EXPECT_EQ(calls(s, worker), "await 0, submit 2, finish 2");
}

TEST(SubmissionOfBatch, ends_before_a_host_copy_that_waits_for_one_in_the_middle) {
  TwoStreams s;
  s.batch(3);
  s.host_copy(main_agent, s.eighth(s.p, 5), s.eighth(s.x, 5), {OpId{1}});
  EXPECT_EQ(calls(s), "submit 0 (3), record 0, finish 0, synchronize 1, submit 3");
}

TEST(SubmissionOfGraph, has_the_steps_that_it_has_op_by_op) {
  TwoStreams s;
  s.schedule.agents.resize(1);
  const OpId copied = s.to_device(0);
  s.on(s.r, main_agent, {copied});
  const std::string op_by_op = calls(s);
  EXPECT_EQ(op_by_op, "submit 0, record 0, wait 0, submit 1, finish 1");
  s.schedule.as_graph = true;
  EXPECT_EQ(calls(s), op_by_op);
}

TEST(ConcatenateBatches, keeps_each_batch_to_itself) {
  TwoStreams s;
  s.batch(3);
  const Schedule twice = concatenate(s.schedule, s.schedule);
  EXPECT_EQ(joined(problems(twice)), "");
  EXPECT_EQ(text(submission(twice).agents.at(0)), "submit 0 (3), submit 3 (3), finish 3");
}

TEST(ConcatenateBatches, orders_a_batch_behind_what_still_uses_the_bytes_of_any_of_its_copies) {
  // Stream r still reads what the second copy of the batch has brought when the next batch overwrites it.
  TwoStreams s;
  s.batch(2);
  s.copy(s.r, s.eighth(s.d, 1), s.eighth(s.x, 7), {OpId{1}});
  ASSERT_EQ(joined(problems(s.schedule)), "");
  EXPECT_EQ(joined(problems(concatenate(s.schedule, s.schedule))), "");
}

TEST(ConcatenateGraphs, makes_one_graph_of_two_and_refuses_a_graph_and_none) {
  TwoStreams s;
  s.schedule.agents.resize(1);
  s.to_device(0);
  Schedule graph = s.schedule;
  graph.as_graph = true;
  EXPECT_TRUE(concatenate(graph, graph).as_graph);
  EXPECT_FALSE(concatenate(s.schedule, s.schedule).as_graph);
  for (const auto& [first, second] : {std::pair(graph, s.schedule), {s.schedule, graph}}) {
    try {
      concatenate(first, second);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "cannot concatenate schedules: one is submitted as a graph and the other op by op");
    }
  }
}

TEST(ValidateStreamCalls, refuse_to_destroy_what_their_agent_has_not_made) {
  const auto call = [](TwoStreams& s, HostCall::Kind kind, AgentId agent) {
    s.schedule.add({.what = HostCall{.kind = kind}, .stream = {}, .agent = agent, .after = {}});
  };
  TwoStreams sound;
  call(sound, HostCall::Kind::create_stream, main_agent);
  call(sound, HostCall::Kind::destroy_stream, main_agent);
  EXPECT_TRUE(problems(sound.schedule).empty());
  call(sound, HostCall::Kind::destroy_stream, main_agent);
  ASSERT_EQ(problems(sound.schedule).size(), 1u);
  EXPECT_NE(problems(sound.schedule).front().find("destruction of a stream of chunk 0 (op 2)"), std::string::npos);
  TwoStreams of_another;
  call(of_another, HostCall::Kind::create_stream, main_agent);
  call(of_another, HostCall::Kind::destroy_stream, worker);
  EXPECT_EQ(problems(of_another.schedule).size(), 1u);
}

TEST(ValidateGraphs, refuse_copies_that_the_host_waits_for) {
  TwoStreams s;
  s.schedule.agents = {{"main"}};
  s.schedule.as_graph = true;
  s.copy(s.q, s.eighth(s.p, 0), s.eighth(s.d, 0));
  ASSERT_EQ(problems(s.schedule).size(), 1u);
  EXPECT_NE(problems(s.schedule).front().find("pin the memory"), std::string::npos);
}

}  // namespace
}  // namespace shiplap
