// What a simulation says of figures that a profile does not have.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/sim/three_agents.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using namespace testing_sim;

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
    const std::string text = message_of<Unsupported>([&] { simulate(s.schedule, p); });
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

}  // namespace
}  // namespace shiplap
