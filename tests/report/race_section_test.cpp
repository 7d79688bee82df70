// What people are shown of a race, and its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A race that a second candidate of the first strategy has won, which another one has lost, and one could not run.
RaceView race_of_four(bool simulated) {
  const auto finalist = [](const char* strategy, std::uint32_t chunks, double ms) {
    Finalist one{.choice = {.strategy = strategy, .chunks = chunks},
                 .predicted = {milliseconds(2), milliseconds(1.9), milliseconds(2.1)}};
    if (ms > 0) one.seconds = {ms * 1e-3, ms * 1.02e-3, ms * 1.01e-3};
    return one;
  };
  RaceView view{.workload = "saxpy:n=1048576", .device = "cuda:0", .race = {}};
  view.race.finalists = {finalist("streams", 4, 2.4), finalist("streams", 8, 2), finalist("explicit", 1, 4),
                         finalist("implicit", 1, 0)};
  view.race.finalists[2].dropped = true;
  view.race.finalists[3].not_run = "its memory is too large";
  view.race.winner = 1;
  view.race.rounds = 3;
  view.race.ran = milliseconds(30);
  view.race.took = milliseconds(50);
  view.race.simulated = simulated;
  return view;
}

TEST(RaceSection, says_who_won_first_and_has_one_finalist_of_each_strategy_unless_asked_for_all) {
  const document::Section section = document::race_section(race_of_four(false));
  const std::string brief = document::text(section, {}, document::Detail::figures);
  EXPECT_TRUE(brief.starts_with("streams, 8 chunks")) << brief;
  EXPECT_THAT(brief, HasSubstr("won"));
  EXPECT_THAT(brief, HasSubstr("dropped after 3 rounds"));
  EXPECT_THAT(brief, HasSubstr("not run: its memory"));
  ASSERT_EQ(section.brief.size(), 1u);
  EXPECT_EQ(std::get<Table>(section.brief[0]).rows.size(), 3u);
  const Table& all = std::get<Table>(section.figures.at(0));
  ASSERT_EQ(all.rows.size(), 4u);
  EXPECT_EQ(all.rows[0][3].text, "won");
  EXPECT_THAT(all.rows[3][3].text, HasSubstr("not run")) << "last";
}

TEST(RaceSection, has_the_error_of_predictions_where_times_were_observed_and_none_where_they_were_simulated) {
  const auto words = [](bool simulated) {
    return document::text(document::race_section(race_of_four(simulated)), {}, document::Detail::all);
  };
  EXPECT_THAT(words(false), HasSubstr("observed"));
  EXPECT_THAT(words(false), HasSubstr("error"));
  EXPECT_THAT(words(true), HasSubstr("simulated"));
  EXPECT_THAT(words(true), Not(HasSubstr("error")));
}

TEST(RaceView, is_read_as_it_was_written_and_refused_with_a_winner_that_is_none) {
  Json file = to_json(race_of_four(false));
  EXPECT_EQ(file.at("schema"), "shiplap/race");
  RaceView read;
  from_json(JsonReader(file, "race.json"), read);
  EXPECT_EQ(to_json(read), file);
  EXPECT_EQ(read.race.finalists[3].not_run, "its memory is too large");
  file["winner"] = 4;
  EXPECT_THROW(from_json(JsonReader(file, "race.json"), read), Error);
}

}  // namespace
}  // namespace shiplap
