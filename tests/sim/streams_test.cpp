#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "shiplap/sim/simulate.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

// Copies of 1 MB at 1 ms each, no latency, no gap.
Profile plain_profile() {
  return paper_profile(
      {.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
}

// Ten copies in one stream, each waited for by a kernel; the kernels dealt over `streams` streams. The end of the
// copies.
Seconds watched_copies(std::uint32_t streams) {
  Profile p = plain_profile();
  // 20 µs more for a copy and 100 µs more for its bytes.
  const auto slowdown = [](double gap_us, double per_byte) {
    return Slowdown{Interval<Seconds>::exact(microseconds(gap_us)), Interval<PerByte>::exact(PerByte{per_byte})};
  };
  p.links[0].waiting_streams =
      WaitingStreams{.h2d = slowdown(20, 1e-10), .d2h = slowdown(9000, 1), .duplex = slowdown(9000, 1)};
  Schedule s;
  const Bytes size{1'000'000};
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * 10});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * 10});
  const KernelId k = s.add_kernel("k");
  const StreamId in = s.add_stream("in");
  for (std::uint32_t q = 0; q < streams; ++q) s.add_stream("waits");
  for (std::uint32_t i = 0; i < 10; ++i) {
    const OpId copied = s.add({.what = Copy{{host, size * i, size}, {gpu, size * i, size}}, .stream = in, .after = {}});
    s.add({.what = Kernel{.kernel = k, .items = 1, .operands = {}, .flows = {}},
           .stream = StreamId{1 + i % streams},
           .after = {copied}});
  }
  return simulate(s, p, {.held = true}).timeline.spans[18].end;
}

// The order in which copies of 1 ms to the GPU run, one in each of `copies` streams; all are ready at the same time,
// but for that of stream 4, which waits for that of stream 1.
std::vector<std::uint32_t> order_of_copies(std::optional<unsigned> groups, EngineOrder by = EngineOrder::readiness) {
  constexpr std::uint32_t copies = 7;
  Profile p = plain_profile();
  p.gpus[0].engine_order = by;
  p.gpus[0].stream_groups = groups;
  Schedule s;
  const Bytes size{1'000'000};
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * copies});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * copies});
  for (std::uint32_t q = 0; q < copies; ++q) {
    const StreamId stream = s.add_stream("stream");
    std::vector<OpId> after;
    if (q == 4) after.push_back(OpId{1});
    s.add({.what = Copy{{host, size * q, size}, {gpu, size * q, size}}, .stream = stream, .after = std::move(after)});
  }
  const Timeline t = simulate(s, p, {.held = true}).timeline;
  std::vector<std::uint32_t> order(copies);
  for (std::uint32_t q = 0; q < copies; ++q) order[q] = q;
  std::ranges::sort(order, {}, [&](std::uint32_t q) { return t.spans[q].start; });
  return order;
}

TEST(StreamGroups, are_served_one_after_the_other_each_until_nothing_of_it_is_ready) {
  using Order = std::vector<std::uint32_t>;
  EXPECT_EQ(order_of_copies(1), (Order{0, 1, 2, 3, 5, 6, 4}));
  EXPECT_EQ(order_of_copies(std::nullopt), order_of_copies(1));
  // When the group of streams 0 and 6 is done, that of 1 and 5 follows; by the time it is back at the first, 4 is
  // ready.
  EXPECT_EQ(order_of_copies(2), (Order{0, 2, 6, 1, 3, 5, 4}));
  EXPECT_EQ(order_of_copies(3), (Order{0, 3, 6, 1, 4, 2, 5}));
  EXPECT_EQ(order_of_copies(3, EngineOrder::submission), (Order{0, 1, 2, 3, 4, 5, 6}));
}

TEST(WaitingStreams, cost_copies_nothing_while_there_is_one) {
  EXPECT_NEAR(in_microseconds(watched_copies(1)), 10'000, 1e-6);
}

TEST(WaitingStreams, slow_copies_down_from_two_on_until_one_is_left) {
  // The last copy is waited for by one kernel alone, and so is what comes before it; the first has no gap before it.
  EXPECT_NEAR(in_microseconds(watched_copies(2)), 9 * 1100 + 8 * 20 + 1000, 1e-6);
  EXPECT_NEAR(in_microseconds(watched_copies(5)), 9 * 1100 + 8 * 20 + 1000, 1e-6);
}

// Kernel, copy, kernel, copy … of 1 ms each, dealt over streams.
Seconds chain(std::uint32_t links, std::uint32_t streams) {
  Profile p = plain_profile();
  const auto us = [](double value) { return Interval<Seconds>::exact(microseconds(value)); };
  p.gpus[0].handovers = HandoverModel{
      .h2d_same_stream = us(1), .h2d_other_stream = us(10), .d2h_same_stream = us(100), .d2h_other_stream = us(100)};
  Schedule s;
  const Bytes size{1'000'000};
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * links});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * links});
  const KernelId k = s.add_kernel("k");
  for (std::uint32_t q = 0; q < streams; ++q) s.add_stream("q");
  std::vector<OpId> before;
  for (std::uint32_t i = 0; i < links; ++i) {
    const StreamId q{i % streams};
    before = {s.add({.what = Kernel{.kernel = k, .items = 1, .work = milliseconds(1), .operands = {}, .flows = {}},
                     .stream = q,
                     .after = before})};
    before = {s.add({.what = Copy{{host, size * i, size}, {gpu, size * i, size}}, .stream = q, .after = {}})};
  }
  const Timeline t = simulate(s, p, {.held = true}).timeline;
  return t.spans[2 * links - 1].end;
}

TEST(Handover, counts_once_for_every_op_that_waits_for_another_engine) {
  EXPECT_NEAR(in_microseconds(chain(4, 1)), 8000 + 7 * 1, 1e-6);
}

TEST(Handover, takes_longer_where_the_engine_served_another_stream_last) {
  // The first kernel and the first copy find an engine that has served nobody.
  EXPECT_NEAR(in_microseconds(chain(4, 4)), 8000 + 6 * 10 + 1, 1e-6);
}

// Short kernels in one stream, whose function takes 50 us of the host beyond the launch.
Seconds slow_calls(unsigned kernels, bool graph) {
  Profile p = plain_profile();
  p.submission.graph_launch = p.submission.graph_op = Interval<Seconds>::exact(Seconds{0});
  Schedule s;
  s.as_graph = graph;
  const KernelId k = s.add_kernel("k");
  const StreamId stream = s.add_stream("compute");
  for (unsigned i = 0; i < kernels; ++i)
    s.add({.what = Kernel{.kernel = k,
                          .items = 1,
                          .work = microseconds(1),
                          .call = microseconds(50),
                          .operands = {},
                          .flows = {}},
           .stream = stream,
           .after = {}});
  return simulate(s, p).timeline.makespan;
}

TEST(CallsOfKernels, take_their_host_time_for_each_kernel_and_none_in_a_graph) {
  EXPECT_NEAR(in_microseconds(slow_calls(9, false) - slow_calls(1, false)), 8 * 50.0, 1e-6);
  EXPECT_LT(slow_calls(9, true), microseconds(50));
}

TEST(WaitingKernels, keep_their_agent_from_submitting_the_next_copy_until_they_have_ended) {
  const auto start_of_second_copy = [](bool waits) {
    Schedule s;
    const Bytes size{1'000'000};
    const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * 2});
    const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * 2});
    const KernelId k = s.add_kernel("k");
    const StreamId in = s.add_stream("in");
    const StreamId compute = s.add_stream("compute");
    const OpId first = s.add({.what = Copy{{host, Bytes{0}, size}, {gpu, Bytes{0}, size}}, .stream = in, .after = {}});
    s.add(
        {.what = Kernel{.kernel = k, .items = 1, .work = milliseconds(5), .waits = waits, .operands = {}, .flows = {}},
         .stream = compute,
         .after = {first}});
    const OpId second = s.add({.what = Copy{{host, size, size}, {gpu, size, size}}, .stream = in, .after = {}});
    return in_milliseconds(simulate(s, plain_profile()).timeline.spans[second.index()].start);
  };
  EXPECT_NEAR(start_of_second_copy(false), 1, 0.01);
  EXPECT_NEAR(start_of_second_copy(true), 6, 0.01);
}

}  // namespace
}  // namespace shiplap
