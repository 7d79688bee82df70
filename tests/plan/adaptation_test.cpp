#include "shiplap/plan/adaptation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t large = 0;  // chunks
constexpr std::uint32_t small = 1;

/// What a batch takes with kernels `k` times as long as planned and a link `l` times: copies of 100 us concurrent with
/// kernels of 50 us. Large chunks leave a part of the shorter one uncovered, small chunks cost something each.
SteadyState truth(std::uint32_t choice, double k, double l = 1) {
  const double copies = 100 * l;
  const double kernels = 50 * k;
  const double time = std::max(copies, kernels) + (choice == large ? std::min(copies, kernels) / 2 : 30 * l);
  return {.period = microseconds(time), .span = microseconds(time + 10 * l), .kernels = microseconds(kernels)};
}

SteadyTable table() {
  SteadyTable result{.in_flight = 1, .choices = {{.chunks = 4}, {.chunks = 16}}};
  for (int i = -12; i <= 12; ++i) result.factors.push_back(std::exp2(i / 4.0));
  for (std::uint32_t choice : {large, small}) {
    auto& states = result.states.emplace_back();
    for (const double factor : result.factors) states.push_back(truth(choice, factor));
  }
  return result;
}

/// The watched: batches of which it says what they take.
struct Watched {
  Adaptation adaptation;
  std::uint64_t batch = 0;
  std::vector<BatchDecision> decisions{};
  std::vector<std::string> log{};
  double marks = 0;  ///< what observing kernels adds to the span, over 1

  explicit Watched(const AdaptationOptions& options = {.explore = 0}) : adaptation(table(), options) {
    log.push_back(header_line("frames", "0123", table(), options));
  }
  /// One batch, with kernels and link so many times as slow; and what noise makes of what is seen.
  void pass(double kernel, double link = 1, double noise = 0) {
    BatchObservation seen{.batch = batch, .choice = adaptation.choice(batch)};
    const SteadyState is = truth(seen.choice, kernel, link);
    seen.span = is.span * (1 + noise);
    if (adaptation.trace_level(batch) != TraceLevel::span) {
      seen.kernels = {is.kernels * (1 - noise) / 4, is.kernels * 3 / 4};
      seen.span = seen.span * (1 + marks);
    }
    log.push_back(log_line_of(seen));
    if (auto decision = adaptation.observe(seen)) {
      log.push_back(log_line_of(*decision));
      decisions.push_back(*decision);
    }
    ++batch;
  }
  void pass(int batches, double kernel) {
    for (int i = 0; i < batches; ++i) pass(kernel);
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : log) all += line + "\n";
    return all;
  }
};

TEST(Adaptation, begins_with_the_choice_that_is_predicted_best) {
  // 100 + 25 us in large chunks, 100 + 30 in small ones.
  EXPECT_EQ(Watched().adaptation.choice(0), large);
}

TEST(Adaptation, of_kernels_as_planned_decides_nothing) {
  Watched watched;
  watched.pass(1000, 1);
  EXPECT_TRUE(watched.decisions.empty());
}

TEST(Adaptation, follows_a_kernel_that_suddenly_takes_longer_and_back) {
  Watched watched;
  watched.pass(100, 1);
  watched.pass(8, 4);
  ASSERT_EQ(watched.decisions.size(), 1u) << watched.text();
  EXPECT_LE(watched.decisions[0].after, 102u) << "one span is off, then two kernels are";
  EXPECT_NEAR(watched.decisions[0].kernel, 4, 0.01);
  EXPECT_EQ(watched.decisions[0].from, large);
  EXPECT_EQ(watched.decisions[0].to, small) << "200 + 30 us instead of 200 + 50";
  EXPECT_NEAR(in_microseconds(watched.decisions[0].period_to), 230, 1);
  watched.pass(100, 4);
  EXPECT_EQ(watched.decisions.size(), 1u) << "that is all there is to decide";
  watched.pass(8, 1);
  ASSERT_GE(watched.decisions.size(), 2u);
  EXPECT_EQ(watched.adaptation.choice(watched.batch), large);
}

TEST(Adaptation, takes_the_batch_whose_span_is_off_as_a_reason_to_look_at_kernels) {
  Watched watched({.observe_every = 1'000'000, .explore = 0});
  watched.pass(100, 1);
  watched.pass(4, 6);
  ASSERT_FALSE(watched.decisions.empty());
  EXPECT_LE(watched.decisions[0].after, 102u);
  EXPECT_NEAR(watched.adaptation.kernel(), 6, 0.01);
}

TEST(Adaptation, follows_a_slow_drift) {
  Watched watched;
  double kernel = 1;
  for (int i = 0; i < 400; ++i, kernel *= 1.005) watched.pass(kernel);
  EXPECT_NEAR(watched.adaptation.kernel() / kernel, 1, 0.08);
  EXPECT_GT(watched.decisions.size(), 5u);
}

TEST(Adaptation, stays_where_another_choice_gains_less_than_the_least_gain_and_says_so) {
  Watched watched;
  watched.pass(10, 1);
  // 100 + 30.5 us in large chunks, 100 + 30 in small ones.
  watched.pass(10, 1.22);
  ASSERT_EQ(watched.decisions.size(), 1u);
  EXPECT_EQ(watched.decisions[0].to, watched.decisions[0].from);
  EXPECT_EQ(watched.decisions[0].period_to, watched.decisions[0].period_from);
  EXPECT_NE(watched.decisions[0].reason.find("kernels take 1.22 times as long"), std::string::npos)
      << watched.decisions[0].reason;
}

TEST(Adaptation, lays_what_kernels_do_not_explain_on_the_link) {
  Watched watched;
  watched.pass(40, 1);
  for (int i = 0; i < 20; ++i) watched.pass(1.0, 2.0);
  ASSERT_FALSE(watched.decisions.empty());
  EXPECT_NEAR(watched.adaptation.link(), 2, 0.1);
  EXPECT_NEAR(watched.adaptation.kernel(), 1, 0.02);
  EXPECT_NE(watched.decisions[0].reason.find("the link"), std::string::npos) << watched.decisions[0].reason;
}

TEST(Adaptation, of_noise_of_twice_the_tolerance_changes_no_choice_once_it_is_known) {
  Watched watched;
  for (int i = 0; i < 2000; ++i) watched.pass(1, 1, 0.08 * std::sin(i * i));
  EXPECT_LE(watched.decisions.size(), 20u);
  EXPECT_NEAR(watched.adaptation.kernel(), 1, 0.06);
  for (const BatchDecision& decision : watched.decisions)
    EXPECT_TRUE(decision.after <= 100 || decision.from == decision.to) << log_line_of(decision);
}

TEST(Adaptation, takes_what_observing_kernels_adds_to_a_span_for_no_change_of_anything) {
  Watched watched;
  watched.marks = 0.13;  // batches of 128 frames of results/h200/adaptive.json
  watched.pass(500, 1);
  EXPECT_TRUE(watched.decisions.empty()) << watched.text();
  watched.pass(100, 4);
  EXPECT_NEAR(watched.adaptation.kernel(), 4, 0.05);
  EXPECT_NEAR(watched.adaptation.link(), 1, 0.02);
  EXPECT_EQ(watched.adaptation.choice(watched.batch), small);
}

TEST(Adaptation, lays_a_change_that_spans_showed_first_on_the_kernels_where_these_explain_it) {
  for (int phase = 0; phase < 16; ++phase) {
    Watched watched;
    watched.pass(40 + phase, 1);
    watched.pass(40, 1.12);
    EXPECT_NEAR(watched.adaptation.kernel(), 1.12, 0.03) << phase;
    EXPECT_NEAR(watched.adaptation.link(), 1, 0.01) << phase;
  }
}

TEST(Adaptation, follows_the_link_where_kernels_take_no_time) {
  SteadyTable copies = table();
  for (auto& states : copies.states)
    for (SteadyState& state : states) state = {microseconds(100), microseconds(110), Seconds{0}};
  Adaptation adaptation(copies, {.observe_every = 1, .explore = 0});
  for (std::uint64_t batch = 0; batch < 20; ++batch)
    adaptation.observe({.batch = batch, .choice = 0, .span = microseconds(110), .kernels = {Seconds{0}}});
  for (std::uint64_t batch = 20; batch < 40; ++batch)
    adaptation.observe({.batch = batch, .choice = 0, .span = microseconds(220), .kernels = {Seconds{0}}});
  EXPECT_NEAR(adaptation.link(), 2, 0.01);
}

TEST(Adaptation, explains_a_small_change_of_spans_at_the_next_batch_whose_kernels_are_observed) {
  for (int phase = 0; phase < 4; ++phase) {
    Watched watched({.observe_every = 4, .explore = 0});
    watched.pass(40 + phase, 1);
    for (int i = 0; i < 40; ++i) watched.pass(1.0, 1.05);
    EXPECT_GT(watched.adaptation.link(), 1.02) << phase;
  }
}

TEST(Adaptation, of_batches_in_flight_takes_no_span_for_steady_whose_neighbours_are_others) {
  SteadyTable in_flight = table();
  in_flight.in_flight = 3;
  Adaptation adaptation(in_flight);
  for (std::uint64_t batch = 0; batch < 200; ++batch) {
    const std::uint32_t choice = adaptation.choice(batch);
    const bool changed = batch % 40 < 3;  // and the first ones
    const SteadyState is = truth(choice, batch / 40 % 2 == 0 ? 1 : 4);
    adaptation.observe(
        {.batch = batch, .choice = choice, .span = is.span * (changed ? 0.4 : 1), .kernels = {is.kernels}});
    EXPECT_EQ(adaptation.link(), 1) << batch;
  }
}

TEST(Adaptation, learns_what_a_choice_takes_beyond_its_prediction_and_does_not_come_back_for_it) {
  Adaptation adaptation(table(), {.observe_every = 1, .explore = 0.05});
  int in_small = 0;
  for (std::uint64_t batch = 0; batch < 300; ++batch) {
    const std::uint32_t choice = adaptation.choice(batch);
    in_small += choice == small;
    // From batch 10 on 130 us are predicted of small chunks and 137.5 of large ones; small ones take a quarter longer.
    const SteadyState is = truth(choice, batch < 10 ? 1 : 1.5);
    const double longer = choice == small ? 1.25 : 1;
    adaptation.observe({.batch = batch, .choice = choice, .span = is.span * longer, .kernels = {is.kernels}});
  }
  EXPECT_EQ(adaptation.choice(300), large);
  EXPECT_GT(in_small, 0);
  EXPECT_LT(in_small, 10);
  EXPECT_EQ(adaptation.link(), 1);
}

TEST(Adaptation, looks_once_whether_what_one_choice_takes_beyond_its_prediction_is_its_own) {
  // Whatever is chosen takes a fifth longer: nothing is gained by going from one to the other.
  Watched watched;
  for (int i = 0; i < 60; ++i) watched.pass(1.0, 1.2);
  EXPECT_EQ(watched.adaptation.link(), 1);
  ASSERT_EQ(watched.decisions.size(), 2u) << watched.text();
  EXPECT_EQ(watched.decisions[0].to, small) << "of which half of that is expected";
  // 157 us of 135: a kernel as planned concurrent with copies that take 1.2 times as long, and their fixed costs.
  EXPECT_NEAR(watched.decisions[1].period_to / microseconds(125), truth(large, 1, 1.2).span / truth(large, 1).span,
              0.001);
  EXPECT_EQ(watched.adaptation.choice(60), large);
}

/// Small chunks take 0.92 times as long as predicted: 119.6 us and not 130, beside 125 of large ones.
struct BetterThanPredicted {
  Adaptation adaptation;
  std::vector<std::uint32_t> chosen{};

  explicit BetterThanPredicted(const SteadyTable& predicted, double explore, double factor)
      : adaptation(predicted, {.explore = explore}) {
    for (std::uint64_t batch = 0; batch < 300; ++batch) {
      chosen.push_back(adaptation.choice(batch));
      const SteadyState is = truth(chosen.back(), 1);
      BatchObservation seen{.batch = batch, .choice = chosen.back()};
      seen.span = is.span * (chosen.back() == small ? factor : 1);
      if (adaptation.trace_level(batch) != TraceLevel::span) seen.kernels = {is.kernels};
      adaptation.observe(seen);
    }
  }
  auto in_small() const { return std::ranges::count(chosen, small); }
};

TEST(Adaptation, tries_what_is_predicted_nearly_as_good_and_stays_with_it_where_it_is_better) {
  const BetterThanPredicted tried(table(), 0.05, 0.92);
  EXPECT_GT(tried.in_small(), 270);
  EXPECT_EQ(tried.chosen.back(), small);
}

TEST(Adaptation, tries_a_choice_once_where_it_is_no_better) {
  const BetterThanPredicted tried(table(), 0.05, 1.0);
  EXPECT_GE(tried.in_small(), 4);
  EXPECT_LE(tried.in_small(), 8);
  EXPECT_EQ(tried.chosen.back(), large);
}

TEST(Adaptation, leaves_a_choice_that_is_far_worse_than_predicted_early) {
  const BetterThanPredicted tried(table(), 0.05, 1.6);
  EXPECT_GE(tried.in_small(), 1);
  EXPECT_LE(tried.in_small(), 5) << "two spans, and batches whose kernels are observed before and behind";
}

TEST(Adaptation, tries_nothing_that_is_predicted_far_worse_and_nothing_among_batches_in_flight) {
  EXPECT_EQ(BetterThanPredicted(table(), 0.03, 0.92).in_small(), 0) << "4 % are predicted";
  SteadyTable in_flight = table();
  in_flight.in_flight = 3;
  EXPECT_EQ(BetterThanPredicted(in_flight, 0.05, 0.92).in_small(), 0);
}

TEST(Adaptation, of_a_shock_at_any_batch_of_a_trial_makes_few_decisions) {
  for (const double factor : {1.3, 2.0, 0.5})
    for (std::uint64_t at = 8; at < 24; ++at) {
      Watched watched({.explore = 0.05});
      for (std::uint64_t batch = 0; batch < 600; ++batch) watched.pass(batch < at ? 1 : factor);
      EXPECT_LE(watched.decisions.size(), 12u) << factor << " from batch " << at << '\n';
      EXPECT_NEAR(watched.adaptation.kernel() / factor, 1, 0.3) << factor << " from batch " << at;
    }
}

TEST(Adaptation, gives_no_choice_up_for_one_batch_that_took_long) {
  Adaptation adaptation(table(), {.explore = 0.05});
  bool disturbed = false;
  for (std::uint64_t batch = 0; batch < 300; ++batch) {
    BatchObservation seen{.batch = batch, .choice = adaptation.choice(batch)};
    const SteadyState is = truth(seen.choice, 1);
    const bool observed = adaptation.trace_level(batch) != TraceLevel::span;
    seen.span = is.span * (seen.choice == small ? 0.9 : 1);
    if (seen.choice == small && !observed && !std::exchange(disturbed, true)) seen.span = seen.span * 1.5;
    if (observed) seen.kernels = {is.kernels};
    adaptation.observe(seen);
  }
  EXPECT_TRUE(disturbed);
  EXPECT_EQ(adaptation.choice(300), small);
}

TEST(Adaptation, follows_the_link_though_kernels_scatter) {
  Watched watched;
  std::uint64_t state = 1;
  const auto scattered = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 63 == 0 ? 1.05 : 0.95;
  };
  for (int i = 0; i < 200; ++i) watched.pass(scattered());
  for (int i = 0; i < 200; ++i) watched.pass(scattered(), 1.3);
  EXPECT_NEAR(watched.adaptation.link(), 1.3, 0.1);
}

TEST(Adaptation, lays_a_first_prediction_that_is_far_off_on_no_link) {
  for (const std::uint32_t in_flight : {1u, 3u}) {
    SteadyTable predicted = table();
    predicted.in_flight = in_flight;
    Adaptation adaptation(predicted, {.explore = 0});
    for (std::uint64_t batch = 0; batch < 100; ++batch) {
      const std::uint32_t choice = adaptation.choice(batch);
      const SteadyState is = truth(choice, 1);
      BatchObservation seen{.batch = batch, .choice = choice, .span = is.span * 1.5};
      if (adaptation.trace_level(batch) != TraceLevel::span) seen.kernels = {is.kernels};
      adaptation.observe(seen);
    }
    EXPECT_EQ(adaptation.link(), 1) << in_flight;
  }
}

/// Kernels of small chunks take an eighth longer than those of large ones say.
TEST(Adaptation, of_batches_in_flight_takes_what_another_choice_does_to_kernels_for_no_change) {
  for (const std::uint32_t in_flight : {1u, 3u}) {
    SteadyTable predicted = table();
    predicted.in_flight = in_flight;
    Adaptation adaptation(predicted, {.explore = 0});
    std::vector<std::uint32_t> choices;
    std::uint32_t decisions = 0;
    for (std::uint64_t batch = 0; batch < 400 + in_flight; ++batch) {
      choices.push_back(adaptation.choice(batch));
      if (batch < in_flight) continue;
      // What ends now was chosen so many batches ago.
      const std::uint64_t ended = batch - in_flight;
      const std::uint32_t choice = choices[ended];
      const SteadyState is = truth(choice, ended / 80 % 2 == 0 ? 1 : 4);
      BatchObservation seen{.batch = ended, .choice = choice, .span = is.span};
      seen.kernels = {is.kernels * (choice == small ? 1.125 : 1)};
      decisions += adaptation.observe(seen).has_value();
    }
    EXPECT_LE(decisions, 16u) << in_flight << " in flight, four changes";
  }
}

TEST(Adaptation, keeps_to_a_limit_of_latency_where_a_choice_does) {
  // Spans: 135 us in large chunks, 140 in small ones.
  EXPECT_EQ(Watched({.latency_limit = microseconds(138)}).adaptation.choice(0), large);
  SteadyTable swapped = table();
  for (SteadyState& state : swapped.states[large]) state.span = state.span * 2;
  EXPECT_EQ(Adaptation(swapped, {.latency_limit = microseconds(150)}).choice(0), small);
  EXPECT_EQ(Adaptation(swapped, {.latency_limit = microseconds(50)}).choice(0), small) << "the nearest to it";
  EXPECT_EQ(Adaptation(swapped, {}).choice(0), large);
}

TEST(AdaptationLog, replays_to_the_same_decisions) {
  Watched watched;
  double kernel = 1;
  for (int i = 0; i < 300; ++i) watched.pass(kernel *= i % 100 == 50 ? 3 : 0.99);
  const Replay again = replay(watched.text(), "log");
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.seen.size(), 300u);
  EXPECT_EQ(again.logged.size(), watched.decisions.size());
  EXPECT_GT(again.again.size(), 3u);
  EXPECT_EQ(again.job, "frames");
  EXPECT_EQ(again.table.choices, table().choices);
}

TEST(AdaptationLog, tells_where_a_decision_would_be_another_one) {
  Watched watched;
  watched.pass(10, 1);
  watched.pass(10, 4);
  ASSERT_FALSE(watched.decisions.empty());
  std::string text = watched.text();
  const auto at = text.find("\"kernel\":4");
  text.replace(at, 10, "\"kernel\":5");
  EXPECT_NE(replay(text, "log").difference.find("decision 0: logged"), std::string::npos);
}

TEST(AdaptationLog, refuses_what_is_none_and_names_the_line) {
  EXPECT_NE(message_of([] { replay("", "log"); }).find("log: it is empty"), std::string::npos);
  EXPECT_NE(message_of([] { replay("{}\n", "log"); }).find("log:1"), std::string::npos);
  Watched watched;
  watched.pass(2, 1);
  EXPECT_NE(message_of([&] { replay(watched.text() + "{\"batch\":3}\n", "log"); }).find("log:4"), std::string::npos);
  EXPECT_NE(message_of([&] { replay(watched.text() + "no json\n", "log"); }).find("log:4"), std::string::npos);
  std::string other = watched.text();
  other.replace(other.find("\"version\":3"), 11, "\"version\":1");
  EXPECT_NE(message_of([&] { replay(other, "log"); }).find("version"), std::string::npos);
}

TEST(LogLength, ends_a_log_with_the_last_line_that_is_read) {
  LogLength length(10);
  EXPECT_TRUE(length.takes("1234"));
  EXPECT_TRUE(length.takes("6789"));
  EXPECT_EQ(length.bytes(), 10u);
  EXPECT_FALSE(length.takes(""));
  LogLength other(10);
  EXPECT_TRUE(other.takes("1234"));
  EXPECT_FALSE(other.takes("67890"));
  EXPECT_FALSE(other.takes("6")) << "a log has no gaps";
  EXPECT_TRUE(other.has_ended());
  EXPECT_EQ(other.bytes(), 5u);
}

}  // namespace
}  // namespace shiplap
