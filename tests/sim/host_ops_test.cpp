// What agents perform or wait for themselves: pageable copies, host copies, host calls, managed memory.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

constexpr Bytes mb{1'000'000};
constexpr AgentId first_agent{0};
constexpr AgentId second_agent{1};
constexpr AgentId third_agent{2};

TimeAt row(Bytes size, double microseconds_) { return {.size = size, .time = us(microseconds_)}; }
RateOfThreads rate(unsigned threads, double gb_per_second) {
  return {.threads = threads, .rate = Interval<Bandwidth>::exact(gigabytes_per_second(gb_per_second))};
}

// Pinned copies of 1 MB at 1 ms each, no latency, no gap, and nothing else takes time but what is set here.
Profile simple_node() {
  Profile p =
      paper_profile({.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
  p.name = "node";
  p.links[0].pageable = PageableModel{
      .h2d = {row(mb, 500), row(mb * 4, 2000)}, .d2h = {row(mb, 600), row(mb * 4, 2400)}, .both = {row(mb, 900)}};
  p.links[0].managed = ManagedModel{.prefetch_h2d = {row(mb, 50), row(mb * 3, 130)},
                                    .prefetch_d2h = {row(mb, 70), row(mb * 3, 170)},
                                    .demand_h2d = {row(mb, 100), row(mb * 4, 200)},
                                    .demand_d2h = {rate(1, 5), rate(2, 8)}};
  p.host = HostModel{.copy = {rate(1, 10), rate(2, 16), rate(4, 20)},
                     .calls = {{"pin", {row(1000_B, 10), row(100'000_B, 40)}},
                               {"unpin", {row(1000_B, 3)}},
                               {"flush", {row(1000_B, 7)}},
                               {"allocate driver-pinned", {row(1000_B, 110)}},
                               {"release driver-pinned", {row(1000_B, 120)}},
                               {"allocate device", {row(1000_B, 130)}}}};
  return p;
}

// Three agents, a stream for each direction and one for kernels; every op has memory of its own where nothing else is
// said.
struct ThreeAgents : Builder {
  StreamId in = schedule.add_stream("in");
  StreamId out = schedule.add_stream("out");
  StreamId compute = schedule.add_stream("compute");
  ThreeAgents() {
    schedule.agents = {{"first"}, {"second"}, {"third"}};
    schedule.add_kernel("k");
  }
  BufferId memory(MemoryKind kind, Bytes size) {
    const Place place = kind == MemoryKind::device ? Place::gpu() : Place::host();
    return schedule.add_buffer(buffer("m", place, kind, size));
  }
  OpId to_device(AgentId agent, MemoryKind kind, Bytes size, std::vector<OpId> after = {}) {
    copy(in, {memory(kind, size), 0_B, size}, {memory(MemoryKind::device, size), 0_B, size}, std::move(after));
    return by(agent);
  }
  OpId from_device(AgentId agent, MemoryKind kind, Bytes size, std::vector<OpId> after = {}) {
    copy(out, {memory(MemoryKind::device, size), 0_B, size}, {memory(kind, size), 0_B, size}, std::move(after));
    return by(agent);
  }
  OpId on_host(AgentId agent, Bytes size, std::vector<OpId> after = {}) {
    return host_copy(agent, {memory(MemoryKind::pageable, size), 0_B, size},
                     {memory(MemoryKind::pinned, size), 0_B, size}, std::move(after));
  }
  OpId call(AgentId agent, HostCall::Kind kind, Region region, std::vector<OpId> after = {}) {
    add(HostCall{.kind = kind, .region = region}, {}, std::move(after), 0);
    return by(agent);
  }
  OpId call(AgentId agent, HostCall::Kind kind, MemoryKind of, Bytes size) {
    return call(agent, kind, {memory(of, size), 0_B, size});
  }
  OpId prefetch(Region region, Place to, std::vector<OpId> after = {}) {
    return add(Prefetch{.region = region, .to = to}, in, std::move(after), 0);
  }
  // A kernel of 1 ms.
  OpId work(std::vector<Access> operands, std::vector<OpId> after = {}) {
    const OpId id = kernel(compute, std::move(operands), std::move(after));
    std::get<Kernel>(schedule.ops.back().what).work = milliseconds(1);
    return id;
  }
  Prediction predict(const Profile& profile) const {
    EXPECT_EQ(joined(problems(schedule)), "");
    return simulate(schedule, profile);
  }
  Prediction predict() const { return predict(simple_node()); }

 private:
  OpId by(AgentId agent) {
    schedule.ops.back().agent = agent;
    return OpId{static_cast<std::uint32_t>(schedule.ops.size() - 1)};
  }
};

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

TEST(ManagedMemory, is_not_prefetched_to_a_gpu_that_the_profile_does_not_know) {
  ThreeAgents s;
  s.prefetch({s.memory(MemoryKind::managed, 1000_B), 0_B, 1000_B}, Place::gpu(3));
  EXPECT_THROW(s.predict(), Unsupported);
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

// A buffer of 4 MB of managed memory, on the host when the schedule starts.
struct ManagedBuffer : ThreeAgents {
  static constexpr Bytes size = mb * 4;
  BufferId x = memory(MemoryKind::managed, size);
  Region all{x, 0_B, size};
};

TEST(ManagedMemory, costs_a_kernel_nothing_where_all_its_pages_were_prefetched) {
  ManagedBuffer s;
  const OpId one = s.prefetch({s.x, 0_B, mb * 3}, Place::gpu());
  const OpId two = s.prefetch({s.x, mb * 3, mb}, Place::gpu(), {one});
  const OpId kernel = s.work({write(s.all)}, {two});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, one, 0, 130);
  EXPECT_SPAN(t, two, 130, 180);
  EXPECT_SPAN(t, kernel, 180, 1180);
}

TEST(ManagedMemory, costs_a_kernel_the_demand_of_exactly_the_bytes_that_are_on_the_host) {
  ManagedBuffer none;
  const OpId alone = none.work({read(none.all)});
  EXPECT_SPAN(none.predict(), alone, 0, 1200);  // all 4 MB

  ManagedBuffer most;
  const OpId prefetched = most.prefetch({most.x, mb, mb * 3}, Place::gpu());
  const OpId kernel = most.work({read(most.all)}, {prefetched});
  EXPECT_SPAN(most.predict(), kernel, 130, 130 + 1100);  // 1 MB

  ManagedBuffer part;
  const OpId of_part = part.work({read({part.x, mb, mb})});
  const OpId of_all = part.work({read(part.all)});
  const Prediction t = part.predict();
  EXPECT_SPAN(t, of_part, 0, 1100);
  // The other 3 MB: 1 MB in 100 µs and 4 MB in 200 µs is the square root of the size.
  EXPECT_SPAN(t, of_all, 1100, 2100 + 100 * std::sqrt(3.0));
}

TEST(ManagedMemory, counts_bytes_that_two_operands_share_once) {
  ManagedBuffer s;
  const OpId kernel = s.work({read({s.x, 0_B, mb * 3}), read({s.x, mb, mb * 3})});
  EXPECT_SPAN(s.predict(), kernel, 0, 1200);
}

TEST(ManagedMemory, stays_on_the_gpu_from_one_kernel_to_the_next) {
  ManagedBuffer s;
  s.work({write(s.all)});
  const OpId again = s.work({write(s.all)});
  EXPECT_SPAN(s.predict(), again, 1200, 2200);
}

TEST(ManagedMemory, that_starts_on_the_gpu_costs_a_kernel_nothing) {
  ThreeAgents s;
  const BufferId x = s.schedule.add_buffer(buffer("x", Place::gpu(), MemoryKind::managed, mb));
  const OpId kernel = s.work({write({x, 0_B, mb})});
  EXPECT_SPAN(s.predict(), kernel, 0, 1000);
}

TEST(ManagedMemory, comes_back_when_the_host_touches_it_and_then_costs_the_next_kernel_again) {
  ManagedBuffer s;
  const OpId kernel = s.work({write(s.all)});
  const OpId touch = s.call(first_agent, HostCall::Kind::touch, s.all, {kernel});
  const OpId again = s.call(first_agent, HostCall::Kind::touch, s.all);
  const OpId next = s.work({write(s.all)}, {again});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, kernel, 0, 1200);
  EXPECT_SPAN(t, touch, 1200, 2000);  // 4 MB at 5 GB/s
  EXPECT_SPAN(t, again, 2000, 2000);
  EXPECT_SPAN(t, next, 2000, 3200);
}

TEST(ManagedMemory, comes_back_at_the_rate_of_as_many_threads_as_touch_it) {
  ManagedBuffer s;
  const OpId kernel = s.work({write(s.all)});
  const OpId low = s.call(first_agent, HostCall::Kind::touch, {s.x, 0_B, mb}, {kernel});
  const OpId high = s.call(second_agent, HostCall::Kind::touch, {s.x, mb, mb * 3}, {kernel});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, low, 1200, 1450);         // 1 MB at 4 GB/s
  EXPECT_SPAN(t, high, 1200, 1450 + 400);  // 1 MB at 4 GB/s, 2 MB at 5 GB/s
}

TEST(ManagedMemory, is_touched_without_slowing_down_host_copies) {
  ManagedBuffer s;
  const OpId kernel = s.work({write(s.all)});
  const OpId touch = s.call(first_agent, HostCall::Kind::touch, s.all, {kernel});
  const OpId copied = s.on_host(second_agent, mb * 4, {kernel});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, touch, 1200, 2000);
  EXPECT_SPAN(t, copied, 1200, 1600);
}

TEST(ManagedMemory, is_prefetched_back_to_the_host_by_the_engine_of_that_direction) {
  ManagedBuffer s;
  const OpId kernel = s.work({write(s.all)});
  const OpId back = s.prefetch({s.x, 0_B, mb * 3}, Place::host(), {kernel});
  const OpId touch = s.call(first_agent, HostCall::Kind::touch, s.all, {back});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, back, 1200, 1370);
  EXPECT_EQ(t.timeline.spans[back.index()].engine, Engine::copy_d2h);
  EXPECT_SPAN(t, touch, 1370, 1570);  // the last 1 MB at 5 GB/s
}

TEST(ManagedMemory, that_is_there_already_is_prefetched_in_no_time) {
  ManagedBuffer s;
  const OpId one = s.prefetch({s.x, 0_B, mb * 3}, Place::gpu());
  const OpId two = s.prefetch({s.x, mb, mb}, Place::gpu());
  const OpId home = s.prefetch({s.x, mb * 3, mb}, Place::host(), {two});
  const Prediction t = s.predict();
  EXPECT_SPAN(t, one, 0, 130);
  EXPECT_SPAN(t, two, 130, 130);
  EXPECT_SPAN(t, home, 130, 130);
}

TEST(ManagedMemory, moves_for_one_prefetch_after_the_other_whichever_way) {
  ThreeAgents s;
  const BufferId a = s.memory(MemoryKind::managed, mb);
  const BufferId b = s.schedule.add_buffer(buffer("b", Place::gpu(), MemoryKind::managed, mb));
  const Region all_a{a, 0_B, mb};
  const Region all_b{b, 0_B, mb};
  const auto end_of = [](ThreeAgents& scene, std::initializer_list<OpId> ops) {
    const Timeline t = scene.predict().timeline;
    Seconds end{0};
    for (const OpId op : ops) end = std::max(end, t.spans.at(op.index()).end);
    return in_microseconds(end);
  };
  ThreeAgents in = s;
  ThreeAgents out = s;
  const double to_gpu = end_of(in, {in.prefetch(all_a, Place::gpu())});
  const double to_host = end_of(out, {out.prefetch(all_b, Place::host())});
  const OpId first = s.prefetch(all_a, Place::gpu());
  const OpId second = s.add(Prefetch{.region = all_b, .to = Place::host()}, s.out, {}, 0);  // another stream
  EXPECT_NEAR(end_of(s, {first, second}), to_gpu + to_host, 5);
  EXPECT_GT(std::min(to_gpu, to_host), 40);
}

TEST(ManagedMemory, copied_by_a_host_thread_is_refused_for_want_of_figures) {
  ManagedBuffer s;
  const OpId kernel = s.work({write(s.all)});
  s.host_copy(first_agent, s.all, {s.memory(MemoryKind::pinned, ManagedBuffer::size), 0_B, ManagedBuffer::size},
              {kernel});
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

// The message of what is thrown, which must be Unsupported.
std::string unsupported(const std::function<void()>& what) {
  try {
    what();
  } catch (const Unsupported& error) {
    return error.what();
  } catch (const Error& error) {
    return std::string("an Error, but not Unsupported: ") + error.what();
  }
  return "nothing thrown";
}

struct Gap {
  const char* name;
  std::function<void(Profile&)> remove;
  std::function<void(ThreeAgents&)> use;
};

TEST(MissingFigures, are_unsupported_and_the_profile_is_named) {
  const auto copy = [](ThreeAgents& s) { s.on_host(first_agent, mb); };
  const auto pageable_in = [](ThreeAgents& s) { s.to_device(first_agent, MemoryKind::pageable, mb); };
  const auto pageable_out = [](ThreeAgents& s) { s.from_device(first_agent, MemoryKind::pageable, mb); };
  const auto flush = [](ThreeAgents& s) { s.call(first_agent, HostCall::Kind::flush, MemoryKind::pinned, 1000_B); };
  const auto demand = [](ThreeAgents& s) { s.work({read({s.memory(MemoryKind::managed, mb), 0_B, mb})}); };
  const auto prefetch = [](ThreeAgents& s) { s.prefetch({s.memory(MemoryKind::managed, mb), 0_B, mb}, Place::gpu()); };
  const auto touch = [](ThreeAgents& s) {
    const BufferId x = s.schedule.add_buffer(buffer("x", Place::gpu(), MemoryKind::managed, mb));
    s.call(first_agent, HostCall::Kind::touch, {x, 0_B, mb});
  };
  const Gap gaps[] = {
      {"host, copy", [](Profile& p) { p.host.reset(); }, copy},
      {"host, call", [](Profile& p) { p.host.reset(); }, flush},
      {"host.copy", [](Profile& p) { p.host->copy.clear(); }, copy},
      {"host.calls", [](Profile& p) { p.host->calls.erase("flush"); }, flush},
      {"pageable", [](Profile& p) { p.links[0].pageable.reset(); }, pageable_in},
      {"managed, kernel", [](Profile& p) { p.links[0].managed.reset(); }, demand},
      {"managed, prefetch", [](Profile& p) { p.links[0].managed.reset(); }, prefetch},
      {"managed, touch", [](Profile& p) { p.links[0].managed.reset(); }, touch},
      // A table without rows, which a file may have when it says why.
      {"pageable.h2d", [](Profile& p) { p.links[0].pageable->h2d.clear(); }, pageable_in},
      {"pageable.d2h", [](Profile& p) { p.links[0].pageable->d2h.clear(); }, pageable_out},
      {"managed.demand_h2d", [](Profile& p) { p.links[0].managed->demand_h2d.clear(); }, demand},
      {"managed.prefetch_h2d", [](Profile& p) { p.links[0].managed->prefetch_h2d.clear(); }, prefetch},
      {"managed.demand_d2h", [](Profile& p) { p.links[0].managed->demand_d2h.clear(); }, touch},
  };
  for (const Gap& gap : gaps) {
    ThreeAgents s;
    gap.use(s);
    EXPECT_NO_THROW(simulate(s.schedule, simple_node())) << gap.name;
    Profile p = simple_node();
    gap.remove(p);
    const std::string text = unsupported([&] { simulate(s.schedule, p); });
    EXPECT_EQ(text.find("profile node has no figures for"), 0u) << gap.name << ": " << text;
  }
}

TEST(MissingFigures, of_an_unused_way_do_not_matter) {
  Profile p = simple_node();
  p.host.reset();
  p.links[0].pageable.reset();
  p.links[0].managed.reset();
  ThreeAgents s;
  s.to_device(first_agent, MemoryKind::pinned, mb);
  EXPECT_NEAR(in_microseconds(s.predict(p).timeline.makespan), 1000, 1e-6);
  // Managed memory that does not have to move needs no figures.
  ThreeAgents managed;
  managed.work({read({managed.schedule.add_buffer(buffer("x", Place::gpu(), MemoryKind::managed, mb)), 0_B, mb})});
  EXPECT_NEAR(in_microseconds(managed.predict(p).timeline.makespan), 1000, 1e-6);
}

TEST(MissingFigures, of_pageable_copies_both_ways_are_taken_as_those_of_one_way) {
  Profile p = simple_node();
  p.links[0].pageable->both.clear();
  ThreeAgents s;
  const OpId in = s.to_device(first_agent, MemoryKind::pageable, mb);
  const OpId out = s.from_device(second_agent, MemoryKind::pageable, mb);
  const Prediction t = s.predict(p);
  EXPECT_SPAN(t, in, 0, 500);
  EXPECT_SPAN(t, out, 0, 600);
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

// Copies inside the memory of a GPU and between GPUs have an engine of their own.
struct DeviceCopy : ThreeAgents {
  OpId between(Place from, Place to, StreamId stream, std::vector<OpId> after = {}) {
    const BufferId a = schedule.add_buffer(buffer("a", from, MemoryKind::device, mb));
    const BufferId b = schedule.add_buffer(buffer("b", to, MemoryKind::device, mb));
    return copy(stream, {a, 0_B, mb}, {b, 0_B, mb}, std::move(after));
  }
};

Profile two_gpus() {
  Profile p = simple_node();
  p.gpus[0].copy_bandwidth = Interval<Bandwidth>::exact(gigabytes_per_second(100));
  p.gpus[0].launch_latency = us(2);
  p.gpus.push_back(p.gpus[0]);
  p.peers = {{.from = 0, .to = 1, .direct = {row(mb, 25)}, .staged = {row(mb, 95)}},
             {.from = 1, .to = 0, .direct = {}, .staged = {row(mb, 105)}}};
  return p;
}

TEST(DeviceCopies, inside_a_gpu_take_its_copy_bandwidth_beside_copies_over_the_link) {
  DeviceCopy s;
  const OpId inside = s.between(Place::gpu(), Place::gpu(), s.compute);
  const OpId in = s.to_device(first_agent, MemoryKind::pinned, mb);
  const Prediction t = s.predict(two_gpus());
  EXPECT_SPAN(t, inside, 2, 12);
  EXPECT_EQ(t.timeline.spans[inside.index()].engine, Engine::copy_d2d);
  EXPECT_SPAN(t, in, 0, 1000);
}

TEST(DeviceCopies, between_gpus_are_direct_only_with_peer_access_and_where_they_can) {
  for (const bool peer_access : {true, false}) {
    DeviceCopy there;
    there.schedule.peer_access = peer_access;
    const OpId forth = there.between(Place::gpu(0), Place::gpu(1), there.compute);
    EXPECT_SPAN(there.predict(two_gpus()), forth, 0, peer_access ? 25 : 95);
    DeviceCopy back;
    back.schedule.peer_access = peer_access;
    const OpId returned = back.between(Place::gpu(1), Place::gpu(0), back.compute);
    EXPECT_SPAN(back.predict(two_gpus()), returned, 0, 105);
  }
}

TEST(DeviceCopies, go_on_behind_kernels_that_hold_them_back) {
  // With implicit synchronisation a copy that is not to the device waits for the kernels before it, on any engine.
  for (const ImplicitSync sync : {ImplicitSync::until_ended, ImplicitSync::until_started}) {
    Profile p = two_gpus();
    p.gpus[0].launch_latency = us(0);
    p.gpus[0].implicit_sync = sync;
    DeviceCopy s;
    s.work({});
    const OpId behind = s.between(Place::gpu(), Place::gpu(), s.in);
    const double start = sync == ImplicitSync::until_ended ? 1000 : 0;
    EXPECT_SPAN(s.predict(p), behind, start, start + 10);
  }
}

TEST(DeviceCopies, without_figures_are_unsupported_and_the_profile_is_named) {
  Profile p = two_gpus();
  p.gpus[0].copy_bandwidth.reset();
  p.peers.clear();
  for (const Place to : {Place::gpu(0), Place::gpu(1)}) {
    DeviceCopy s;
    s.between(Place::gpu(0), to, s.compute);
    const std::string text = unsupported([&] { simulate(s.schedule, p); });
    EXPECT_EQ(text.find("profile node has no figures for copies"), 0u) << text;
  }
}

}  // namespace
}  // namespace shiplap
