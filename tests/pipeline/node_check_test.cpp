// Checks of nodes that are sick, busy or slow.
#include "shiplap/pipeline/node_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "shiplap/core/error.hpp"
#include "tests/support/sick_node.hpp"

namespace shiplap {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* to_gpu = "copies to the GPU";

CheckedFigure figure_of(const NodeCheck& checked, std::string_view what) {
  for (const CheckedFigure& f : checked.figures)
    if (f.what == what) return f;
  throw Error("no such figure");
}

/// The load of an idle node.
NodeLoad idle(Seconds) { return {.gpu = {.busy = 0.0, .link = Bandwidth{0}}, .host = 0.01}; }

NodeCheckOptions idle_node(unsigned retries = 1) {
  NodeCheckOptions options;
  options.retries = retries;
  options.load = idle;
  return options;
}

/// Loads for one look after the other; the last one stays.
std::function<NodeLoad(Seconds)> loads(std::vector<NodeLoad> all) {
  return
      [all = std::move(all), look = std::size_t{0}](Seconds) mutable { return all[std::min(look++, all.size() - 1)]; };
}

/// A profile whose copies to the GPU take this much longer.
Profile slow_link(double factor) {
  Profile profile = sound_profile();
  for (PerByte* p :
       {&profile.links[0].h2d.per_byte.value, &profile.links[0].h2d.per_byte.low, &profile.links[0].h2d.per_byte.high})
    p->seconds *= factor;
  return profile;
}

TEST(NodeCheck, finds_nothing_wrong_with_a_sound_idle_node_in_one_attempt) {
  Sickness healthy;
  SickNode node(healthy);
  const NodeCheck checked = check_node(node, idle_node());
  EXPECT_EQ(checked.verdict(), Verdict::good);
  EXPECT_EQ(checked.attempts, 1u);
  for (const CheckedFigure& f : checked.figures) {
    EXPECT_EQ(f.verdict, Verdict::good) << f.what << " " << f.measured;
    EXPECT_EQ(f.attempts, 1u);
  }
}

TEST(NodeCheck, measures_only_the_primitives_that_its_figures_need) {
  Sickness healthy;
  SickNode node(healthy);
  const std::vector<std::string> needed = checked_primitives();
  for (const Measurement& m : check_node(node, idle_node()).profile.measurements)
    EXPECT_THAT(needed, Contains(m.primitive));
}

TEST(NodeCheck, calls_a_figure_bad_when_it_is_bad_each_time) {
  Sickness none;
  SickNode node(none, slow_link(2));
  for (const unsigned retries : {0u, 1u, 2u}) {
    const NodeCheck checked = check_node(node, idle_node(retries));
    EXPECT_EQ(checked.verdict(), Verdict::bad);
    EXPECT_EQ(checked.attempts, retries + 1);
    EXPECT_EQ(figure_of(checked, to_gpu).verdict, Verdict::bad);
    EXPECT_EQ(figure_of(checked, to_gpu).attempts, retries + 1);
    EXPECT_EQ(figure_of(checked, "device memory").attempts, 1u) << "only what is bad is measured again";
    EXPECT_THAT(checked.busy, IsEmpty());
  }
}

TEST(NodeCheck, forgives_what_was_bad_only_in_the_first_attempt) {
  Sickness sickness{.slower = 2.5};
  SickNode node(sickness);
  unsigned looks = 0;
  NodeCheckOptions options = idle_node();
  options.load = [&](Seconds duration) {
    if (++looks == 2) sickness.slower = 1;  // the disturbance ends after the first attempt
    return idle(duration);
  };
  const NodeCheck checked = check_node(node, options);
  EXPECT_EQ(checked.verdict(), Verdict::good);
  EXPECT_EQ(checked.attempts, 2u);
  EXPECT_EQ(figure_of(checked, to_gpu).verdict, Verdict::good);
  EXPECT_EQ(figure_of(checked, to_gpu).attempts, 2u);
}

TEST(NodeCheck, keeps_a_bad_verdict_that_only_others_or_time_could_have_changed) {
  Sickness sickness{.slower = 2.5};
  SickNode node(sickness);
  unsigned looks = 0;
  NodeCheckOptions options = idle_node(0);
  options.load = [&](Seconds duration) {
    ++looks;
    return idle(duration);
  };
  EXPECT_EQ(check_node(node, options).verdict(), Verdict::bad);
  EXPECT_EQ(looks, 2u) << "the node is observed before it is measured and before it is called bad";
}

TEST(NodeCheck, measures_nothing_while_somebody_uses_the_node) {
  struct Case {
    NodeLoad load;
    const char* who;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{.gpu = {.busy = 0.9, .processes = {{.id = 4242, .name = "python3"}}}}, "process 4242, python3"},
           {{.gpu = {.busy = 0.0, .link = Bandwidth{20e9}}}, "link of the GPU carries 20"},
           {{.host = 0.9}, "90 % of the time of all CPUs"}}) {
    Sickness sickness;
    bool ran = false;
    sickness.in_run = [&] { ran = true; };
    SickNode node(sickness, slow_link(3));
    NodeCheckOptions options = idle_node();
    options.load = loads({c.load});
    const NodeCheck checked = check_node(node, options);
    EXPECT_EQ(checked.verdict(), Verdict::busy);
    EXPECT_THAT(checked.busy, Contains(HasSubstr(c.who)));
    EXPECT_EQ(checked.attempts, 0u);
    EXPECT_FALSE(ran) << "the work of others is not disturbed";
    for (const CheckedFigure& f : checked.figures) EXPECT_EQ(f.verdict, Verdict::unknown) << f.what;
  }
}

TEST(NodeCheck, measures_when_the_load_was_only_that_of_opening_the_device) {
  Sickness healthy;
  SickNode node(healthy);
  NodeCheckOptions options = idle_node();
  options.load = loads({{.gpu = {.busy = 0.4}}, idle({})});
  EXPECT_EQ(check_node(node, options).verdict(), Verdict::good);
}

TEST(NodeCheck, condemns_no_figure_when_somebody_came_while_it_was_measured) {
  for (const NodeLoad& later : {NodeLoad{.gpu = {.busy = 0.5}}, NodeLoad{.host = 0.5},
                                NodeLoad{.gpu = {.busy = 0.0, .processes = {{.id = 7, .name = "idle now"}}}}}) {
    Sickness none;
    SickNode node(none, slow_link(2));
    NodeCheckOptions options = idle_node();
    options.load = loads({idle({}), later});
    const NodeCheck checked = check_node(node, options);
    EXPECT_EQ(checked.verdict(), Verdict::busy);
    EXPECT_EQ(checked.attempts, 1u);
    EXPECT_EQ(figure_of(checked, to_gpu).verdict, Verdict::busy);
    EXPECT_EQ(figure_of(checked, to_gpu).causes, checked.busy.front());
    EXPECT_EQ(figure_of(checked, "copies from the GPU").verdict, Verdict::good) << "good figures stay good";
  }
}

TEST(NodeCheck, condemns_no_figure_whose_times_change_from_visit_to_visit) {
  Sickness sickness;
  unsigned runs = 0;
  double visit = 1;
  // Unequal samples are taken again in a second visit, which somebody disturbs.
  sickness.noise = [&] { return visit * (1 + 0.001 * (++runs % 3)); };
  SickNode node(sickness, slow_link(2));
  NodeCheckOptions options = idle_node(0);
  options.progress = [&](std::string_view point, std::size_t, std::size_t) {
    visit = point.ends_with("(again)") ? 1.6 : 1;
  };
  const NodeCheck checked = check_node(node, options);
  EXPECT_EQ(checked.verdict(), Verdict::busy);
  EXPECT_THAT(checked.busy, ElementsAre(HasSubstr("from one visit to the next")));
}

TEST(NodeCheck, condemns_no_figure_that_is_bad_but_not_equally_so) {
  Sickness sickness;
  SickNode node(sickness, slow_link(2));
  unsigned looks = 0;
  NodeCheckOptions options = idle_node();
  options.load = [&](Seconds duration) {
    if (++looks == 2) sickness.slower = 2;
    return idle(duration);
  };
  const NodeCheck checked = check_node(node, options);
  EXPECT_EQ(checked.verdict(), Verdict::busy);
  EXPECT_THAT(checked.busy, Contains(HasSubstr("copies to the GPU changed from")));
}

TEST(NodeCheck, forgives_no_byte_that_did_not_arrive) {
  Sickness sickness{.damages_bytes = true};
  SickNode node(sickness);
  NodeCheckOptions options = idle_node();
  options.load = loads({idle({}), {.gpu = {.busy = 0.9}}});
  const NodeCheck checked = check_node(node, options);
  EXPECT_EQ(checked.verdict(), Verdict::bad);
  EXPECT_EQ(figure_of(checked, "bytes that arrived").verdict, Verdict::bad);
}

/// A clock that each run of a device advances.
struct RunClock {
  RunClock(Sickness& sickness, Seconds of_a_run) {
    sickness.in_run = [this, of_a_run] { now += of_a_run; };
  }
  Deadline at(Seconds limit) {
    return Deadline(limit, [this] { return now; });
  }
  Seconds now{0};
};

TEST(NodeCheckBudget, is_kept_and_figures_that_do_not_fit_are_unknown_and_never_bad) {
  for (const double limit : {0.0, 1.0, 5.0, 20.0, 60.0}) {
    for (const double slower : {1.0, 2.0}) {
      Sickness sickness;
      SickNode node(sickness, slow_link(slower));
      RunClock clock(sickness, milliseconds(100));
      NodeCheckOptions options = idle_node();
      options.deadline = clock.at(Seconds{limit});
      const NodeCheck checked = check_node(node, options);
      EXPECT_LE(clock.now.count(), limit + 0.3);
      for (const CheckedFigure& f : checked.figures) {
        if (slower == 1.0) {
          if (f.verdict == Verdict::unknown) {
            EXPECT_EQ(f.measured, "not measured within the budget") << f.what;
          }
          EXPECT_NE(f.verdict, Verdict::bad) << f.what << " in " << limit << " s";
          EXPECT_NE(f.verdict, Verdict::low) << f.what << " in " << limit << " s";
        }
      }
    }
  }
}

TEST(NodeCheckBudget, orders_the_copies_before_what_may_be_left_out) {
  Sickness sickness;
  SickNode node(sickness);
  RunClock clock(sickness, milliseconds(100));
  NodeCheckOptions options = idle_node();
  options.deadline = clock.at(Seconds{25});
  const NodeCheck checked = check_node(node, options);
  EXPECT_EQ(figure_of(checked, to_gpu).verdict, Verdict::good);
  EXPECT_EQ(figure_of(checked, "kernels that read host memory").verdict, Verdict::unknown);
  EXPECT_EQ(checked.verdict(), Verdict::good);
}

TEST(NodeCheckBudget, makes_a_bad_figure_low_when_no_time_is_left_to_make_sure) {
  Sickness sickness;
  SickNode node(sickness, slow_link(2));
  RunClock clock(sickness, milliseconds(100));
  NodeCheckOptions options = idle_node();
  options.deadline = clock.at(Seconds{25});
  const NodeCheck checked = check_node(node, options);
  EXPECT_EQ(figure_of(checked, to_gpu).verdict, Verdict::low);
  EXPECT_THAT(figure_of(checked, to_gpu).causes, HasSubstr("the budget left no time to make sure"));
  EXPECT_EQ(checked.verdict(), Verdict::low);
}

TEST(NodeCheckBudget, tells_nothing_when_it_is_over_before_the_first_row) {
  Sickness healthy;
  SickNode node(healthy);
  NodeCheckOptions options = idle_node();
  options.deadline = Deadline(Seconds{0}, [] { return Seconds{1}; });
  EXPECT_EQ(check_node(node, options).verdict(), Verdict::unknown);
}

TEST(UnsteadyFraction, counts_long_points_whose_two_visits_differ) {
  const auto point = [](const char* primitive, unsigned visits, std::vector<double> samples) {
    Measurement m;
    m.primitive = primitive;
    m.visits = visits;
    m.samples_us = std::move(samples);
    return m;
  };
  const std::vector<Measurement> measurements{point("a", 2, {1000, 1000, 1500, 1500}),
                                              point("a", 2, {1000, 1001, 1010, 1000}),
                                              point("a", 1, {1000, 1000, 1500, 1500}), point("a", 2, {10, 10, 15, 15}),
                                              point("b", 2, {1000, 1000, 1500, 1500})};
  const std::vector<std::string> only_a{"a"};
  EXPECT_DOUBLE_EQ(unsteady_fraction(measurements, only_a), 0.5);
  EXPECT_DOUBLE_EQ(unsteady_fraction({}, only_a), 0);
}

TEST(NodeCheck, judges_a_profile_as_it_is_without_any_attempt) {
  const NodeCheck checked = check_profile(slow_link(2));
  EXPECT_EQ(checked.verdict(), Verdict::bad);
  EXPECT_EQ(checked.attempts, 0u);
}

}  // namespace
}  // namespace shiplap
