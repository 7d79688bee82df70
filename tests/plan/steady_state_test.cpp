#include "shiplap/plan/steady_state.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

const Choice in_four{.strategy = "streams", .chunks = 4, .layout = Layout::three};

/// Copies of these sizes on a GPU as the papers' equations see it: nothing but L+o, G and g.
Job batch(Bytes in, Bytes out, Seconds kernel) {
  Job job = in_out_job(in, out, kernel, 32);
  job.name = "frames";
  return job;
}
Schedule schedule_of(const Job& job, const Choice& choice = in_four) {
  return find_strategy(choice.strategy).schedule(job, choice, roomy);
}

TEST(SteadyState, of_batches_in_flight_is_what_the_busiest_engine_takes_for_one) {
  const PaperOptions paper;
  const Profile profile = paper_profile(paper);
  const Bytes in = 32_MiB;
  const Bytes out = 8_MiB;
  // The copies in: four copies of a quarter, with a gap in front of each.
  const double copies = 4 * paper.h2d.gap.count() + static_cast<double>(in.count) * paper.h2d.per_byte.seconds;
  EXPECT_NEAR(steady_state(schedule_of(batch(in, out, microseconds(300))), 3, profile).period.count(), copies,
              0.001 * copies);
  // Kernels that take twice as long as that.
  const Seconds kernel{2 * copies};
  EXPECT_NEAR(steady_state(schedule_of(batch(in, out, kernel)), 3, profile).period / kernel, 1, 0.001);
  EXPECT_NEAR(steady_state(schedule_of(batch(in, out, kernel)), 3, profile).kernels / kernel, 1, 0.001);
}

TEST(SteadyState, of_batches_that_are_waited_for_is_what_one_alone_takes) {
  const Profile profile = paper_profile();
  const Schedule one = schedule_of(batch(8_MiB, 8_MiB, microseconds(200)));
  const double alone = simulate(one, profile).timeline.makespan.count();
  const SteadyState state = steady_state(one, 1, profile);
  EXPECT_NEAR(state.period.count(), alone, 0.001 * alone);
  EXPECT_NEAR(state.span.count(), alone, 0.001 * alone);
}

TEST(SteadyTable, lies_between_its_factors_where_it_is_simulated_there) {
  const Profile profile = planted_profile();
  const Job job = batch(4_MiB, 1_MiB, microseconds(60));
  const SteadyTable table = steady_table(job, profile, roomy, steady_choices(job), 2);
  ASSERT_GE(table.choices.size(), 9u);
  double worst = 0;
  for (std::size_t c = 0; c < table.choices.size(); ++c)
    for (const double factor : {0.3, 0.77, 1.0, 1.9, 5.1}) {
      Job slower = job;
      slower.cost.points[0].work = Interval<Seconds>::exact(microseconds(60) * factor);
      const SteadyState there = steady_state(schedule_of(slower, table.choices[c]), 2, profile);
      worst = std::max(worst, std::abs(table.at(c, factor).period / there.period - 1));
      worst = std::max(worst, std::abs(table.at(c, factor).kernels / there.kernels - 1));
    }
  EXPECT_LT(worst, 0.05) << "half an octave lies between two factors";
}

TEST(SteadyTable, beyond_its_factors_kernels_are_all_that_counts) {
  const Job job = batch(4_MiB, 1_MiB, microseconds(60));
  const SteadyTable table = steady_table(job, planted_profile(), roomy, {in_four}, 2);
  EXPECT_NEAR(table.at(0, 640).period / table.at(0, 64).period, 10, 1e-9);
  EXPECT_NEAR(table.at(0, 1.0 / 640).period / table.at(0, 1.0 / 64).period, 1, 1e-9);
  EXPECT_NEAR(table.at(0, 1.0 / 640).kernels / table.at(0, 1.0 / 64).kernels, 0.1, 1e-9);
}

TEST(SteadyTable, with_a_link_and_kernels_twice_as_slow_everything_takes_twice_as_long) {
  const Job job = batch(4_MiB, 1_MiB, microseconds(60));
  const SteadyTable table = steady_table(job, planted_profile(), roomy, {in_four}, 2);
  EXPECT_NEAR(table.at(0, 2, 2).period / table.at(0, 1).period, 2, 1e-9);
  EXPECT_NEAR(table.at(0, 2, 2).span / table.at(0, 1).span, 2, 1e-9);
}

TEST(SteadyTable, leaves_choices_out_that_cannot_be_and_says_why_when_none_is_left) {
  const Job job = batch(4_MiB, 1_MiB, microseconds(60));
  const Choice too_many{.strategy = "streams", .chunks = 33};
  EXPECT_EQ(steady_table(job, planted_profile(), roomy, {in_four, too_many}, 2).choices.size(), 1u);
  const std::string message = message_of([&] { steady_table(job, planted_profile(), roomy, {too_many}, 2); });
  EXPECT_NE(message.find("no choice is left for batches of frames"), std::string::npos) << message;
  EXPECT_NE(message.find("33"), std::string::npos) << message;
}

TEST(SteadyTable, comes_back_from_json_as_it_was) {
  const Job job = batch(4_MiB, 1_MiB, microseconds(60));
  const SteadyTable table = steady_table(job, planted_profile(), roomy, steady_choices(job), 2);
  const Json json = parse_json(to_json(table).dump(), "text");
  const SteadyTable again = Form<SteadyTable>::read(JsonReader(json, "text"));
  EXPECT_EQ(again.choices, table.choices);
  EXPECT_EQ(again.factors, table.factors);
  for (std::size_t c = 0; c < table.choices.size(); ++c)
    EXPECT_EQ(again.at(c, 1.3, 1.1).period, table.at(c, 1.3, 1.1).period);
  Json damaged = json;
  damaged["choices"][0]["states"]["values"].erase(0);
  EXPECT_EQ(message_of([&] { Form<SteadyTable>::read(JsonReader(damaged, "text")); }),
            "text: choices[0].states.values: expected a state for each factor, got an array of 24");
}

}  // namespace
}  // namespace shiplap
