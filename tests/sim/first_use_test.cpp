#include <gtest/gtest.h>

#include "shiplap/sim/simulate.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

// Copies of 1 MB at 1 ms each, no latency, no gap; 3 µs for the first use of a queue.
Profile profile() {
  Profile p =
      paper_profile({.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
  p.links[0].first_uses = {{.size = 1_B, .cost = Interval<Seconds>::exact(microseconds(3))}};
  return p;
}

Seconds copies(std::uint32_t count, std::uint32_t queues) {
  Schedule s;
  const Bytes size{1'000'000};
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * count});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * count});
  for (std::uint32_t q = 0; q < queues; ++q) s.add_queue("q");
  for (std::uint32_t i = 0; i < count; ++i)
    s.add({.what = Copy{{host, size * i, size}, {gpu, size * i, size}}, .queue = QueueId{i % queues}, .after = {}});
  return simulate(s, profile(), {.held = true}).timeline.makespan;
}

TEST(FirstUse, costs_nothing_while_one_queue_feeds_the_engine) {
  EXPECT_NEAR(in_microseconds(copies(6, 1)), 6000, 1e-6);
}

TEST(FirstUse, charges_the_first_use_of_each_queue_but_the_first_copy_of_the_engine) {
  EXPECT_NEAR(in_microseconds(copies(6, 6)), 6000 + 5 * 3, 1e-6);
}

TEST(FirstUse, charges_nothing_more_for_a_queue_that_has_used_the_engine_before) {
  EXPECT_NEAR(in_microseconds(copies(6, 2)), 6000 + 3, 1e-6);
}

}  // namespace
}  // namespace shiplap
