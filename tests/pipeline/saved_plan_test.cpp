// Plans that are saved in files and taken again, for the same arrays or others of the same sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SavedPlan : public ::testing::Test {
 protected:
  PlanView saved(const Json& json) const {
    std::ofstream(folder_.path() / "plan.json") << json.dump();
    return load_plan(folder_.path() / "plan.json");
  }
  PlanView saved(const Plan& made) const { return saved(made.to_json()); }
  static auto add_to(std::span<const float> x, std::span<float> y) {
    return Job{x.size(), "add"}.in("x", x).inout("y", y).host_kernel([](Chunk c, auto from, auto to) {
      for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] += from[i];
    });
  }

  std::shared_ptr<MeasurableDevice> gpu_ = open_virtual(find_profile("h200"), "virtual:h200");
  Node node_ = node_of(*gpu_, find_profile("h200"));

 private:
  TemporaryFolder folder_;
};

TEST_F(SavedPlan, has_the_choice_the_schedule_and_the_prediction_that_it_had) {
  const pinned_vector<float> x(*gpu_, 8 << 20, 1.0f);
  pinned_vector<float> y(*gpu_, 8 << 20, 2.0f);
  const auto job = add_to(x, y).zero_copy_suits();
  for (const SearchSpace& space :
       {SearchSpace{}, SearchSpace{.strategies = {"explicit"}}, SearchSpace{.strategies = {"streams"}, .graph = true},
        SearchSpace{.strategies = {"streams"}, .chunks = {9}, .ramps = {{.first = 0.25, .growth = 1.1}}},
        SearchSpace{.chunks = {6}, .batched = true},
        SearchSpace{.strategies = {"hybrid"}, .layouts = {Layout::per_chunk}},
        SearchSpace{.strategies = {"streams"}, .chunks = {8}, .layouts = {Layout::few}, .streams = 3}}) {
    const Plan made = plan(node_, job, {.space = space});
    const Plan again = plan(node_, job, options_of(saved(made), job));
    SCOPED_TRACE(to_string(made.chosen.choice));
    EXPECT_EQ(again.chosen.choice, made.chosen.choice);
    EXPECT_EQ(again.ranking.candidates.size(), 1u) << "no other was searched";
    EXPECT_THAT(again.explain(), HasSubstr("choice was given"));
    EXPECT_EQ(again.chosen.schedule->ops.size(), made.chosen.schedule->ops.size());
    EXPECT_NEAR(again.chosen.predicted.value.count(), made.chosen.predicted.value.count(), 1e-12);
    EXPECT_NEAR(again.chosen.predicted.high.count(), made.chosen.predicted.high.count(), 1e-12);
    prepare(*gpu_, again, job).run();
  }
  EXPECT_EQ(y[4'711'000], 2.0f + 7);
}

TEST_F(SavedPlan, is_predicted_anew_for_another_node) {
  const pinned_vector<float> x(*gpu_, 8 << 20, 1.0f);
  pinned_vector<float> y(*gpu_, 8 << 20, 2.0f);
  const auto job = add_to(x, y).kernel_time(Seconds{0.0001});
  const PlanView view = saved(plan(node_, job));
  const Profile slower = what_if(find_profile("h200"), "link=0.5");
  const Plan there = plan(node_of(slower), job, options_of(view, job));
  EXPECT_EQ(there.chosen.choice, view.chosen.choice);
  EXPECT_NEAR(
      there.chosen.predicted.value / predict(there.job, slower, view.chosen.choice, there.limits).predicted.value, 1,
      1e-9);
  EXPECT_GT(there.chosen.predicted.value, 1.6 * view.chosen.predicted.value);
}

TEST_F(SavedPlan, pins_vectors_where_it_did) {
  std::vector<float> x(16 << 20, 1.0f);
  std::vector<float> y(16 << 20, 2.0f);
  const auto job = add_to(x, y);
  const Plan often = plan(node_, job, {.runs = 1'000'000});
  ASSERT_TRUE(often.pins);
  const Plan again = plan(node_, job, options_of(saved(often), job));
  EXPECT_TRUE(again.pins);
  EXPECT_EQ(again.chosen.choice, often.chosen.choice);
  const Plan once = plan(node_, job);
  ASSERT_FALSE(once.pins);
  const Plan once_again = plan(node_, job, options_of(saved(once), job));
  EXPECT_FALSE(once_again.pins);
  EXPECT_EQ(once_again.chosen.choice, once.chosen.choice);
}

TEST_F(SavedPlan, of_a_job_of_other_sizes_is_refused) {
  const pinned_vector<float> x(*gpu_, 1 << 20, 1.0f);
  pinned_vector<float> y(*gpu_, 1 << 20, 2.0f);
  const auto job = add_to(x, y);
  const PlanView view = saved(plan(node_, job));
  const auto half = add_to(std::span(x).first(1 << 19), std::span(y).first(1 << 19));
  EXPECT_THAT(message_of<UsageError>([&] { (void)options_of(view, half); }),
              AllOf(HasSubstr("8 MiB in"), HasSubstr("4 MiB in"), HasSubstr("add")));
  PlanOptions raced = options_of(view, job);
  raced.race = Seconds{1};
  EXPECT_THAT(message_of<UsageError>([&] { (void)plan(node_, job, raced); }), HasSubstr("race"));
}

TEST_F(SavedPlan, that_no_job_can_have_is_an_error_and_not_a_run) {
  const pinned_vector<float> x(*gpu_, 1 << 20, 1.0f);
  pinned_vector<float> y(*gpu_, 1 << 20, 2.0f);
  const auto job = add_to(x, y);
  const Json good = plan(node_, job, {.space = {.strategies = {"streams"}, .chunks = {8}}}).to_json();
  for (const auto& [key, value] : {std::pair<const char*, Json>{"strategy", "nothing"},
                                   {"chunks", 0},
                                   {"chunks", 4'000'000'000},
                                   {"gpus", 0},
                                   {"gpus", 60'000},
                                   {"layout", "pile"},
                                   {"max_grid", 7},
                                   {"threads_each_way", 1'000'000}}) {
    Json bad = good;
    bad["chosen"][key] = value;
    EXPECT_THROW((void)plan(node_, job, options_of(saved(bad), job)), Error) << key << " " << value;
  }
}

TEST_F(SavedPlan, of_odd_figures_is_an_error_or_runs_as_it_says) {
  const pinned_vector<float> x(*gpu_, 1 << 16, 1.0f);
  pinned_vector<float> y(*gpu_, 1 << 16, 2.0f);
  const auto job = add_to(x, y);
  const Json good = plan(node_, job, {.space = {.strategies = {"streams"}, .chunks = {8}}}).to_json();
  const auto ramp = [](double first, double last, double growth) {
    return Json{{"first", first}, {"last", last}, {"growth", growth}};
  };
  int runs = 0;
  for (const auto& change :
       {Json{{"layout", "few"}, {"streams", 4'000'000'000}}, Json{{"layout", "few"}, {"streams", 0}},
        Json{{"ring", 4'000'000'000}}, Json{{"ring", 1}}, Json{{"ramp", ramp(1e-300, 1, 1e300)}},
        Json{{"ramp", ramp(1e300, 1e-300, 1)}}, Json{{"mover_h2d", {{"kind", "kernel"}, {"grid", 4'000'000'000}}}},
        Json{{"graph", true}}, Json{{"chunks", 1 << 16}}, Json{{"gpus", 2}}}) {
    SCOPED_TRACE(change.dump());
    Json odd = good;
    odd["chosen"].update(change);
    try {
      const Plan again = plan(node_, job, options_of(saved(odd), job));
      prepare(*gpu_, again, job).run();
      ++runs;
      EXPECT_EQ(y[4711], 2.0f + static_cast<float>(runs));
    } catch (const Error&) {
    }
  }
  EXPECT_GE(runs, 3) << "a ring, a graph, and a chunk for each item";
}

TEST_F(SavedPlan, of_odd_relays_is_an_error_on_a_node_of_two_gpus) {
  const auto gpus = open("virtual:" SHIPLAP_SOURCE_DIR "/results/h200-x2/profile.json");
  const Node node = node_of(*gpus, load_profile(SHIPLAP_SOURCE_DIR "/results/h200-x2/profile.json"));
  const pinned_vector<float> x(*gpus, 16 << 20, 1.0f);
  pinned_vector<float> y(*gpus, 16 << 20, 2.0f);
  const auto job = add_to(x, y);
  const Plan made = plan(node, job, {.space = {.strategies = {"streams"}, .chunks = {8}, .relays = {1}}});
  ASSERT_EQ(made.chosen.choice.relay.through.size(), 1u);
  EXPECT_EQ(plan(node, job, options_of(saved(made), job)).chosen.choice, made.chosen.choice);
  struct Odd {
    int gpu;
    double share;
    std::uint64_t piece;
  };
  for (const Odd& odd :
       {Odd{0, 0.5, 1 << 20}, Odd{7, 0.5, 1 << 20}, Odd{1, 1e9, 1 << 20}, Odd{1, 0.5, 0}, Odd{1, 0.5, 1}}) {
    Json bad = made.to_json();
    bad["chosen"]["relay"]["through"][0]["gpu"] = odd.gpu;
    bad["chosen"]["relay"]["through"][0]["share"] = odd.share;
    bad["chosen"]["relay"]["piece"]["value"] = odd.piece;
    bad["chosen"]["relay"]["piece"]["unit"] = "B";
    const PlanView view = saved(bad);  // the file can be read
    EXPECT_THROW((void)plan(node, job, options_of(view, job)), Error)
        << odd.gpu << " " << odd.share << " " << odd.piece;
  }
}

}  // namespace
}  // namespace shiplap
