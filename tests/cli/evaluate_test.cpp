// shiplap evaluate.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

TEST_F(Cli, evaluate_writes_what_its_schema_says_and_a_page) {
  const std::string results = (folder / "e.json").string();
  const std::string page = (folder / "e.md").string();
  const std::string command = "evaluate --device virtual:h200 --sizes 64KiB --chunks 1,2,8 --max-grid 8,full -o " +
                              results + " --markdown " + page;
  const Outcome human = shiplap(command + " --all");
  EXPECT_EQ(human.code, 0) << human.err;
  for (const char* word :
       {"simulation", "van-werkhoven-2014", "streams, three streams", "virtual", "verified", "LogGP"})
    EXPECT_NE(human.out.find(word), std::string::npos) << word;
  EXPECT_NE(read(page).find("| simulation |"), std::string::npos);

  const Json json = parsed(shiplap(command + " --json"));
  EXPECT_EQ(json, Json::parse(read(results)));
  const JsonSchema schema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/evaluation.schema.json")));
  EXPECT_EQ(schema.problems(json), std::vector<std::string>{});
  ASSERT_EQ(json.at("workloads").size(), 2u);
  EXPECT_EQ(json.at("transfers").size(), 2u * 3);
  for (const Json& workload : json.at("workloads")) {
    // explicit, streams 3 x 3 less 2 that are the same, implicit 2, two hybrids 2 x 3 each; the plan may add its own.
    EXPECT_GE(workload.at("points").size(), 1u + 7 + 2 + 12);
    for (const Json& point : workload.at("points")) EXPECT_TRUE(point.at("verified").get<bool>());
  }

  Json broken = json;
  broken["workloads"][0]["points"][0]["busy"] = "much";
  broken["surprise"] = 1;
  EXPECT_EQ(schema.problems(broken).size(), 2u) << "the checker checks";
}

TEST_F(Cli, evaluate_on_another_profile_finds_that_the_link_is_another_one) {
  Json slower = Json::parse(shiplap("profiles show h200 --json").out);
  for (const char* direction : {"h2d", "d2h"})
    for (const char* end : {"value", "low", "high"}) {
      auto& per_byte = slower["links"][0][direction]["per_byte"][end];
      per_byte = per_byte.get<double>() * 2;
    }
  write("slower.json", slower.dump());
  const Json json = parsed(shiplap("evaluate --transfers --device virtual:h200 --sizes 16MiB --chunks 1 --profile " +
                                   (folder / "slower.json").string() + " --json"));
  for (const Json& direction : json.at("statistics").at("transfers"))
    EXPECT_NEAR(direction.at("simulation").at("median_signed").get<double>(), 1, 0.05) << "bytes take twice as long";
}

TEST_F(Cli, evaluate_takes_workloads_behind_a_list) {
  const Json json = parsed(
      shiplap("evaluate --device virtual:h200 --strategies streams --no-transfers --chunks 1,2 saxpy:n=4096 --json"));
  ASSERT_EQ(json.at("workloads").size(), 1u);
  EXPECT_EQ(json.at("workloads").front().at("workload"), "saxpy:n=4096");
}

TEST_F(Cli, evaluate_lists_what_is_skipped_and_stops_at_its_budget) {
  const Outcome pageable =
      shiplap("evaluate saxpy --device virtual:h200 --sizes 64KiB --strategies streams --chunks 2 --memory pageable");
  EXPECT_EQ(pageable.code, 0) << pageable.err;
  EXPECT_NE(pageable.out.find("pageable memory"), std::string::npos) << pageable.out;
  const Json late = parsed(shiplap("evaluate saxpy --device virtual:h200 --sizes 64KiB --budget 1ns --json"));
  EXPECT_NE(late.at("workloads").front().at("not_run").get<std::string>().find("--budget"), std::string::npos);
}

TEST_F(Cli, evaluate_predicts_again_what_was_observed_and_says_on_which_profile) {
  const std::string results = (folder / "e.json").string();
  const Outcome run = shiplap(
      "evaluate saxpy:n=4096 --device virtual:h200 --strategies streams --chunks 1,2 --no-transfers -o " + results);
  ASSERT_EQ(run.code, 0) << run.err;
  const Outcome again = shiplap("evaluate --again " + results + " --profile h200");
  EXPECT_EQ(again.code, 0) << again.err;
  for (const char* word : {"simulation as recorded", "Predicted again"})
    EXPECT_NE(again.out.find(word), std::string::npos) << again.out;
  EXPECT_EQ(again.err, "");
  const Json json = parsed(shiplap("evaluate --json --again " + results + " --profile gtx-titan-2014 -o " +
                                   (folder / "again.json").string()));
  EXPECT_TRUE(json.at("predicted_again").get<bool>());
  EXPECT_EQ(json, Json::parse(read(folder / "again.json")));
  const JsonSchema schema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/evaluation.schema.json")));
  EXPECT_EQ(schema.problems(json), std::vector<std::string>{});
  EXPECT_NE(shiplap("evaluate --again " + results + " --profile gtx-titan-2014").err.find("is not the one of the file"),
            std::string::npos);
  expect_refused(shiplap("evaluate --again " + results), 64, {"--profile", "h200"});
  expect_refused(shiplap("evaluate --again " + results + " --profile h200 --repeat 2"), 64, {"--again"});
  expect_refused(shiplap("evaluate saxpy --again " + results), 64, {"--again"});
  expect_refused(shiplap("evaluate --again " + results + " --profile h200 --memory pageable"), 64, {"--again"});
  const std::string before = read(results);
  for (const char* flag : {" -o ", " --markdown "})
    expect_refused(shiplap("evaluate --again " + results + " --profile h200" + flag + results), 64, {"would be lost"});
  EXPECT_EQ(read(results), before);
  expect_refused(shiplap("evaluate --again /nowhere.json --profile h200"), 1, {"/nowhere.json"});
}

TEST_F(Cli, evaluate_refuses_bad_flags_before_anything_runs) {
  expect_refused(shiplap("evaluate magic --device virtual:h200"), 64, {"magic", "saxpy"});
  expect_refused(shiplap("evaluate --device virtual:h200 --sizes 0"), 64, {"--sizes"});
  expect_refused(shiplap("evaluate --device virtual:h200 --strategies magic"), 64, {"magic", "explicit"});
  expect_refused(shiplap("evaluate --device virtual:h200 --chunks 0"), 64, {"--chunks"});
  expect_refused(shiplap("evaluate --device virtual:h200 --layouts magic"), 64, {"magic", "three"});
  expect_refused(shiplap("evaluate --device virtual:h200 --max-grid 0"), 64, {"--max-grid"});
  expect_refused(shiplap("evaluate --device virtual:h200 --memory magic"), 64, {"--memory"});
  expect_refused(shiplap("evaluate --device virtual:h200 --repeat 0"), 64, {"--repeat"});
  expect_refused(shiplap("evaluate --device virtual:h200 --budget soon"), 64, {"--budget"});
  expect_refused(shiplap("evaluate saxpy --transfers --device virtual:h200"), 64, {"--transfers"});
  expect_refused(shiplap("evaluate --device virtual:h200 -o /nowhere/e.json"), 1, {"/nowhere"});
}

TEST_F(Cli, evaluate_goes_on_where_it_was_interrupted_and_only_there) {
  const std::string file = (folder / "e.json").string();
  const std::string evaluate =
      "evaluate saxpy:n=1024 saxpy:n=2048 saxpy:n=4096 --device virtual:h200 --strategies streams --chunks 1,2 -o '" +
      file + "'";
  EXPECT_EQ(shiplap(evaluate + " --resume").code, 0) << "nothing to go on with is no error";
  const Json whole = Json::parse(read(file));
  ASSERT_EQ(whole.at("workloads").size(), 3u);
  // The second workload was left out for want of time, the third is missing, and the first has times of its own.
  Json half = whole;
  half["workloads"].erase(2);
  half["workloads"][1]["not_run"] = "the time of --budget was spent";
  Json& samples = half["workloads"][0]["points"][0]["samples"]["values"];
  samples = {samples.at(0).get<double>() + 7};
  write("e.json", half.dump());
  const Outcome resumed = shiplap(evaluate + " --resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(resumed.err.ends_with(" 1\n")) << "workloads evaluated before: " << resumed.err;
  const Json now = Json::parse(read(file));
  ASSERT_EQ(now.at("workloads").size(), 3u);
  EXPECT_EQ(now.at("workloads").at(0).at("points").at(0).at("samples").at("values"), samples) << "taken over";
  EXPECT_EQ(now.at("workloads").at(1), whole.at("workloads").at(1));
  EXPECT_EQ(now.at("workloads").at(2), whole.at("workloads").at(2));

  expect_refused(shiplap("evaluate saxpy:n=1024 --device virtual:h200 --resume -o '" + file + "'"), 1,
                 {"--resume", "another measurement", "saxpy:n=4096"});
  half["profile_hash"] = "of another profile";
  write("e.json", half.dump());
  expect_refused(shiplap(evaluate + " --resume"), 1, {"--resume", "another profile", "of another profile"});
  EXPECT_EQ(shiplap("evaluate saxpy:n=1024 --device virtual:h200 --resume").code, 64)
      << "there is no file to go on with";
}

TEST_F(Cli, evaluate_of_random_jobs_goes_on_where_it_was_interrupted) {
  const std::string file = (folder / "random.json").string();
  const std::string evaluate =
      "evaluate --random 2 --seed 3 --repeat 1 --duel-repeat 1 --race 1ms --budget 1ns --device virtual:h200 -o '" +
      file + "'";
  ASSERT_EQ(shiplap(evaluate).code, 0) << "no job runs in this time";
  Json jobs = Json::parse(read(file));
  ASSERT_EQ(jobs.at("jobs").size(), 2u);
  const Json time{{"value", 1.5}, {"unit", "ms"}};
  const Json predicted =
      parsed(shiplap("predict saxpy:n=4096 --profile h200 --strategy streams --chunks 8 --json")).at("choices").at(0);
  const Json swept{{"choice", predicted.at("choice")}, {"predicted", predicted.at("predicted")}, {"observed", time}};
  jobs["jobs"][1] = {{"workload", jobs.at("jobs").at(1).at("workload")},
                     {"not_run", nullptr},
                     {"probe_took", time},
                     {"race_ran", time},
                     {"race_took", time},
                     {"choices", 7},
                     {"best", swept},
                     {"planned", swept},
                     {"raced", swept},
                     {"unprobed", nullptr},
                     {"plan_regret", 0.0},
                     {"race_regret", 0.0},
                     {"wrong", nullptr},
                     {"near",
                      {{"strategy", {"streams"}},
                       {"chunks", {8}},
                       {"layout", {"three"}},
                       {"blocks", {nullptr}},
                       {"graph", {false}},
                       {"batched", {false}},
                       {"error", {0.0123}},
                       {"covered", {true}},
                       {"observed", {{"values", {1.5}}, {"unit", "ms"}}}}}};
  write("random.json", jobs.dump());
  const Outcome resumed = shiplap(evaluate + " --resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const Json now = Json::parse(read(file));
  EXPECT_EQ(now.at("jobs"), jobs.at("jobs")) << "the job that has run is as it was, the other had no time again";
  EXPECT_EQ(now.at("summary").at("jobs"), 1);
  EXPECT_EQ(now.at("summary").at("error_median"), 0.0123);
}

}  // namespace
}  // namespace shiplap
