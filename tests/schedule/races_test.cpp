#include "shiplap/schedule/races.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/schedule/builder.hpp"
#include "tests/support/cpu_time.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

TEST(Races, only_the_overlapping_bytes_of_two_accesses_are_named) {
  Builder b;
  const BufferId d = b.device("d", 100_B);
  b.schedule.add_kernel("k");
  const StreamId one = b.schedule.add_stream("one");
  const StreamId two = b.schedule.add_stream("two");
  b.kernel(one, {write({d, 0_B, 60_B})});
  b.kernel(one, {read({d, 20_B, 10_B})});  // splits the written stretch without changing who wrote it
  b.kernel(two, {read({d, 10_B, 80_B})});
  EXPECT_EQ(problems(b.schedule).size(), 1u);
  EXPECT_REFUSED(b.schedule, "reads bytes [10, 60) of buffer d, which kernel k of chunk 0 (op 0) writes");
}

TEST(Races, a_write_after_an_unordered_read_is_a_race_and_two_reads_are_none) {
  Builder b;
  const BufferId d = b.device("d", 8_B);
  b.schedule.add_kernel("k");
  const StreamId one = b.schedule.add_stream("one");
  const StreamId two = b.schedule.add_stream("two");
  b.kernel(one, {read({d, 0_B, 8_B})});
  b.kernel(two, {read({d, 0_B, 8_B})});
  EXPECT_TRUE(problems(b.schedule).empty());
  b.kernel(two, {write({d, 4_B, 4_B})});
  EXPECT_REFUSED(b.schedule,
                 "kernel k of chunk 0 (op 2) writes bytes [4, 8) of buffer d, which kernel k of chunk 0 "
                 "(op 0) reads");
}

TEST(Races, neighbouring_bytes_do_not_conflict) {
  Builder b;
  const BufferId d = b.device("d", 8_B);
  b.schedule.add_kernel("k");
  for (std::uint64_t i = 0; i < 8; ++i) b.kernel(b.schedule.add_stream("q"), {write({d, Bytes{i}, 1_B})});
  EXPECT_TRUE(problems(b.schedule).empty());
}

TEST(Races, order_passes_through_streams_and_dependencies_in_turn) {
  Builder b;
  const BufferId d = b.device("d", 8_B);
  const BufferId e = b.device("e", 8_B);
  b.schedule.add_kernel("k");
  const StreamId one = b.schedule.add_stream("one");
  const StreamId two = b.schedule.add_stream("two");
  b.kernel(one, {write({d, 0_B, 8_B})});
  const OpId later = b.kernel(one, {});            // after op 0 by its stream
  b.kernel(two, {write({e, 0_B, 8_B})}, {later});  // after op 1 by dependency
  b.kernel(two, {read({d, 0_B, 8_B})});            // after op 2 by its stream, so after op 0
  EXPECT_EQ(joined(problems(b.schedule)), "");
}

TEST(Races, agent_order_does_not_order_ops_of_a_device) {
  Builder b;
  const BufferId d = b.device("d", 8_B);
  b.schedule.add_kernel("k");
  b.kernel(b.schedule.add_stream("one"), {write({d, 0_B, 8_B})});
  b.kernel(b.schedule.add_stream("two"), {write({d, 0_B, 8_B})});  // the same agent submits both
  EXPECT_EQ(problems(b.schedule).size(), 1u);
}

TEST(Races, host_copies_of_one_agent_are_ordered_and_those_of_two_are_not) {
  Builder b;
  const BufferId x = b.host("x", 8_B);
  const BufferId ring = b.host("ring", 8_B);
  const BufferId z = b.host("z", 8_B);
  b.schedule.agents = {{"main"}, {"worker"}};
  const Region whole{ring, 0_B, 8_B};
  b.host_copy({0}, {x, 0_B, 8_B}, whole);
  b.host_copy({0}, whole, {z, 0_B, 8_B});
  EXPECT_TRUE(problems(b.schedule).empty());
  b.schedule.ops[1].agent = {1};
  EXPECT_REFUSED(b.schedule,
                 "host copy of chunk 0 (op 1) reads bytes [0, 8) of buffer ring, which host copy of chunk 0 "
                 "(op 0) writes");
  b.schedule.ops[1].after = {{0}};
  EXPECT_TRUE(problems(b.schedule).empty());
}

TEST(Races, a_host_copy_and_the_copy_of_its_result_need_a_dependency) {
  Builder b;
  const BufferId x = b.host("x", 8_B);
  const BufferId ring = b.host("ring", 8_B);
  const BufferId d = b.device("d", 8_B);
  const StreamId stream = b.schedule.add_stream("in");
  const OpId staged = b.host_copy({0}, {x, 0_B, 8_B}, {ring, 0_B, 8_B});
  b.copy(stream, {ring, 0_B, 8_B}, {d, 0_B, 8_B}, {staged});
  EXPECT_TRUE(problems(b.schedule).empty());
  b.schedule.ops[1].after.clear();
  EXPECT_EQ(problems(b.schedule).size(), 1u);
}

// Whether any two accesses race, from the transitive closure of stream order, order of host copies per agent and
// dependencies, over all pairs.
bool races_by_closure(const Schedule& schedule) {
  const std::size_t n = schedule.ops.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  for (std::size_t j = 0; j < n; ++j) {
    const Op& later = schedule.ops[j];
    for (OpId dependency : later.after) before[dependency.index()][j] = true;
    for (std::size_t i = 0; i < j; ++i) {
      const Op& earlier = schedule.ops[i];
      if (later.stream.is_none() ? earlier.stream.is_none() && earlier.agent == later.agent
                                 : earlier.stream == later.stream)
        before[i][j] = true;
    }
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (before[i][k] && before[k][j]) before[i][j] = true;
  bool race = false;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      for_each_access(schedule.ops[i], [&](const Region& a, AccessMode mode_a) {
        for_each_access(schedule.ops[j], [&](const Region& b, AccessMode mode_b) {
          const bool apart = a.buffer != b.buffer || a.offset + a.length <= b.offset || b.offset + b.length <= a.offset;
          const bool reads = mode_a == AccessMode::read && mode_b == AccessMode::read;
          if (!apart && !reads && !before[i][j]) race = true;
        });
      });
  return race;
}

TEST(Races, agrees_with_the_transitive_closure_on_random_schedules) {
  std::mt19937 random(11);
  const auto below = [&random](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  int sound = 0;
  constexpr int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    Builder b;
    b.schedule.add_kernel("k");
    b.schedule.agents = {{"main"}, {"worker"}};
    std::vector<BufferId> devices{b.device("d", 8_B), b.device("e", 8_B)};
    const BufferId x = b.host("x", 8_B);
    const BufferId y = b.host("y", 8_B);
    for (int q = 0; q < 3; ++q) b.schedule.add_stream("q");
    const std::uint32_t n = 2 + below(9);
    for (std::uint32_t i = 0; i < n; ++i) {
      std::vector<OpId> after;
      while (i > 0 && below(5) < 3) after.push_back({below(i)});
      const Bytes length{1 + below(4)};
      const auto at = [&](BufferId buffer_id) { return Region{buffer_id, Bytes{below(9 - length.count)}, length}; };
      const StreamId stream{below(3)};
      const std::uint32_t kind = below(8);
      if (kind == 0)
        b.host_copy({below(2)}, at(x), at(y), after);
      else if (kind == 1)
        b.copy(stream, at(x), at(devices[below(2)]), after);
      else if (kind == 2)
        b.copy(stream, at(devices[below(2)]), at(y), after);
      else
        b.kernel(stream, {read(at(devices[0])), below(2) ? read(at(devices[1])) : write(at(devices[1]))}, after);
    }
    const auto found = problems(b.schedule);
    EXPECT_EQ(!found.empty(), races_by_closure(b.schedule)) << "round " << round << ": " << joined(found);
    sound += found.empty();
  }
  // Both answers must have been put to the test.
  EXPECT_GT(sound, rounds / 10);
  EXPECT_LT(sound, rounds * 9 / 10);
}

// `chunks` chunks of copy, kernel, copy with a stream per chunk dealt out over `streams`, or three streams and a ring.
Schedule large(std::uint32_t chunks, std::uint32_t streams) {
  Builder b;
  b.schedule.add_kernel("k");
  const BufferId x = b.host("x", Bytes{chunks} * 64);
  const BufferId y = b.host("y", Bytes{chunks} * 64);
  const BufferId d = b.device("d", Bytes{chunks} * 64);
  for (std::uint32_t q = 0; q < streams; ++q) b.schedule.add_stream("q");
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const Bytes at{64ull * c};
    const bool tied = streams == 3;
    const auto stream = [&](std::uint32_t step) { return StreamId{tied ? step : c % streams}; };
    const auto behind = [&](OpId op) { return tied ? std::vector<OpId>{op} : std::vector<OpId>{}; };
    const OpId in = b.copy(stream(0), {x, at, 64_B}, {d, at, 64_B}, {}, c);
    const OpId run = b.kernel(stream(1), {read({d, at, 64_B}), write({d, at, 64_B})}, behind(in), c);
    b.copy(stream(2), {d, at, 64_B}, {y, at, 64_B}, behind(run), c);
  }
  return b.schedule;
}

TEST(Races, ten_thousand_ops_take_well_under_a_second) {
  for (const auto& [chunks, streams] : {std::pair{3334u, 3u}, {3334u, 4u}, {256u, 256u}, {10'000u, 256u}}) {
    const Schedule schedule = large(chunks, streams);
    const Seconds start = cpu_time();
    EXPECT_TRUE(problems(schedule).empty());
    const Seconds took = cpu_time() - start;
    // A few milliseconds on an idle machine; the rest is for sanitizers.
    EXPECT_LT(took.count(), 2.0) << chunks << " chunks on " << streams << " streams";
    RecordProperty("ms_" + std::to_string(chunks) + "_" + std::to_string(streams), std::to_string(took.count() * 1e3));
  }
}

}  // namespace
}  // namespace shiplap
