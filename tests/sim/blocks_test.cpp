// Moves of scattered blocks: their times alone, what they do to the host, and what shares the link or the GPU with
// them.
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

// Sizes at which the planted profile has a row.
constexpr Bytes small_block{4096};
constexpr std::uint64_t some_blocks = 64;
// Host time of the event that a stream ends with, by the planted profile.
constexpr double record_us = 0.35;

const std::vector<Mover> all_movers{{Mover::Kind::copies},    {Mover::Kind::batch},     {Mover::Kind::strided},
                                    {Mover::Kind::kernel, 1}, {Mover::Kind::kernel, 8}, {Mover::Kind::kernel, 132}};

/// Ops on a pool of their own each.
struct BlockBench : Builder {
  StreamId one = schedule.add_stream("one");
  StreamId two = schedule.add_stream("two");
  BlockBench() {
    schedule.add_kernel("k");
    schedule.agents = {{"first"}, {"second"}, {"third"}};
  }
  OpId blocks(StreamId stream, const Mover& mover, bool gather, Bytes size = small_block, std::uint64_t n = some_blocks,
              MemoryKind memory = MemoryKind::pinned) {
    const bool regular = mover.kind == Mover::Kind::strided;
    const BlockListId list =
        schedule.add_list({.name = "pages", .block = size, .pitch = size, .count = n, .regular = regular});
    const BufferId pool = schedule.add_buffer(buffer("pool", Place::host(), memory, size * n));
    const BufferId packed = stream.is_none() ? host("packed", size * n) : device("packed", size * n);
    return add(BlockCopy{.list = list,
                         .count = n,
                         .gather = gather,
                         .pool = {pool, 0_B, size * n},
                         .packed = {packed, 0_B, size * n},
                         .mover = mover},
               stream, {}, 0);
  }
  OpId by_host(AgentId agent, bool gather) {
    const OpId id = blocks({}, {}, gather);
    schedule.ops.back().agent = agent;
    return id;
  }
  OpId copy_out(StreamId stream, Bytes size) {
    return copy(stream, {device("from", size), 0_B, size}, {host("to", size), 0_B, size});
  }
  OpId copy_in(StreamId stream, Bytes size) {
    return copy(stream, {host("from", size), 0_B, size}, {device("to", size), 0_B, size});
  }
  OpId work(StreamId stream, Seconds time, double memory_bound) {
    const OpId id = kernel(stream, {});
    auto& k = std::get<Kernel>(schedule.ops.back().what);
    k.work = time;
    k.memory_bound = memory_bound;
    return id;
  }
  Prediction predict(bool held = false, const Profile& profile = planted_profile()) const {
    EXPECT_EQ(joined(problems(schedule)), "");
    return simulate(schedule, profile, {.held = held});
  }
};

double length_us(const Prediction& p, OpId op) {
  const Span span = p.timeline.spans[op.index()];
  return in_microseconds(span.end - span.start);
}
double us_of(Seconds s) { return in_microseconds(s); }
/// Blocks of a kernel move when it has been launched, those of other movers from the first call on.
double start_us(const Mover& mover, bool gather) {
  return mover.kind == Mover::Kind::kernel ? us_of(planted_block_cost(mover, gather, 256_B, 1).time) : 0;
}

TEST(BlockOpTime, alone_is_the_planted_time_of_its_mover) {
  for (const bool gather : {true, false})
    for (const Mover& mover : all_movers) {
      BlockBench b;
      const OpId op = b.blocks(b.one, mover, gather);
      const BlockCost planted = planted_block_cost(mover, gather, small_block, some_blocks);
      const Prediction p = b.predict();
      SCOPED_TRACE(to_string(mover) + (gather ? " gathers" : " scatters"));
      const bool by_kernel = mover.kind == Mover::Kind::kernel;
      EXPECT_SPAN(p, op, start_us(mover, gather), us_of(planted.time));
      EXPECT_NEAR(us_of(p.submission), us_of(planted.call) + record_us, 1e-6) << "the agent is busy for the calls";
      EXPECT_EQ(p.timeline.spans[op.index()].engine, by_kernel ? Engine::compute
                                                     : gather  ? Engine::copy_h2d
                                                               : Engine::copy_d2h);
    }
}

TEST(BlockOpTime, held_is_the_planted_time) {
  for (const Mover& mover : all_movers) {
    BlockBench b;
    const OpId op = b.blocks(b.one, mover, true);
    const double planted = us_of(planted_block_cost(mover, true, small_block, some_blocks).time);
    EXPECT_SPAN(b.predict(true), op, start_us(mover, true), planted);
  }
}

TEST(BlockOpTime, of_a_list_of_several_launches_begins_with_the_first_launch) {
  constexpr std::uint64_t n = 16384;  // three launches of at most 8000 indices
  BlockBench b;
  const Mover mover{Mover::Kind::kernel, 8};
  const OpId op = b.blocks(b.one, mover, true, small_block, n);
  const BlockCost planted = planted_block_cost(mover, true, small_block, n);
  const Prediction p = b.predict();
  EXPECT_SPAN(p, op, start_us(mover, true), us_of(planted.time));
  EXPECT_NEAR(us_of(p.submission), us_of(planted.call) + record_us, 1e-6);
}

TEST(BlockOpTime, of_a_kernel_behind_another_one_overlaps_with_it_from_the_call_to_the_first_block) {
  BlockBench b;
  const Mover mover{Mover::Kind::kernel, 8};
  b.work(b.one, microseconds(1000), 1);
  const OpId op = b.blocks(b.one, mover, true);
  const double moving = us_of(planted_block_cost(mover, true, small_block, some_blocks).time) - start_us(mover, true);
  const Prediction p = b.predict();
  const double end = us_of(p.timeline.spans[0].end);
  EXPECT_SPAN(p, op, end + 1.1, end + 1.1 + moving);  // the planted gap between two kernels of a stream
}

TEST(BlockOpTime, keeps_the_agent_from_its_next_call_for_the_planted_time_of_the_calls) {
  for (const Mover& mover : all_movers) {
    BlockBench b;
    b.blocks(b.one, mover, true);
    const OpId next = b.work(b.two, microseconds(1), 1);
    const double calls = us_of(planted_block_cost(mover, true, small_block, some_blocks).call);
    EXPECT_NEAR(us_of(b.predict().timeline.spans[next.index()].start), calls + record_us + 2.1 + 2.3, 1e-6)
        << to_string(mover);
  }
}

TEST(BlockOpTime, from_pageable_memory_holds_the_agent_until_its_end) {
  Profile profile = planted_profile();
  auto& movers = profile.links[0].blocks->movers;
  movers["copies pageable h2d"] = movers.at("copies pinned h2d");
  BlockBench b;
  b.blocks(b.one, {Mover::Kind::copies}, true, small_block, some_blocks, MemoryKind::pageable);
  const OpId next = b.work(b.two, microseconds(1), 1);
  const double alone = us_of(planted_block_cost({Mover::Kind::copies}, true, small_block, some_blocks).time);
  const Prediction p = b.predict(false, profile);
  EXPECT_SPAN(p, OpId{0}, 0, alone);
  EXPECT_NEAR(us_of(p.timeline.spans[next.index()].start), alone + record_us + 2.1 + 2.3, 1e-6);
}

TEST(BlockOpTime, of_the_host_is_that_of_one_thread_without_the_link) {
  for (const bool gather : {true, false}) {
    BlockBench b;
    const OpId op = b.by_host({0}, gather);
    const Prediction p = b.predict();
    EXPECT_SPAN(p, op, 0, us_of(planted_host_time(gather, small_block, some_blocks)));
    EXPECT_EQ(p.timeline.spans[0].engine, Engine::host);
  }
}

TEST(BlocksBesideOps, of_host_threads_share_the_bandwidth_of_the_hosts_memory) {
  Profile profile = planted_profile();
  profile.host->staging.clear();  // one table of rates, with 2 threads at 1.2 times the rate of one
  profile.host->copy = {{1, gbs(10)}, {2, gbs(12)}};
  BlockBench b;
  const OpId one = b.by_host({0}, true);
  const OpId two = b.by_host({1}, true);
  const double alone = us_of(planted_host_time(true, small_block, some_blocks));
  const Prediction p = b.predict(false, profile);
  EXPECT_SPAN(p, one, 0, alone * 2 / 1.2);
  EXPECT_SPAN(p, two, 0, alone * 2 / 1.2);
}

/// A copy engine that has no latency, no gap, and other rates when the opposite direction is busy: half of them.
Profile without_overheads() {
  Profile p = planted_profile();
  for (DirectionModel* direction : {&p.links[0].h2d, &p.links[0].d2h}) {
    direction->per_byte = per_byte_at(50);
    direction->costs = {{.size = 1_B, .latency_overhead = us(0), .gap = us(0)}};
    direction->duplex = DuplexModel{.per_byte = per_byte_at(25), .gaps = {{.size = 1_B, .gap = us(0)}}};
  }
  return p;
}

TEST(BlocksBesideOps, of_copies_are_slower_beside_copies_in_the_other_direction_by_the_links_tables) {
  for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::strided})
    for (const bool gather : {true, false}) {
      BlockBench b;
      const OpId op = b.blocks(b.one, {kind}, gather);
      gather ? b.copy_out(b.two, 256_MiB) : b.copy_in(b.two, 256_MiB);
      const Prediction p = b.predict(true, without_overheads());
      EXPECT_NEAR(length_us(p, op), 2 * us_of(planted_block_cost({kind}, gather, small_block, some_blocks).time), 1e-6);
    }
}

TEST(BlocksBesideOps, of_copies_take_turns_with_copies_in_their_direction) {
  BlockBench b;
  const OpId op = b.blocks(b.one, {Mover::Kind::batch}, true);
  const OpId copy = b.copy_in(b.two, 1_MiB);
  const Prediction p = b.predict(true, without_overheads());
  EXPECT_GE(p.timeline.spans[copy.index()].start.count(), p.timeline.spans[op.index()].end.count() - 1e-12);
  EXPECT_NEAR(length_us(p, op), us_of(planted_block_cost({Mover::Kind::batch}, true, small_block, some_blocks).time),
              1e-6);
}

TEST(BlocksBesideOps, of_a_kernel_are_slower_beside_copies_by_the_links_tables_of_kernels) {
  // A kernel of one thread block has 512 · 128 B in flight. Where one row holds for all bytes in flight, the kernel
  // reads at 40 GB/s alone and at 10 GB/s concurrent with copies to the host, which then have 20 GB/s.
  Profile profile = without_overheads();
  profile.links[0].zero_copy->read = {{4_KiB, gbs(40)}};
  profile.links[0].zero_copy->read_beside_d2h = {{4_KiB, gbs(10), gbs(20)}};
  BlockBench b;
  const Mover mover{Mover::Kind::kernel, 1};
  const OpId gather = b.blocks(b.one, mover, true, small_block, 16384);
  const double start = start_us(mover, true);
  const double alone = us_of(planted_block_cost(mover, true, small_block, 16384).time) - start;
  const OpId copy = b.copy_out(b.two, 256_MiB);
  const Prediction p = b.predict(true, profile);
  // The copy moves 256 MiB at 20 GB/s while the gather lasts, and the gather is longer than that.
  const double copied = in_bytes(256_MiB) / 20e9 * 1e6;
  ASSERT_LT(copied, 4 * alone);
  EXPECT_NEAR(us_of(p.timeline.spans[copy.index()].end), copied + start * (1 - 50.0 / 20), 1e-3);
  // Until the end of the copy it runs at a quarter of its speed.
  const double end = us_of(p.timeline.spans[copy.index()].end);
  EXPECT_NEAR(us_of(p.timeline.spans[gather.index()].end), end + alone - (end - start) / 4, 1e-3);
}

TEST(BlocksBesideOps, of_a_kernel_make_other_kernels_slower_as_planted) {
  const Mover mover{Mover::Kind::kernel, 32};
  for (const bool gather : {true, false})
    for (const double memory_bound : {0.0, 0.5, 1.0}) {
      BlockBench b;
      const OpId move = b.blocks(b.one, mover, gather, 64_KiB, 4096);  // 5 ms
      const OpId kernel = b.work(b.two, microseconds(1000), memory_bound);
      const Prediction p = b.predict();
      ASSERT_LT(p.timeline.spans[move.index()].start.count(), p.timeline.spans[kernel.index()].start.count());
      ASSERT_GT(p.timeline.spans[move.index()].end.count(), p.timeline.spans[kernel.index()].end.count());
      const double memory = gather ? 0.45 : 0.6;
      const double slowdown = 0.01 + (memory - 0.01) * memory_bound;
      EXPECT_NEAR(length_us(p, kernel), 1000 * (1 + slowdown), 1e-6) << gather << " " << memory_bound;
      EXPECT_NEAR(us_of(p.timeline.spans[move.index()].end),
                  us_of(planted_block_cost(mover, gather, 64_KiB, 4096).time), 1e-6)
          << "the mover itself keeps its pace";
    }
}

TEST(BlocksBesideOps, of_a_kernel_make_other_kernels_slower_only_while_they_move) {
  const Mover mover{Mover::Kind::kernel, 32};
  BlockBench b;
  const OpId kernel = b.work(b.two, microseconds(1000), 1);
  const OpId move = b.blocks(b.one, mover, true);
  const Prediction p = b.predict();
  const double moved = us_of(planted_block_cost(mover, true, small_block, some_blocks).time) - start_us(mover, true);
  ASSERT_LT(p.timeline.spans[move.index()].end.count(), p.timeline.spans[kernel.index()].end.count());
  ASSERT_GT(p.timeline.spans[move.index()].start.count(), p.timeline.spans[kernel.index()].start.count());
  EXPECT_NEAR(length_us(p, kernel), 1000 - moved / 1.45 + moved, 1e-6);
}

/// The planted profile with what kernels add to movers.
Profile with_waits() {
  Profile profile = planted_profile();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  return profile;
}

TEST(BlocksBesideOps, take_longer_beside_a_kernel_as_planted) {
  for (const Mover& mover : {Mover{Mover::Kind::batch}, Mover{Mover::Kind::copies}, Mover{Mover::Kind::kernel, 8}})
    for (const double memory_bound : {0.0, 1.0}) {
      BlockBench b;
      const OpId kernel = b.work(b.two, milliseconds(20), memory_bound);
      const OpId move = b.blocks(b.one, mover, true, 64_KiB, 64);
      b.schedule.ops[move.index()].agent = AgentId{1};
      const Prediction p = b.predict(false, with_waits());
      ASSERT_GT(p.timeline.spans[kernel.index()].end.count(), p.timeline.spans[move.index()].end.count());
      const std::uint32_t grid = mover.kind == Mover::Kind::kernel ? mover.grid : 0;
      const MoveDelay added = planted_added(grid, memory_bound > 0);
      const bool calls_for_each = mover.kind == Mover::Kind::copies;
      const double added_us = us_of(added.per_move.value) * (calls_for_each ? 64 : 1) +
                              us_of(added.per_block.value) * (calls_for_each ? 0 : 64) + us_of(added.per_mib.value) * 4;
      const double alone = us_of(planted_block_cost(mover, true, 64_KiB, 64).time) - start_us(mover, true);
      // A move of copies begins with its first call, before the kernel has been launched.
      const double before =
          std::max(0.0, us_of(p.timeline.spans[kernel.index()].start - p.timeline.spans[move.index()].start));
      EXPECT_NEAR(length_us(p, move), alone + added_us * (1 - before / alone), 0.02)
          << to_string(mover) << memory_bound;
    }
}

/// A gather concurrent with a kernel of 1 ms that fills the GPU. `waves` is the number of waves of its thread blocks.
struct BesideWaves {
  BlockBench b;
  OpId kernel = b.work(b.two, milliseconds(1), 1);
  OpId move = b.blocks(b.one, {Mover::Kind::kernel, 32}, true, 64_KiB, 4096);
  Prediction p;
  explicit BesideWaves(std::uint64_t waves) {
    auto& k = std::get<Kernel>(b.schedule.ops[kernel.index()].what);
    k.full_rate_blocks = k.resident_blocks = 264;
    k.blocks = waves * 264;
    b.schedule.ops[move.index()].agent = AgentId{1};
    p = b.predict(false, with_waits());
  }
};

TEST(BlocksBesideOps, of_a_kernel_wait_for_thread_blocks_of_a_kernel_that_fills_the_gpu) {
  // The thread blocks of 10 waves take 100 us, and those of 20 waves 50 us.
  const double ten = us_of(BesideWaves(10).p.timeline.spans[1].start);
  const double twenty = us_of(BesideWaves(20).p.timeline.spans[1].start);
  EXPECT_NEAR(ten - twenty, 0.8 * 50, 1e-6);
}

TEST(BlocksBesideOps, of_a_kernel_that_wait_slow_nothing_down_and_begin_at_the_latest_when_the_kernel_ends) {
  // A single wave takes 1 ms, of which the mover waits 0.8 ms. Until then the kernel loses nothing.
  const BesideWaves one(1);
  const Span kernel = one.p.timeline.spans[0];
  const Span move = one.p.timeline.spans[1];
  const double waited = us_of(move.start - kernel.start);
  EXPECT_NEAR(waited, 800, 10);
  EXPECT_NEAR(us_of(kernel.end - kernel.start), waited + (1000 - waited) * 1.45, 0.5)
      << "memory loses 45 % at a grid of 32";
  BlockBench b;
  const OpId short_kernel = b.work(b.two, microseconds(30), 1);
  auto& k = std::get<Kernel>(b.schedule.ops[short_kernel.index()].what);
  k.full_rate_blocks = k.resident_blocks = k.blocks = 264;
  const OpId second = b.blocks(b.one, {Mover::Kind::kernel, 32}, true, 64_KiB, 64);
  b.schedule.ops[second.index()].agent = AgentId{1};
  Profile profile = with_waits();
  for (MutualSlowdown& row : profile.links[0].blocks->beside_gather) row.added->wait = Interval<double>::exact(50);
  const Prediction p = b.predict(false, profile);
  EXPECT_NEAR(us_of(p.timeline.spans[second.index()].start), us_of(p.timeline.spans[short_kernel.index()].end), 1e-6);
}

TEST(BlocksBesideOps, of_a_kernel_slow_copies_in_the_gap_before_the_next_one_and_not_while_that_waits) {
  // Copies have 50 GB/s, and 20 GB/s concurrent with a mover's kernel.
  Profile profile = without_overheads();
  profile.links[0].blocks = with_planted_waits(planted_blocks());
  profile.links[0].zero_copy->read = {{4_KiB, gbs(40)}};
  profile.links[0].zero_copy->read_beside_d2h = {{4_KiB, gbs(10), gbs(20)}};
  BlockBench b;
  const StreamId three = b.schedule.add_stream("three");
  const OpId copy = b.copy_out(b.two, 256_MiB);
  const OpId first = b.blocks(b.one, {Mover::Kind::kernel, 8}, true, 64_KiB, 64);
  const OpId second = b.blocks(b.one, {Mover::Kind::kernel, 8}, true, 64_KiB, 64);
  const OpId kernel = b.work(three, milliseconds(1), 1);
  b.schedule.ops[kernel.index()].agent = AgentId{1};
  auto& k = std::get<Kernel>(b.schedule.ops[kernel.index()].what);
  k.full_rate_blocks = k.resident_blocks = 264;
  k.blocks = 10 * 264;
  b.schedule.ops[kernel.index()].after = {};
  const Prediction p = b.predict(false, profile);
  const auto span = [&](OpId op) { return p.timeline.spans[op.index()]; };
  const Seconds arrives = span(second).start - microseconds(80);  // it waits for 0.8 thread blocks of 100 us
  ASSERT_GT(arrives, span(first).end) << "the gap between two kernels of a stream";
  const auto beside_copy = [&](Seconds begin, Seconds end) {
    return std::max(Seconds{0}, std::min(end, span(copy).end) - std::max(begin, span(copy).start));
  };
  const double slowed =
      (beside_copy(span(first).start, arrives) + beside_copy(span(second).start, span(second).end)).count();
  const double whole = (span(copy).end - span(copy).start).count();
  EXPECT_NEAR(slowed * 20e9 + (whole - slowed) * 50e9, in_bytes(256_MiB), 1000);
}

TEST(BlocksBesideOps, of_copies_slow_kernels_down_in_proportion_to_their_rate) {
  for (const Bytes block : {4_KiB, 1_MiB}) {
    BlockBench b;
    b.blocks(b.one, {Mover::Kind::batch}, true, block, 4096);
    const OpId kernel = b.work(b.two, microseconds(1000), 1);
    b.schedule.ops[kernel.index()].agent = AgentId{1};
    const double time = us_of(planted_block_cost({Mover::Kind::batch}, true, block, 4096).time);
    ASSERT_GT(time, 1100);
    const double at_link =
        us_of(Seconds{planted_profile().links[0].h2d.per_byte.value.seconds * in_bytes(block * 4096)});
    EXPECT_NEAR(length_us(b.predict(false, with_waits()), kernel), 1000 * (1 + 0.02 * std::min(1.0, at_link / time)),
                0.5);
  }
}

TEST(BlocksBesideOps, take_longer_only_while_the_kernel_runs) {
  const Mover mover{Mover::Kind::kernel, 8};
  BlockBench b;
  const OpId kernel = b.work(b.two, microseconds(100), 1);
  const OpId move = b.blocks(b.one, mover, true, 64_KiB, 1024);
  b.schedule.ops[move.index()].agent = AgentId{1};
  const Prediction p = b.predict(false, with_waits());
  ASSERT_LT(p.timeline.spans[kernel.index()].end.count(), p.timeline.spans[move.index()].end.count());
  const double alone = us_of(planted_block_cost(mover, true, 64_KiB, 1024).time) - start_us(mover, true);
  const MoveDelay added = planted_added(8, true);
  const double slower = (alone + us_of(added.per_move.value) + 64 * us_of(added.per_mib.value)) / alone;
  const double beside = us_of(p.timeline.spans[kernel.index()].end -
                              std::max(p.timeline.spans[kernel.index()].start, p.timeline.spans[move.index()].start));
  EXPECT_NEAR(length_us(p, move), alone + beside * (1 - 1 / slower), 0.05);
}

TEST(BlocksBesideOps, of_a_kernel_without_measured_slowdowns_slow_nothing_down) {
  Profile profile = planted_profile();
  profile.links[0].blocks->beside_gather.clear();
  BlockBench b;
  b.blocks(b.one, {Mover::Kind::kernel, 32}, true, 64_KiB, 4096);
  const OpId kernel = b.work(b.two, microseconds(1000), 1);
  EXPECT_NEAR(length_us(b.predict(false, profile), kernel), 1000, 1e-6);
}

TEST(BlocksBesideOps, of_copies_do_not_slow_kernels_down) {
  BlockBench b;
  b.blocks(b.one, {Mover::Kind::copies}, true, 64_KiB, 4096);
  const OpId kernel = b.work(b.two, microseconds(1000), 1);
  EXPECT_NEAR(length_us(b.predict(), kernel), 1000, 1e-6);
}

TEST(UnknownMovers, are_refused_with_their_name) {
  const auto message = [](const BlockBench& b, const Profile& profile) {
    return message_of<Unsupported>([&] { simulate(b.schedule, profile); });
  };
  Profile profile = planted_profile();
  BlockBench pageable;
  pageable.blocks(pageable.one, {Mover::Kind::batch}, false, small_block, some_blocks, MemoryKind::pageable);
  EXPECT_NE(message(pageable, profile).find("the mover \"batch pageable d2h\""), std::string::npos);
  BlockBench empty;
  empty.blocks(empty.one, {Mover::Kind::kernel, 8}, true);
  profile.links[0].blocks->movers["kernel pinned h2d"].clear();
  EXPECT_NE(message(empty, profile).find("the mover \"kernel pinned h2d\""), std::string::npos);
  BlockBench by_host;
  by_host.by_host({0}, false);
  profile.links[0].blocks->movers.erase("host pinned d2h");
  EXPECT_NE(message(by_host, profile).find("the mover \"host pinned d2h\""), std::string::npos);
}

TEST(UnknownMovers, of_a_profile_without_blocks_are_refused) {
  BlockBench b;
  b.blocks(b.one, {Mover::Kind::batch}, true);
  const std::string said = message_of<Unsupported>([&] { simulate(b.schedule, paper_profile()); });
  EXPECT_NE(said.find("moves of scattered blocks"), std::string::npos) << said;
  EXPECT_NE(said.find("paper"), std::string::npos) << said;
}

}  // namespace
}  // namespace shiplap
