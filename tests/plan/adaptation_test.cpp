#include "shiplap/plan/adaptation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t large = 0;  // chunks
constexpr std::uint32_t small = 1;

/// What a batch takes with kernels `k` times as long as planned and a link `l` times: copies of 100 us beside kernels
/// of 50 us. Large chunks leave a part of the shorter one uncovered, small chunks cost something each.
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

/// The node: batches of which it says what they take.
struct Node {
  Adaptation adaptation;
  std::uint64_t batch = 0;
  std::vector<Decision> decisions{};
  std::vector<std::string> log{};

  explicit Node(const AdaptationOptions& options = {}) : adaptation(table(), options) {
    log.push_back(header_line("frames", "0123", table(), options));
  }
  /// One batch, with kernels and link so many times as slow; and what noise makes of what is seen.
  void pass(double kernel, double link = 1, double noise = 0) {
    BatchSeen seen{.batch = batch, .choice = adaptation.choice(batch)};
    const SteadyState is = truth(seen.choice, kernel, link);
    seen.span = is.span * (1 + noise);
    if (adaptation.wanted(batch) != Wanted::span) seen.kernels = {is.kernels * (1 - noise) / 4, is.kernels * 3 / 4};
    log.push_back(line_of(seen));
    if (auto decision = adaptation.observe(seen)) {
      log.push_back(line_of(*decision));
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
  EXPECT_EQ(Node().adaptation.choice(0), large);
}

TEST(Adaptation, of_kernels_as_planned_decides_nothing) {
  Node node;
  node.pass(1000, 1);
  EXPECT_TRUE(node.decisions.empty());
}

TEST(Adaptation, follows_a_kernel_that_suddenly_takes_longer_and_back) {
  Node node;
  node.pass(100, 1);
  node.pass(8, 4);
  ASSERT_EQ(node.decisions.size(), 1u) << node.text();
  EXPECT_LE(node.decisions[0].after, 104u) << "kernels are looked at of every fourth batch";
  EXPECT_NEAR(node.decisions[0].kernel, 4, 0.01);
  EXPECT_EQ(node.decisions[0].from, large);
  EXPECT_EQ(node.decisions[0].to, small) << "200 + 30 us instead of 200 + 50";
  EXPECT_NEAR(in_microseconds(node.decisions[0].period_to), 230, 1);
  node.pass(100, 4);
  EXPECT_EQ(node.decisions.size(), 1u) << "that is all there is to decide";
  node.pass(8, 1);
  ASSERT_GE(node.decisions.size(), 2u);
  EXPECT_EQ(node.adaptation.choice(node.batch), large);
}

TEST(Adaptation, takes_the_batch_whose_span_is_off_as_a_reason_to_look_at_kernels) {
  Node node({.observe_every = 1'000'000});
  node.pass(100, 1);
  node.pass(4, 6);
  ASSERT_FALSE(node.decisions.empty());
  EXPECT_LE(node.decisions[0].after, 102u);
  EXPECT_NEAR(node.adaptation.kernel(), 6, 0.01);
}

TEST(Adaptation, follows_a_slow_drift) {
  Node node;
  double kernel = 1;
  for (int i = 0; i < 400; ++i, kernel *= 1.005) node.pass(kernel);
  EXPECT_NEAR(node.adaptation.kernel() / kernel, 1, 0.08);
  EXPECT_GT(node.decisions.size(), 5u);
}

TEST(Adaptation, stays_where_another_choice_gains_less_than_the_least_gain_and_says_so) {
  Node node;
  node.pass(10, 1);
  // 100 + 30.5 us in large chunks, 100 + 30 in small ones.
  node.pass(10, 1.22);
  ASSERT_EQ(node.decisions.size(), 1u);
  EXPECT_EQ(node.decisions[0].to, node.decisions[0].from);
  EXPECT_EQ(node.decisions[0].period_to, node.decisions[0].period_from);
  EXPECT_NE(node.decisions[0].reason.find("kernels take 1.22 times as long"), std::string::npos)
      << node.decisions[0].reason;
}

TEST(Adaptation, lays_what_kernels_do_not_explain_on_the_link) {
  Node node;
  node.pass(40, 1);
  for (int i = 0; i < 20; ++i) node.pass(1.0, 2.0);
  ASSERT_FALSE(node.decisions.empty());
  EXPECT_NEAR(node.adaptation.link(), 2, 0.1);
  EXPECT_NEAR(node.adaptation.kernel(), 1, 0.02);
  EXPECT_NE(node.decisions[0].reason.find("the link"), std::string::npos) << node.decisions[0].reason;
}

TEST(Adaptation, of_noise_changes_no_choice) {
  Node node;
  for (int i = 0; i < 1000; ++i) node.pass(1, 1, 0.02 * std::sin(i * i));
  for (const Decision& decision : node.decisions) EXPECT_EQ(decision.from, decision.to) << line_of(decision);
}

TEST(Adaptation, learns_what_a_choice_takes_beyond_its_prediction_and_does_not_come_back_for_it) {
  SteadyTable wrong = table();
  for (SteadyState& state : wrong.states[small]) {
    state.period = state.period * 0.8;
    state.span = state.span * 0.8;
  }
  Adaptation adaptation(wrong);
  ASSERT_EQ(adaptation.choice(0), small) << "104 us are predicted, and 125 of large chunks";
  int in_small = 0;
  for (std::uint64_t batch = 0; batch < 300; ++batch) {
    const std::uint32_t choice = adaptation.choice(batch);
    in_small += choice == small;
    const SteadyState is = truth(choice, batch < 100 ? 1 : 1.1);
    adaptation.observe({.batch = batch, .choice = choice, .span = is.span, .kernels = {is.kernels}});
  }
  EXPECT_EQ(adaptation.choice(300), large);
  EXPECT_LT(in_small, 10);
}

TEST(Adaptation, keeps_to_a_limit_of_latency_where_a_choice_does) {
  // Spans: 135 us in large chunks, 140 in small ones.
  EXPECT_EQ(Node({.latency_limit = microseconds(138)}).adaptation.choice(0), large);
  SteadyTable swapped = table();
  for (SteadyState& state : swapped.states[large]) state.span = state.span * 2;
  EXPECT_EQ(Adaptation(swapped, {.latency_limit = microseconds(150)}).choice(0), small);
  EXPECT_EQ(Adaptation(swapped, {.latency_limit = microseconds(50)}).choice(0), small) << "the nearest to it";
  EXPECT_EQ(Adaptation(swapped, {}).choice(0), large);
}

TEST(AdaptationLog, replays_to_the_same_decisions) {
  Node node;
  double kernel = 1;
  for (int i = 0; i < 300; ++i) node.pass(kernel *= i % 100 == 50 ? 3 : 0.99);
  const Replay again = replay(node.text(), "log");
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.batches, 300u);
  EXPECT_EQ(again.logged.size(), node.decisions.size());
  EXPECT_GT(again.again.size(), 3u);
  EXPECT_EQ(again.job, "frames");
  EXPECT_EQ(again.table.choices, table().choices);
}

TEST(AdaptationLog, tells_where_a_decision_would_be_another_one) {
  Node node;
  node.pass(10, 1);
  node.pass(10, 4);
  ASSERT_FALSE(node.decisions.empty());
  std::string text = node.text();
  const auto at = text.find("\"kernel\":4");
  text.replace(at, 10, "\"kernel\":5");
  EXPECT_NE(replay(text, "log").difference.find("decision 0: logged"), std::string::npos);
}

TEST(AdaptationLog, refuses_what_is_none_and_names_the_line) {
  EXPECT_NE(message_of([] { replay("", "log"); }).find("log: it is empty"), std::string::npos);
  EXPECT_NE(message_of([] { replay("{}\n", "log"); }).find("log:1"), std::string::npos);
  Node node;
  node.pass(2, 1);
  EXPECT_NE(message_of([&] { replay(node.text() + "{\"batch\":3}\n", "log"); }).find("log:4"), std::string::npos);
  EXPECT_NE(message_of([&] { replay(node.text() + "no json\n", "log"); }).find("log:4"), std::string::npos);
  std::string other = node.text();
  other.replace(other.find("\"version\":1"), 11, "\"version\":2");
  EXPECT_NE(message_of([&] { replay(other, "log"); }).find("version"), std::string::npos);
}

}  // namespace
}  // namespace shiplap
