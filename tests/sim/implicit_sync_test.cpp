// GPUs with implicit synchronisation: a copy to the host waits for kernels that were submitted before it. The
// simulation must come to an end whichever op is ready first, and whichever host agent makes its calls first.
#include <gtest/gtest.h>

#include "shiplap/schedule/validate.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

/// One copy engine for both directions.
Profile with_implicit_sync(EngineOrder order, ImplicitSync rule) {
  Profile profile = planted_profile();
  profile.gpus[0].copy_engines = 1;
  profile.gpus[0].engine_order = order;
  profile.gpus[0].implicit_sync = rule;
  return profile;
}

/// Streams a, b and c, and memory of its own for each op.
struct OneEngine : Builder {
  StreamId a = schedule.add_stream("a");
  StreamId b = schedule.add_stream("b");
  StreamId c = schedule.add_stream("c");
  OneEngine() {
    schedule.agents = {{"main"}, {"worker"}};
    schedule.add_kernel("k");
  }
  OpId to_device(StreamId stream, std::vector<OpId> after = {}) {
    return copy(stream, {host("x", 8_B), 0_B, 8_B}, {device("d", 8_B), 0_B, 8_B}, std::move(after));
  }
  OpId from_device(StreamId stream, std::vector<OpId> after = {}) {
    return copy(stream, {device("d", 8_B), 0_B, 8_B}, {host("x", 8_B), 0_B, 8_B}, std::move(after));
  }
  OpId work(StreamId stream, Seconds time) {
    const OpId op = kernel(stream, {});
    std::get<Kernel>(schedule.ops[op.index()].what).work = time;
    return op;
  }
  OpId by_worker(OpId op) {
    schedule.ops[op.index()].agent = {1};
    return op;
  }
  std::vector<Span> spans(EngineOrder order, ImplicitSync rule) const {
    EXPECT_EQ(joined(problems(schedule)), "");
    return simulate(schedule, with_implicit_sync(order, rule)).timeline.spans;
  }
};

constexpr ImplicitSync implicit_rules[] = {ImplicitSync::until_started, ImplicitSync::until_ended};

TEST(ImplicitSync, concerns_kernels_that_another_agent_has_submitted_before_the_copy_and_not_those_it_submits_later) {
  for (const ImplicitSync rule : implicit_rules)
    for (const EngineOrder order : {EngineOrder::submission, EngineOrder::readiness}) {
      OneEngine s;
      s.by_worker(s.add(HostCall{.kind = HostCall::Kind::wait, .work = milliseconds(1)}, {}, {}, 0));
      const OpId in = s.by_worker(s.to_device(s.a));
      s.by_worker(s.work(s.a, milliseconds(1)));
      const OpId out = s.from_device(s.b);  // the main thread submits it at once
      const auto spans = s.spans(order, rule);
      EXPECT_LT(spans[out.index()].end, microseconds(50));
      EXPECT_GT(spans[in.index()].start, milliseconds(1));
    }
}

TEST(ImplicitSync, lets_a_copy_that_a_kernel_waits_for_pass_the_copy_that_waits_for_the_kernel) {
  for (const ImplicitSync rule : implicit_rules) {
    OneEngine s;
    const OpId first = s.work(s.c, milliseconds(1));
    const OpId in = s.to_device(s.a, {first});
    const OpId second = s.work(s.a, milliseconds(1));
    const OpId out = s.from_device(s.b);  // is ready before `in`
    const auto spans = s.spans(EngineOrder::readiness, rule);
    EXPECT_LT(spans[in.index()].end, spans[out.index()].start);
    const Span& kernel = spans[second.index()];
    EXPECT_GE(spans[out.index()].start, rule == ImplicitSync::until_ended ? kernel.end : kernel.start);
  }
}

TEST(ImplicitSync, lets_no_copy_pass_another_one_of_its_stream) {
  for (const ImplicitSync rule : implicit_rules) {
    OneEngine s;
    s.work(s.a, milliseconds(1));
    const OpId out = s.from_device(s.b);
    const OpId in = s.to_device(s.b);
    const auto spans = s.spans(EngineOrder::readiness, rule);
    EXPECT_GE(spans[in.index()].start, spans[out.index()].end);
  }
}

}  // namespace
}  // namespace shiplap
