#include "shiplap/plan/strategy_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace shiplap::literals;

const MapChoice& choice_of(const MapCell& cell, const std::string& strategy) {
  const auto found =
      std::ranges::find(cell.best, strategy, [](const MapChoice& choice) { return choice.choice.strategy; });
  if (found == cell.best.end()) throw Error(strategy + " is missing");
  return *found;
}

TEST(StrategyMap, has_a_cell_for_every_size_and_kernel_time_with_the_fastest_strategy_first) {
  const MapQuestion question{.sizes = {1_MiB, 64_MiB}, .kernels = {microseconds(10), milliseconds(1), Seconds{1}}};
  const StrategyMap map = strategy_map(paper_profile(), question);
  ASSERT_EQ(map.cells.size(), 6u);
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const MapCell& cell = map.cells[i];
    EXPECT_EQ(cell.size, question.sizes[i % 2]);
    EXPECT_EQ(cell.kernel, question.kernels[i / 2]);
    ASSERT_GE(cell.best.size(), 2u);
    EXPECT_TRUE(std::ranges::is_sorted(cell.best, {}, [](const MapChoice& choice) { return choice.predicted.value; }));
    EXPECT_LE(cell.bound, cell.best.front().predicted.value);
  }
}

// van Werkhoven 2014, equation 1: the explicit strategy takes the copy in, the kernel and the copy out.
TEST(StrategyMap, the_explicit_strategy_takes_the_sum_of_its_parts_for_any_split_into_input_and_output) {
  const PaperOptions paper;
  const Profile profile = paper_profile(paper);
  for (const double in_fraction : {0.0, 0.25, 0.5, 1.0}) {
    const StrategyMap map =
        strategy_map(profile, {.in_fraction = in_fraction, .sizes = {64_MiB}, .kernels = {milliseconds(3)}});
    const Bytes in{static_cast<std::uint64_t>(in_bytes(64_MiB) * in_fraction)};
    const Bytes out = 64_MiB - in;
    Seconds expected = milliseconds(3);
    if (in.count > 0) expected += paper.h2d.latency_overhead + in * paper.h2d.per_byte;
    if (out.count > 0) expected += paper.d2h.latency_overhead + out * paper.d2h.per_byte;
    EXPECT_NEAR(choice_of(map.cells.front(), "explicit").predicted.value / expected, 1, 1e-3) << in_fraction;
  }
}

TEST(StrategyMap, streams_win_by_nearly_three_where_both_copies_and_the_kernel_take_the_same_time) {
  const PaperOptions paper;
  const Seconds copy = 512_MiB * paper.h2d.per_byte;
  const StrategyMap map = strategy_map(paper_profile(paper), {.sizes = {1_GiB}, .kernels = {copy}});
  const MapCell& cell = map.cells.front();
  EXPECT_EQ(cell.best.front().choice.strategy, "streams");
  const double gain = choice_of(cell, "explicit").predicted.value / cell.best.front().predicted.value;
  EXPECT_GT(gain, 2.5);
  EXPECT_LT(gain, 3.0);
}

TEST(StrategyMap, considers_the_strategies_for_the_memory_of_the_arrays) {
  const StrategyMap map = strategy_map(
      find_profile("h200"), {.memory = MemoryKind::pageable, .sizes = {64_MiB}, .kernels = {milliseconds(1)}});
  EXPECT_NO_THROW(choice_of(map.cells.front(), "staged"));
  EXPECT_NO_THROW(choice_of(map.cells.front(), "pageable"));
  EXPECT_THROW(choice_of(map.cells.front(), "streams"), Error);
}

TEST(StrategyMap, the_default_question_reaches_from_1_MiB_and_10_us_to_16_GiB_and_1_s) {
  const MapQuestion question = default_map_question();
  EXPECT_EQ(question.sizes.front(), 1_MiB);
  EXPECT_EQ(question.sizes.back(), 16_GiB);
  EXPECT_NEAR(question.kernels.front().count(), 10e-6, 1e-12);
  EXPECT_NEAR(question.kernels.back().count(), 1, 1e-12);
  EXPECT_TRUE(std::ranges::is_sorted(question.sizes));
  EXPECT_TRUE(std::ranges::is_sorted(question.kernels));
}

TEST(StrategyMap, refuses_a_question_that_has_no_answer) {
  const auto asked = [](const MapQuestion& question) {
    return message_of<UsageError>([&] { strategy_map(paper_profile(), question); });
  };
  EXPECT_NE(asked({.sizes = {}, .kernels = {Seconds{1}}}).find("at least one size"), std::string::npos);
  EXPECT_NE(asked({.in_fraction = 1.5, .sizes = {1_MiB}, .kernels = {Seconds{1}}}).find("from 0 to 1"),
            std::string::npos);
}

TEST(StrategyMap, a_failure_on_one_core_is_thrown_and_ends_the_others) {
  Profile without_link = paper_profile();
  without_link.links.clear();
  EXPECT_THROW(strategy_map(without_link, {.sizes = {1_MiB, 2_MiB}, .kernels = {Seconds{1}, Seconds{2}}}), Error);
}

}  // namespace
}  // namespace shiplap
