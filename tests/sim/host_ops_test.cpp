// What agents perform or wait for themselves: pageable copies, host copies, host calls.
#include <gtest/gtest.h>

#include <functional>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/sim/three_agents.hpp"

namespace shiplap {
namespace {

using namespace testing_sim;

TEST(PageableCopy, blocks_its_agent_so_that_the_next_call_comes_after_its_end) {
  Profile p = simple_node();
  p.submission.copy = us(10);
  ThreeAgents blocked;
  const OpId pageable = blocked.to_device(first_agent, MemoryKind::pageable, mb);
  const OpId next = blocked.from_device(first_agent, MemoryKind::pinned, mb);
  const Prediction t = blocked.predict(p);
  EXPECT_SPAN(t, pageable, 0, 500);  // its time holds the call
  EXPECT_SPAN(t, next, 510, 1510);
  EXPECT_NEAR(in_microseconds(t.submission), 510, 1e-6);

  ThreeAgents free;  // the same from pinned memory
  const OpId pinned = free.to_device(first_agent, MemoryKind::pinned, mb);
  const OpId beside = free.from_device(first_agent, MemoryKind::pinned, mb);
  const Prediction u = free.predict(p);
  EXPECT_SPAN(u, pinned, 10, 1010);
  EXPECT_SPAN(u, beside, 20, 1020);
  EXPECT_NEAR(in_microseconds(u.submission), 20, 1e-6);
}

TEST(PageableCopy, takes_the_time_of_its_table) {
  ThreeAgents s;
  const OpId in = s.to_device(first_agent, MemoryKind::pageable, mb * 4);
  const OpId out = s.from_device(first_agent, MemoryKind::pageable, mb * 8);  // beyond the last row: in proportion
  const Prediction t = s.predict();
  EXPECT_SPAN(t, in, 0, 2000);
  EXPECT_SPAN(t, out, 2000, 2000 + 4800);
}

TEST(PageableCopy, of_two_agents_each_way_takes_the_time_of_both) {
  ThreeAgents s;
  const OpId in = s.to_device(first_agent, MemoryKind::pageable, mb);
  const OpId out = s.from_device(second_agent, MemoryKind::pageable, mb);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, in, 0, 900);
  EXPECT_SPAN(t, out, 0, 900);
}

TEST(PageableCopy, of_one_agent_each_way_takes_the_time_of_one_after_the_other) {
  ThreeAgents s;
  s.to_device(first_agent, MemoryKind::pageable, mb);
  s.from_device(first_agent, MemoryKind::pageable, mb);
  EXPECT_NEAR(in_microseconds(s.predict().timeline.makespan), 500 + 600, 1e-6);
}

TEST(PageableCopy, is_slower_only_while_the_other_way_is_busy) {
  // The second agent first fills its memory on the host: 2.5 MB at 10 GB/s, 250 µs. Then half of the first copy is
  // done. Its other half takes 450 µs beside the second copy, half of which is done then; the rest of that takes 300
  // µs.
  ThreeAgents s;
  const OpId in = s.to_device(first_agent, MemoryKind::pageable, mb);
  s.on_host(second_agent, Bytes{2'500'000});
  const OpId out = s.from_device(second_agent, MemoryKind::pageable, mb);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, in, 0, 700);
  EXPECT_SPAN(t, out, 250, 1000);
}

TEST(HostCopy, of_one_agent_come_one_after_the_other_at_the_rate_of_one_thread) {
  ThreeAgents s;
  const OpId one = s.on_host(first_agent, mb * 8);
  const OpId two = s.on_host(first_agent, mb * 4);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, one, 0, 800);
  EXPECT_SPAN(t, two, 800, 1200);
  EXPECT_EQ(t.timeline.spans[0].engine, Engine::host);
  EXPECT_NEAR(in_microseconds(t.timeline.makespan), 1200, 1e-6);
}

TEST(HostCopy, of_two_agents_share_what_two_threads_reach_until_one_ends) {
  ThreeAgents s;
  const OpId shorter = s.on_host(first_agent, mb * 4);
  const OpId longer = s.on_host(second_agent, mb * 8);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, shorter, 0, 500);       // at 8 GB/s
  EXPECT_SPAN(t, longer, 0, 500 + 400);  // 4 MB at 8 GB/s, 4 MB at 10 GB/s
}

TEST(HostCopy, of_three_agents_share_a_rate_between_those_of_two_and_of_four) {
  ThreeAgents s;
  for (const AgentId agent : {first_agent, second_agent, third_agent}) s.on_host(agent, mb * 6);
  const Prediction t = s.predict();
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_SPAN(t, OpId{i}, 0, 1000);  // 18 GB/s together
}

TEST(HostCopy, of_another_agent_ends_before_an_op_that_depends_on_it_starts) {
  ThreeAgents s;
  const OpId staged = s.on_host(second_agent, mb * 8);
  const OpId copied = s.to_device(first_agent, MemoryKind::pinned, mb, {staged});
  const OpId other = s.from_device(third_agent, MemoryKind::pinned, mb);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, copied, 800, 1800);
  EXPECT_SPAN(t, other, 0, 1000);
}

TEST(HostCopy, holds_back_everything_that_its_agent_submits_later) {
  ThreeAgents s;
  s.on_host(first_agent, mb * 8);
  const OpId independent = s.to_device(first_agent, MemoryKind::pinned, mb);
  EXPECT_SPAN(s.predict(), independent, 800, 1800);
}

TEST(HostCopy, starts_when_the_op_of_a_stream_that_it_waits_for_has_ended) {
  ThreeAgents s;
  const OpId out = s.from_device(first_agent, MemoryKind::pinned, mb);
  const OpId staged = s.on_host(second_agent, mb, {out});
  const OpId later = s.on_host(second_agent, mb);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, staged, 1000, 1100);
  EXPECT_SPAN(t, later, 1100, 1200);
}

TEST(HostCall, takes_the_time_of_its_table) {
  using Kind = HostCall::Kind;
  const auto time = [](Kind kind, MemoryKind memory, Bytes size) {
    ThreeAgents s;
    const Region all{s.memory(memory, size), 0_B, size};
    if (kind == Kind::release) s.call(first_agent, Kind::allocate, all);
    if (kind == Kind::unpin) s.call(first_agent, Kind::pin, all);
    const OpId op = s.call(first_agent, kind, all);
    const Span span = s.predict().timeline.spans.at(op.index());
    return in_microseconds(span.end - span.start);
  };
  EXPECT_NEAR(time(Kind::pin, MemoryKind::pageable, 1000_B), 10, 1e-6);
  EXPECT_NEAR(time(Kind::pin, MemoryKind::pageable, 100_B), 10, 1e-6);
  // A hundred times the bytes in four times the time: ten times the bytes in twice the time.
  EXPECT_NEAR(time(Kind::pin, MemoryKind::pageable, 10'000_B), 20, 1e-6);
  EXPECT_NEAR(time(Kind::pin, MemoryKind::pageable, 100'000_B), 40, 1e-6);
  EXPECT_NEAR(time(Kind::pin, MemoryKind::pageable, 300'000_B), 120, 1e-6);
  EXPECT_NEAR(time(Kind::unpin, MemoryKind::pageable, 1000_B), 3, 1e-6);
  EXPECT_NEAR(time(Kind::flush, MemoryKind::pinned, 1000_B), 7, 1e-6);
  EXPECT_NEAR(time(Kind::allocate, MemoryKind::driver_pinned, 1000_B), 110, 1e-6);
  EXPECT_NEAR(time(Kind::release, MemoryKind::driver_pinned, 1000_B), 120, 1e-6);
  EXPECT_NEAR(time(Kind::allocate, MemoryKind::device, 1000_B), 130, 1e-6);
}

TEST(HostCall, of_two_agents_do_not_slow_each_other_down) {
  ThreeAgents s;
  const OpId one = s.call(first_agent, HostCall::Kind::flush, MemoryKind::pinned, 1000_B);
  const OpId two = s.call(second_agent, HostCall::Kind::flush, MemoryKind::pinned, 1000_B);
  const OpId copy = s.on_host(third_agent, mb);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, one, 0, 7);
  EXPECT_SPAN(t, two, 0, 7);
  EXPECT_SPAN(t, copy, 0, 100);
}

TEST(HostCall, comes_before_a_copy_of_the_memory_that_it_pins) {
  ThreeAgents s;
  const BufferId x = s.memory(MemoryKind::pageable, 1000_B);
  const OpId pin = s.call(first_agent, HostCall::Kind::pin, {x, 0_B, 1000_B});
  const OpId copied =
      s.host_copy(second_agent, {x, 0_B, 1000_B}, {s.memory(MemoryKind::pinned, 1000_B), 0_B, 1000_B}, {pin});
  EXPECT_SPAN(s.predict(), copied, 10, 10.1);
}

TEST(HostCall, makes_a_copy_by_the_gpu_of_what_it_pins_one_that_there_are_no_figures_for) {
  ThreeAgents s;
  const BufferId x = s.memory(MemoryKind::pageable, 1000_B);
  const OpId pin = s.call(first_agent, HostCall::Kind::pin, {x, 0_B, 1000_B});
  Op copy{.what = Copy{.from = {x, 0_B, 1000_B}, .to = {s.memory(MemoryKind::device, 1000_B), 0_B, 1000_B}},
          .stream = s.schedule.add_stream("copies"),
          .after = {pin}};
  s.schedule.add(copy);
  EXPECT_THROW(s.predict(), Unsupported);
}

// x is copied by the host into a ring of pinned slots, piece by piece, and from there by the copy engine.
Seconds staged(std::uint32_t pieces, std::uint32_t slots, double host_gb_per_second) {
  Profile p = simple_node();
  p.host->copy = {rate(1, host_gb_per_second)};
  ThreeAgents s;
  const BufferId x = s.memory(MemoryKind::pageable, mb * pieces);
  const BufferId ring = s.memory(MemoryKind::pinned, mb * slots);
  const BufferId d = s.memory(MemoryKind::device, mb * pieces);
  std::vector<OpId> copies;
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const Region slot{ring, mb * (i % slots), mb};
    std::vector<OpId> slot_is_free;
    if (i >= slots) slot_is_free = {copies[i - slots]};
    const OpId filled = s.host_copy(first_agent, {x, mb * i, mb}, slot, slot_is_free, i);
    copies.push_back(s.copy(s.in, slot, {d, mb * i, mb}, {filled}, i));
  }
  return s.predict(p).timeline.makespan;
}

TEST(StagedCopy, through_a_ring_is_as_long_as_the_slower_of_its_two_stages_and_one_piece_of_the_other) {
  // 100 µs for the host and 1000 µs for the engine: the first piece is filled, then the engine never stops.
  EXPECT_NEAR(in_microseconds(staged(4, 2, 10)), 100 + 4 * 1000, 1e-6);
  // 2000 µs for the host and 1000 µs for the engine.
  EXPECT_NEAR(in_microseconds(staged(4, 2, 0.5)), 4 * 2000 + 1000, 1e-6);
}

TEST(StagedCopy, through_a_single_slot_takes_both_stages_one_after_the_other) {
  EXPECT_NEAR(in_microseconds(staged(4, 1, 10)), 4 * (100 + 1000), 1e-6);
  EXPECT_NEAR(in_microseconds(staged(4, 1, 0.5)), 4 * (2000 + 1000), 1e-6);
}

TEST(StagedCopy, goes_at_the_rate_of_its_rings_and_a_copy_that_no_engine_takes_part_in_at_that_of_memory) {
  Profile p = simple_node();
  p.host->copy = {rate(1, 1)};
  const auto row = [](Bytes rings, double gb_per_second) {
    return RateThroughRings{
        .threads = 1, .rings = rings, .rate = Interval<Bandwidth>::exact(gigabytes_per_second(gb_per_second))};
  };
  p.host->staging = {row(mb, 4), row(mb * 4, 2)};
  const auto through = [&](std::uint64_t slots, bool engine) {
    ThreeAgents s;
    const BufferId x = s.memory(MemoryKind::pageable, mb);
    const BufferId ring = s.memory(MemoryKind::pinned, mb * slots);
    const BufferId d = s.memory(MemoryKind::device, mb);
    const OpId filled = s.host_copy(first_agent, {x, 0_B, mb}, {ring, 0_B, mb}, {}, 0);
    if (engine) s.copy(s.in, {ring, 0_B, mb}, {d, 0_B, mb}, {filled}, 0);
    const Timeline timeline = s.predict(p).timeline;
    return in_microseconds(timeline.spans[filled.index()].end - timeline.spans[filled.index()].start);
  };
  EXPECT_NEAR(through(1, true), 250, 1e-6);
  EXPECT_NEAR(through(2, true), 1000.0 / 3, 1e-6);  // 1, 2, 4 MB: half of the way
  EXPECT_NEAR(through(4, true), 500, 1e-6);
  EXPECT_NEAR(through(4, false), 1000, 1e-6);
}

TEST(StagedCopy, is_read_by_the_engine_more_slowly_while_the_caches_hold_it_and_written_back_as_ever) {
  Profile p = simple_node();
  const auto engine_time = [&](bool to_device) {
    ThreeAgents s;
    const BufferId x = s.memory(MemoryKind::pageable, mb);
    const BufferId ring = s.memory(MemoryKind::pinned, mb);
    const BufferId d = s.memory(MemoryKind::device, mb);
    const Region all{ring, 0_B, mb};
    OpId copy;
    if (to_device) {
      copy = s.copy(s.in, all, {d, 0_B, mb}, {s.host_copy(first_agent, {x, 0_B, mb}, all, {}, 0)}, 0);
    } else {
      copy = s.copy(s.out, {d, 0_B, mb}, all, {}, 0);
      s.host_copy(first_agent, all, {x, 0_B, mb}, {copy}, 0);
    }
    const Span span = s.predict(p).timeline.spans.at(copy.index());
    return in_microseconds(span.end - span.start);
  };
  const double in = engine_time(true);
  const double out = engine_time(false);
  p.host->written = {{mb / 2, Interval<Seconds>::exact(microseconds(100))},
                     {mb * 2, Interval<Seconds>::exact(microseconds(400))}};
  EXPECT_NEAR(engine_time(true) - in, 200, 1e-6);
  EXPECT_NEAR(engine_time(false), out, 1e-9);
}

TEST(StagedCopy, of_two_agents_shares_the_hosts_memory_and_the_copy_engine) {
  // Both fill a piece of 1 MB at 8 GB/s, which takes 125 µs; the copies follow each other.
  ThreeAgents s;
  const OpId a = s.on_host(first_agent, mb);
  const OpId b = s.on_host(second_agent, mb);
  const OpId copy_a = s.to_device(first_agent, MemoryKind::pinned, mb, {a});
  const OpId copy_b = s.to_device(second_agent, MemoryKind::pinned, mb, {b});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, a, 0, 125);
  EXPECT_SPAN(t, b, 0, 125);
  EXPECT_SPAN(t, copy_a, 125, 1125);
  EXPECT_SPAN(t, copy_b, 1125, 2125);
}

TEST(HeldSimulation, is_refused_where_an_agent_waits_for_an_op) {
  const std::function<void(ThreeAgents&)> uses[] = {
      [](ThreeAgents& s) { s.on_host(first_agent, mb); },
      [](ThreeAgents& s) { s.to_device(first_agent, MemoryKind::pageable, mb); },
      [](ThreeAgents& s) { s.from_device(first_agent, MemoryKind::pageable, mb); },
      [](ThreeAgents& s) { s.call(first_agent, HostCall::Kind::flush, MemoryKind::pinned, 1000_B); },
      [](ThreeAgents& s) {
        s.prefetch({s.memory(MemoryKind::managed, mb), 0_B, mb}, Place::gpu());
      },
  };
  for (const auto& use : uses) {
    ThreeAgents s;
    use(s);
    EXPECT_NO_THROW(simulate(s.schedule, simple_node()));
    EXPECT_THROW(simulate(s.schedule, simple_node(), {.held = true}), Unsupported);
  }
  ThreeAgents pinned;
  pinned.to_device(first_agent, MemoryKind::pinned, mb);
  EXPECT_NO_THROW(simulate(pinned.schedule, simple_node(), {.held = true}));
}

}  // namespace
}  // namespace shiplap
