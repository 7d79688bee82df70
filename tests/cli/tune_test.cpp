// shiplap tune, run --race and kernel profiles, on a virtual device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Cli, tune_shows_who_won_and_run_with_a_race_starts_from_there) {
  const std::string job = "scalar-add:in=1MiB,out=1MiB --device virtual:h200";
  const Outcome tuned = shiplap("tune --race 5ms " + job);
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  for (const char* word : {"won", "predicted", "simulated", "streams", "implicit", "kept in"})
    EXPECT_THAT(tuned.out, HasSubstr(word));
  const Json kept = parsed(shiplap("run --json --race 5ms " + job));
  EXPECT_EQ(kept.at("race").at("rounds"), parsed(shiplap("run --json --race 5ms " + job)).at("race").at("rounds"));
  EXPECT_THAT(shiplap("run --race 5ms " + job).out, HasSubstr("won an earlier simulated race"));
  EXPECT_THAT(shiplap("run " + job).out, Not(HasSubstr("race")));
}

TEST_F(Cli, tune_shows_the_fastest_of_each_strategy_and_with_all_every_candidate_of_the_race) {
  const std::string command = "tune --race 5ms scalar-add:in=1MiB,out=1MiB --device virtual:h200";
  const Outcome brief = shiplap(command);
  const Outcome all = shiplap(command + " --all");
  EXPECT_THAT(brief.out, HasSubstr("--all shows all "));
  EXPECT_THAT(all.out, Not(HasSubstr("--all shows")));
  EXPECT_GT(all.out.size(), brief.out.size());
}

TEST_F(Cli, tune_says_of_pageable_arrays_what_pinning_takes_and_from_how_many_runs_it_pays) {
  const std::string job = "saxpy:n=1Mi --device virtual:h200 --memory pageable";
  const Json plan = parsed(shiplap("plan --json " + job));
  const Json& registered = plan.at("memory").at("ways").at(1);
  ASSERT_EQ(registered.at("name"), "registered");
  const std::string pays_from = registered.at("pays_from_runs").dump();
  const auto tuned = [&](const std::string& arguments) {
    std::string out = shiplap("tune --race 5ms " + arguments).out;
    std::ranges::replace(out, '\n', ' ');
    return out;
  };
  EXPECT_THAT(tuned(job), AllOf(HasSubstr("Registering the arrays (cudaHostRegister) takes"),
                                HasSubstr("about " + pays_from + " runs")));
  EXPECT_THAT(tuned("--reuse 1000 " + job),
              AllOf(HasSubstr("Pinning the arrays (cudaHostRegister) takes"), HasSubstr("for 1000 runs in all")));
  EXPECT_THAT(tuned("saxpy:n=1Mi --device virtual:h200"), Not(HasSubstr("inning")));
}

TEST_F(Cli, tune_keeps_no_winner_among_choices_that_were_restricted) {
  const std::string job = "scalar-add:in=1MiB,out=1MiB --device virtual:h200";
  const Outcome restricted = shiplap("tune --race 5ms --strategy streams " + job);
  EXPECT_EQ(restricted.code, 0) << restricted.err;
  EXPECT_THAT(restricted.out, Not(HasSubstr("kept in")));
  EXPECT_FALSE(fs::exists(folder / "cache" / "shiplap" / "races"));
  EXPECT_EQ(shiplap("tune --race soon " + job).code, 64);
}

TEST_F(Cli, a_kernel_profile_of_one_device_is_read_where_the_kernel_cannot_run) {
  const std::string file = (folder / "kernel.json").string();
  const std::string job = "scalar-add:in=1MiB,out=1MiB ";
  const Outcome wrote = shiplap("tune --race 5ms --device virtual:h200 --write-kernel " + file + " " + job);
  EXPECT_EQ(wrote.code, 0) << wrote.err;
  Json profile = Json::parse(read(file));
  EXPECT_EQ(
      JsonSchema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/kernel-profile.schema.json"))).problems(profile),
      std::vector<std::string>{});
  // What a GPU would have found: a kernel that is very slow on host memory.
  const auto point = [](int items, double ms) {
    return Json{{"items", items}, {"time", {{"value", ms}, {"low", ms}, {"high", ms}, {"unit", "ms"}}}};
  };
  profile["kernel"]["zero_copy"] = Json::array({{{"in", true},
                                                 {"out", true},
                                                 {"blocks", 0},
                                                 {"alone", Json::array({point(262144, 7)})},
                                                 {"beside", Json::array()},
                                                 {"copies_beside", 1.0}}});
  write("kernel.json", profile.dump());
  const Json planned =
      parsed(shiplap("plan --json --profile h200 --strategy implicit --kernel-profile " + file + " " + job));
  const double ms = planned.at("candidates").at(0).at("predicted").at("value").get<double>();
  EXPECT_NEAR(ms, 7, 0.05);
  const Outcome other = shiplap("plan --profile h200 --kernel-profile " + file + " saxpy");
  EXPECT_EQ(other.code, 64);
  EXPECT_THAT(other.err, HasSubstr("is of scalar-add"));
}

}  // namespace
}  // namespace shiplap
