// The contract of the simulator's resources, by those that can be driven without a schedule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "shiplap/sim/gpu_resources.hpp"
#include "shiplap/sim/timers.hpp"

namespace shiplap::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Performs all events of one resource. Returns each op that ended, with its end.
std::vector<std::pair<OpIndex, double>> run(Resource& resource) {
  std::vector<std::pair<OpIndex, double>> ends;
  while (resource.next_event() < never) {
    const double now = resource.next_event();
    if (const OpIndex op = resource.advance(); op != no_op) ends.emplace_back(op, now);
    resource.after_event(now);
  }
  return ends;
}

TEST(Timers, are_due_by_their_time_and_then_in_the_order_of_ops) {
  std::vector<OpIndex> due;
  Timers timers([&](const Timer& timer) {
    due.push_back(timer.op);
    return timer.moment == Moment::host_ends ? timer.op : no_op;
  });
  EXPECT_EQ(timers.next_event(), never);
  timers.set({.time = 2, .op = 0, .moment = Moment::host_ends});
  timers.set({.time = 1, .op = 7, .moment = Moment::queued});
  timers.set({.time = 1, .op = 3, .moment = Moment::host_ends});
  EXPECT_EQ(timers.next_event(), 1);
  EXPECT_THAT(run(timers), ElementsAre(Pair(3, 1), Pair(0, 2)));
  EXPECT_THAT(due, ElementsAre(3, 7, 0));
}

/// Copies of 8 bytes at 1 byte per second, with a latency of 2 s and a gap of 1 s; at half that rate in duplex.
struct Bench {
  explicit Bench(const Gpu& figures, std::size_t copies) : ops(copies), gpu(figures, 2, ops) {
    for (OpState& op : ops) {
      op.bytes = 8;
      op.latency = 2;
      op.copy = {.latency = 2, .gap = 1, .duplex_gap = 1, .per_byte = 1, .duplex_per_byte = 2};
      op.pending = 0;
    }
  }
  void ready(OpIndex index, CopyEngine& engine, double now) {
    ops[index].copy_engine = &engine;
    ops[index].to_device = &engine == &gpu.h2d;
    ops[index].ready = now;
    engine.queued(index);
    engine.ready(index);
    engine.start_next(now);
  }
  OpStates ops;
  GpuResources gpu;
};

TEST(CopyEngine, moves_a_copy_after_its_latency_and_the_next_one_after_the_gap) {
  const Gpu figures;
  Bench bench(figures, 2);
  EXPECT_EQ(bench.gpu.h2d.next_event(), never);
  for (const OpIndex op : {0u, 1u}) bench.ready(op, bench.gpu.h2d, 0);
  EXPECT_EQ(bench.gpu.h2d.next_event(), 2) << "the data of the first copy starts";
  EXPECT_THAT(run(bench.gpu.h2d), ElementsAre(Pair(0, 10), Pair(1, 19)));
  EXPECT_EQ(bench.ops[1].start, 11);
}

TEST(CopyEngine, foresees_a_later_end_when_the_opposite_one_starts) {
  const Gpu figures;
  Bench bench(figures, 2);
  bench.ready(0, bench.gpu.h2d, 0);
  bench.gpu.h2d.advance();
  EXPECT_EQ(bench.gpu.h2d.next_event(), 10);
  bench.ready(1, bench.gpu.d2h, 2);
  EXPECT_EQ(bench.gpu.d2h.next_event(), 4);
  bench.gpu.d2h.advance();
  EXPECT_EQ(bench.gpu.h2d.next_event(), 4 + 6 * 2) << "2 of 8 bytes have moved alone";
}

TEST(CopyEngine, holds_a_copy_to_the_host_back_until_the_kernel_before_it_has_ended) {
  Gpu figures;
  figures.implicit_sync = ImplicitSync::until_ended;
  Bench bench(figures, 2);
  bench.gpu.kernels.add();
  bench.ops[1].kernels_before = bench.gpu.kernels.count();
  bench.ready(1, bench.gpu.d2h, 0);
  EXPECT_EQ(bench.gpu.d2h.next_event(), never);
  bench.gpu.kernels.ended(0, 5);
  EXPECT_EQ(bench.gpu.d2h.next_event(), 7);
}

}  // namespace
}  // namespace shiplap::sim
