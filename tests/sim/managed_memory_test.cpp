// What moves managed memory, and when its pages are where.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/sim/three_agents.hpp"

namespace shiplap {
namespace {

using namespace testing_sim;

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

TEST(ManagedMemory, is_not_prefetched_to_a_gpu_that_the_profile_does_not_know) {
  ThreeAgents s;
  s.prefetch({s.memory(MemoryKind::managed, 1000_B), 0_B, 1000_B}, Place::gpu(3));
  EXPECT_THROW(s.predict(), Unsupported);
}

}  // namespace
}  // namespace shiplap
