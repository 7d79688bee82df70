// Times of a recorded program in a schedule: what its threads do by themselves, and copies with times of their own.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

// 1 MB takes 1 ms alone and 2 ms beside the opposite direction. Pageable copies take half of it.
Profile node_of_one_nanosecond_per_byte(double latency_us = 0) {
  const PaperDirection direction{microseconds(latency_us), PerByte{1e-9}, Seconds{0}};
  Profile profile = paper_profile({.h2d = direction, .d2h = direction});
  for (DirectionModel* way : {&profile.links[0].h2d, &profile.links[0].d2h})
    way->duplex =
        DuplexModel{.per_byte = Interval<PerByte>::exact(PerByte{2e-9}), .gaps = {{.size = 1_B, .gap = us(0)}}};
  profile.links[0].pageable = PageableModel{.h2d = {{Bytes{1'000'000}, us(500)}}, .d2h = {}, .both = {}};
  return profile;
}

// Two agents, and a stream for each direction and for kernels.
struct RecordedWork : Builder {
  StreamId in = schedule.add_stream("in");
  StreamId out = schedule.add_stream("out");
  StreamId compute = schedule.add_stream("compute");
  RecordedWork() {
    schedule.agents = {{"first"}, {"second"}};
    schedule.add_kernel("k");
  }
  OpId moved(bool to_device, double megabytes, double measured_us, MemoryKind memory = MemoryKind::pinned) {
    const Bytes size{static_cast<std::uint64_t>(megabytes * 1e6)};
    const Region on_host{schedule.add_buffer(buffer("h", Place::host(), memory, size)), 0_B, size};
    const Region on_gpu{device("d", size), 0_B, size};
    return add(Copy{.from = to_device ? on_host : on_gpu,
                    .to = to_device ? on_gpu : on_host,
                    .measured = microseconds(measured_us)},
               to_device ? in : out, {}, 0);
  }
  OpId computed(double time_us, std::vector<OpId> after = {}) {
    const OpId id = kernel(compute, {}, std::move(after));
    std::get<Kernel>(schedule.ops.back().what).work = microseconds(time_us);
    return id;
  }
  OpId waits(AgentId agent, double then_busy_us, std::vector<OpId> after) {
    const OpId id = add(HostCall{.kind = HostCall::Kind::wait, .region = {}, .work = microseconds(then_busy_us)}, {},
                        std::move(after), 0);
    schedule.ops.back().agent = agent;
    return id;
  }
  Prediction predict(double latency_us = 0) const {
    EXPECT_EQ(joined(problems(schedule)), "");
    return simulate(schedule, node_of_one_nanosecond_per_byte(latency_us));
  }
};

TEST(AgentsWork, begins_when_the_agent_has_waited_and_holds_back_its_next_call) {
  RecordedWork s;
  const OpId kernel = s.computed(1000);
  const OpId wait = s.waits(AgentId{0}, 300, {kernel});
  const OpId next = s.computed(50);
  const Prediction t = s.predict();
  EXPECT_NEAR(in_microseconds(t.timeline.spans[wait.index()].end), 1300, 1e-6);
  EXPECT_SPAN(t, next, 1300, 1350);
}

TEST(AgentsWork, takes_its_time_where_there_is_nothing_to_wait_for) {
  RecordedWork s;
  s.waits(AgentId{0}, 120, {});
  s.waits(AgentId{0}, 30, {});
  const OpId next = s.computed(10);
  EXPECT_SPAN(s.predict(), next, 150, 160);
}

TEST(AgentsWork, holds_back_no_other_agent) {
  RecordedWork s;
  s.waits(AgentId{1}, 500, {});
  const OpId kernel = s.computed(10);
  const OpId after = s.waits(AgentId{1}, 0, {kernel});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, kernel, 0, 10);
  EXPECT_NEAR(in_microseconds(t.timeline.spans[after.index()].end), 500, 1e-6);
}

TEST(MeasuredCopy, takes_its_time_instead_of_that_of_the_profile) {
  for (const double measured : {400.0, 3000.0}) {
    RecordedWork s;
    const OpId in = s.moved(true, 1, measured);
    const OpId out = s.moved(false, 1, 0);
    s.schedule.ops[out.index()].after = {in};
    const Prediction t = s.predict();
    EXPECT_SPAN(t, in, 0, measured);
    EXPECT_SPAN(t, out, measured, measured + 1000);  // was not measured
  }
}

TEST(MeasuredCopy, contains_the_latency_also_where_it_is_shorter_than_that_of_the_profile) {
  for (const double measured : {4.0, 10.0, 400.0}) {
    RecordedWork s;
    const OpId in = s.moved(true, 1, measured);
    const Span span = s.predict(10).timeline.spans[in.index()];
    EXPECT_NEAR(in_microseconds(span.end), measured, 1e-6);
    EXPECT_LE(span.start, span.end);
  }
}

TEST(MeasuredCopy, of_pageable_memory_takes_its_time_and_blocks_its_agent) {
  RecordedWork s;
  const OpId in = s.moved(true, 1, 700, MemoryKind::pageable);
  const OpId next = s.computed(10);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, in, 0, 700);
  EXPECT_SPAN(t, next, 700, 710);
}

TEST(MeasuredCopy, becomes_slower_beside_the_opposite_direction_by_the_factor_of_the_profile) {
  // The factor is 2. The first copy takes 500 µs alone, and so 1000 µs beside the second one, which has moved half of
  // its first MB by then and needs 1.5 ms for the rest.
  RecordedWork s;
  const OpId in = s.moved(true, 1, 500);
  const OpId out = s.moved(false, 2, 0);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, in, 0, 1000);
  EXPECT_SPAN(t, out, 0, 1000 + 1500);
}

}  // namespace
}  // namespace shiplap
