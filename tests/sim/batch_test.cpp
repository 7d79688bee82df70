// Copies that are submitted in one call, graphs, and streams that a host thread makes.
#include <gtest/gtest.h>

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

// L+o is 10 µs, a copy of 10 kB moves for 10 µs, and g is 3 µs to the GPU and 4 µs from it; in a batch 1 µs and 1.5 µs.
// A call takes the host 2 µs, each further copy of a batch 0.5 µs; a graph 6 µs and 0.25 µs for each op.
Profile batching_node() {
  const PaperDirection h2d{.latency_overhead = microseconds(10), .per_byte = {1e-9}, .gap = microseconds(3)};
  const PaperDirection d2h{.latency_overhead = microseconds(10), .per_byte = {1e-9}, .gap = microseconds(4)};
  Profile p = paper_profile({.engine_order = EngineOrder::readiness, .h2d = h2d, .d2h = d2h});
  p.links[0].h2d.batched = {{.size = 1_B, .gap = us(1)}};
  p.links[0].d2h.batched = {{.size = 1_B, .gap = us(1.5)}};
  p.submission.copy = us(2);
  p.submission.batched_copy = us(0.5);
  p.submission.graph_launch = us(6);
  p.submission.graph_op = us(0.25);
  return p;
}

constexpr Bytes ten_kb{10'000};

// Copies to the GPU in stream `in`, copies from it in stream `out`, each with memory of its own.
struct BothWays : Builder {
  StreamId in = schedule.add_stream("in");
  StreamId out = schedule.add_stream("out");
  BothWays() { schedule.add_kernel("k"); }

  OpId to_device(Bytes size = ten_kb) { return copy(in, all(host("x", size), size), all(device("d", size), size)); }
  OpId from_device(Bytes size = ten_kb) { return copy(out, all(device("d", size), size), all(host("x", size), size)); }
  BothWays& copies(int count, Bytes size = ten_kb) {
    for (int i = 0; i < count; ++i) to_device(size);
    return *this;
  }
  BothWays& copies_back(int count, Bytes size = ten_kb) {
    for (int i = 0; i < count; ++i) from_device(size);
    return *this;
  }
  // Makes the last `count` ops one batch.
  BothWays& as_batch(std::size_t count) {
    for (std::size_t i = schedule.ops.size() - count + 1; i < schedule.ops.size(); ++i) schedule.ops[i].batched = true;
    return *this;
  }
  OpId call(HostCall::Kind kind) { return add(HostCall{.kind = kind}, {}, {}, 0); }

  Prediction predict(const Profile& profile, SimulateOptions options = {}) const {
    EXPECT_EQ(joined(problems(schedule)), "");
    return simulate(schedule, profile, options);
  }
  Prediction predict() const { return predict(batching_node()); }
  double held(const Profile& profile = batching_node()) const {
    return in_microseconds(predict(profile, {.held = true}).timeline.makespan);
  }

 private:
  static Region all(BufferId buffer, Bytes size) { return {buffer, 0_B, size}; }
};

std::string prediction_refusal(const BothWays& copies, const Profile& profile) {
  try {
    copies.predict(profile);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "";
}

TEST(SimulateBatch, leaves_the_gap_of_a_batch_between_its_copies) {
  EXPECT_NEAR(BothWays().copies(4).held(), 10 + 4 * 10 + 3 * 3, 1e-6);
  EXPECT_NEAR(BothWays().copies(4).as_batch(4).held(), 10 + 4 * 10 + 3 * 1, 1e-6);
  EXPECT_NEAR(BothWays().copies_back(4).held(), 10 + 4 * 10 + 3 * 4, 1e-6);
  EXPECT_NEAR(BothWays().copies_back(4).as_batch(4).held(), 10 + 4 * 10 + 3 * 1.5, 1e-6);
}

TEST(SimulateBatch, is_behind_another_copy_by_the_gap_that_a_single_copy_has) {
  // Two copies, a batch of three, a batch of two: g in front of each batch and of the second copy.
  BothWays s;
  s.copies(2).copies(3).as_batch(3).copies(2).as_batch(2);
  EXPECT_NEAR(s.held(), 10 + 7 * 10 + 3 * 3 + (2 + 1) * 1, 1e-6);
}

TEST(SimulateBatch, keeps_its_gaps_while_copies_move_the_other_way) {
  Profile p = batching_node();
  for (DirectionModel* direction : {&p.links[0].h2d, &p.links[0].d2h})
    direction->duplex = DuplexModel{.per_byte = direction->per_byte, .gaps = {{.size = 1_B, .gap = us(7)}}};
  // Four copies to the GPU end last: while it has them, seven copies keep the other direction busy.
  BothWays alone;
  alone.copies(4).copies_back(7);
  EXPECT_NEAR(in_microseconds(alone.predict(p, {.held = true}).timeline.spans[3].end), 10 + 4 * 10 + 3 * 7, 1e-6);
  BothWays batch;
  batch.copies(4).as_batch(4).copies_back(7);
  EXPECT_NEAR(in_microseconds(batch.predict(p, {.held = true}).timeline.spans[3].end), 10 + 4 * 10 + 3 * 1, 1e-6);
}

TEST(SimulateBatch, interpolates_its_gap_between_the_sizes_of_the_profile) {
  // Planted are 0.2 µs at 64 KiB and 0.3 µs at 4 MiB to the GPU, 0.25 µs and 0.35 µs from it. 2129920 B lie half way.
  const Profile p = planted_profile();
  const auto one_more = [&](Bytes size, bool to_device) {
    const auto makespan = [&](int count) {
      BothWays s;
      to_device ? s.copies(count, size) : s.copies_back(count, size);
      return s.as_batch(static_cast<std::size_t>(count)).held(p);
    };
    return makespan(3) - makespan(2);
  };
  EXPECT_NEAR(one_more(2129920_B, true), 2129920 / 55e3 + 0.25, 1e-6);
  EXPECT_NEAR(one_more(2129920_B, false), 2129920 / 54e3 + 0.30, 1e-6);
  EXPECT_NEAR(one_more(1000_B, true), 1000 / 55e3 + 0.2, 1e-6) << "as in the first row";
  EXPECT_NEAR(one_more(8_MiB, true), 8388608 / 55e3 + 0.3, 1e-6) << "as in the last row";
}

TEST(SimulateBatch, costs_the_host_one_call_and_a_little_for_each_further_copy) {
  EXPECT_NEAR(in_microseconds(BothWays().copies(5).predict().submission), 5 * 2, 1e-6);
  EXPECT_NEAR(in_microseconds(BothWays().copies(5).as_batch(5).predict().submission), 2 + 4 * 0.5, 1e-6);
  // 1.9 µs for the copy, 0.15 µs for each of the others, 0.35 µs for the end mark.
  EXPECT_NEAR(in_microseconds(BothWays().copies(5).as_batch(5).predict(planted_profile()).submission),
              1.9 + 4 * 0.15 + 0.35, 1e-6);
}

TEST(SimulateBatch, is_queued_as_a_whole_when_its_call_returns) {
  BothWays s;
  s.copies(3).as_batch(3);
  const Prediction t = s.predict();
  EXPECT_SPAN(t, OpId{0}, 3 + 10, 3 + 20);  // the call of three copies takes 3 µs
  EXPECT_SPAN(t, OpId{1}, 24, 34);
  EXPECT_SPAN(t, OpId{2}, 35, 45);
  const Prediction single = BothWays().copies(3).predict();
  EXPECT_SPAN(single, OpId{0}, 2 + 10, 2 + 20);
}

// The CUDA device waits for the one event behind all of a batch: see `submission`.
TEST(SimulateBatch, ends_as_a_whole_for_an_op_in_another_stream_that_waits_for_its_first_copy) {
  BothWays s;
  s.copies(3).as_batch(3);
  const OpId waiting = s.from_device();
  s.schedule.ops[waiting.index()].after = {OpId{0}};
  const Prediction t = s.predict(batching_node(), {.held = true});
  EXPECT_SPAN(t, OpId{2}, 32, 42);
  EXPECT_SPAN(t, waiting, 42 + 10, 42 + 20);
}

TEST(SimulateBatch, ends_as_a_whole_for_a_host_thread_that_waits_for_its_first_copy) {
  Profile p = batching_node();
  p.host =
      HostModel{.copy = {{.threads = 1, .rate = Interval<Bandwidth>::exact(gigabytes_per_second(1))}}, .calls = {}};
  BothWays s;
  s.copies(3).as_batch(3);
  const BufferId x = s.host("a", ten_kb);
  const BufferId y = s.host("b", ten_kb);
  const OpId copied = s.host_copy(AgentId{0}, {x, 0_B, ten_kb}, {y, 0_B, ten_kb}, {OpId{0}});
  // Queued after 2 + 2 · 0.5 µs; the last copy ends 42 µs later.
  const Prediction t = s.predict(p);
  EXPECT_SPAN(t, OpId{2}, 3 + 32, 3 + 42);
  EXPECT_SPAN(t, copied, 3 + 42, 3 + 42 + 10);
}

TEST(SimulateBatch, is_unsupported_without_figures_and_the_message_names_them) {
  const BothWays batch = BothWays().copies(2).as_batch(2);
  const BothWays back = BothWays().copies_back(2).as_batch(2);
  EXPECT_EQ(prediction_refusal(batch, batching_node()), "");
  EXPECT_EQ(prediction_refusal(batch, paper_profile()),
            "profile paper has no figures for copies in batches: measure it (shiplap measure)");
  Profile no_gaps = batching_node();
  no_gaps.links[0].h2d.batched.clear();
  EXPECT_NE(prediction_refusal(batch, no_gaps).find("copies in batches"), std::string::npos);
  EXPECT_EQ(prediction_refusal(back, no_gaps), "") << "the other direction has its own";
  Profile no_cost = batching_node();
  no_cost.submission.batched_copy.reset();
  EXPECT_NE(prediction_refusal(batch, no_cost).find("copies in batches"), std::string::npos);
  EXPECT_EQ(prediction_refusal(BothWays().copies(2), paper_profile()), "") << "single copies need none of it";
}

TEST(SimulateGraph, is_submitted_for_a_fixed_time_and_more_for_each_op) {
  for (const int count : {1, 2, 9}) {
    BothWays s;
    s.copies(count);
    s.schedule.as_graph = true;
    EXPECT_NEAR(in_microseconds(s.predict().submission), 6 + 0.25 * count, 1e-6) << count;
    EXPECT_NEAR(in_microseconds(s.predict(planted_profile()).submission), 4.3 + 0.45 * count, 1e-6) << count;
  }
}

TEST(SimulateGraph, pays_nothing_for_records_and_waits) {
  Profile p = batching_node();
  p.submission.event_record = us(100);
  p.submission.event_wait = us(100);
  BothWays s;
  const OpId there = s.to_device();
  const OpId back = s.from_device();
  s.schedule.ops[back.index()].after = {there};
  s.schedule.as_graph = true;
  const Prediction t = s.predict(p);
  EXPECT_NEAR(in_microseconds(t.submission), 6 + 2 * 0.25, 1e-6);
  EXPECT_SPAN(t, back, 6.5 + 20 + 10, 6.5 + 20 + 20);
}

TEST(SimulateGraph, with_copies_has_all_its_ops_queued_when_its_launch_returns) {
  // The call takes 6 + 2 · 0.25 = 6.5 µs; then the streams start, both after their L+o.
  BothWays s;
  const OpId there = s.to_device();
  const OpId back = s.from_device();
  s.schedule.as_graph = true;
  const Prediction t = s.predict();
  EXPECT_NEAR(in_microseconds(t.submission), 6.5, 1e-6);
  EXPECT_SPAN(t, there, 16.5, 26.5);
  EXPECT_SPAN(t, back, 16.5, 26.5);
  s.schedule.as_graph = false;
  const Prediction op_by_op = s.predict();
  EXPECT_SPAN(op_by_op, there, 12, 22);
  EXPECT_SPAN(op_by_op, back, 14, 24);
}

TEST(SimulateGraph, held_takes_what_its_ops_take_from_the_first_moment_on) {
  BothWays s;
  s.copies(4);
  s.schedule.as_graph = true;
  EXPECT_NEAR(s.held(), 10 + 4 * 10 + 3 * 3, 1e-6);
}

TEST(SimulateGraph, of_kernels_runs_them_one_after_the_other_from_the_start) {
  // Planted: 2.3 µs of launch latency, 1.1 µs between empty kernels of a stream.
  BothWays s;
  for (int i = 0; i < 5; ++i) s.kernel(s.in, {});
  s.schedule.as_graph = true;
  EXPECT_NEAR(in_microseconds(s.predict(planted_profile()).timeline.makespan), 2.3 + 4 * 1.1, 1e-6);
}

TEST(SimulateGraph, is_unsupported_without_figures_and_the_message_names_them) {
  BothWays s;
  s.copies(2);
  s.schedule.as_graph = true;
  EXPECT_EQ(prediction_refusal(s, batching_node()), "");
  EXPECT_EQ(prediction_refusal(s, paper_profile()),
            "profile paper has no figures for the launch of graphs: measure it (shiplap measure)");
  for (const auto figure : {&SubmissionModel::graph_launch, &SubmissionModel::graph_op}) {
    Profile p = batching_node();
    (p.submission.*figure).reset();
    EXPECT_NE(prediction_refusal(s, p).find("the launch of graphs"), std::string::npos);
  }
}

TEST(SimulateStreamCalls, hold_their_agent_for_the_time_of_the_profile) {
  // Planted: 14 µs to make a stream, 6 µs to give it back; the copy behind them is submitted for 1.9 µs.
  BothWays s;
  const OpId created = s.call(HostCall::Kind::create_stream);
  const OpId destroyed = s.call(HostCall::Kind::destroy_stream);
  const OpId copied = s.to_device(1_B);
  const Prediction t = s.predict(planted_profile());
  EXPECT_SPAN(t, created, 0, 14);
  EXPECT_SPAN(t, destroyed, 14, 20);
  EXPECT_NEAR(in_microseconds(t.timeline.spans[copied.index()].start), 20 + 1.9 + 4.6, 1e-6);
  EXPECT_EQ(t.timeline.spans[created.index()].engine, Engine::host);
}

TEST(SimulateStreamCalls, are_unsupported_without_figures_and_the_message_names_them) {
  for (const auto& [kind, name] : {std::pair{HostCall::Kind::create_stream, "create stream"},
                                   {HostCall::Kind::destroy_stream, "destroy stream"}}) {
    BothWays s;
    s.call(HostCall::Kind::create_stream);
    if (kind != HostCall::Kind::create_stream) s.call(kind);
    EXPECT_EQ(prediction_refusal(s, planted_profile()), "");
    Profile p = planted_profile();
    p.host->calls.erase(name);
    EXPECT_NE(prediction_refusal(s, p).find("\"" + std::string(name) + "\" by the host"), std::string::npos)
        << prediction_refusal(s, p);
  }
}

}  // namespace
}  // namespace shiplap
