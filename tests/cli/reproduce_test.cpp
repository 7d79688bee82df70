// shiplap reproduce, with the program that it starts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/report/page/page.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

TEST_F(Cli, reproduce_has_help_and_version_and_refuses_wrong_usage) {
  const Outcome help = shiplap("reproduce --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("Usage: shiplap reproduce "), std::string::npos) << help.out;
  EXPECT_TRUE(shiplap("reproduce --version").out.starts_with("shiplap reproduce "));
  expect_refused(shiplap("reproduce --bogus"), 64, {"--bogus"});
  expect_refused(shiplap("reproduce harris2012 --device nothing:0"), 64, {"shiplap reproduce: ", "nothing:0"});
}

TEST_F(Cli, reproduce_writes_what_its_schema_says_a_page_and_csv_and_goes_on_where_it_stopped) {
  const std::string command = "reproduce harris2012 --device virtual:h200 --quick -o " + folder.string();
  const Outcome stopped = shiplap(command + " --budget 1ns");
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("0 of "), std::string::npos) << stopped.out;
  EXPECT_TRUE(stopped.out.starts_with("harris2012 on NVIDIA H200 (simulated): ")) << stopped.out;
  const Outcome all = shiplap(command);
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(all.out.find("not run yet"), std::string::npos) << all.out;
  const Json json = Json::parse(read(folder / "harris2012.json"));
  const JsonSchema schema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/reproduction.schema.json")));
  EXPECT_EQ(schema.problems(json), std::vector<std::string>{});
  EXPECT_TRUE(fs::exists(folder / "harris2012.md"));
  EXPECT_EQ(fs::exists(folder / "harris2012.html"), page::has_plots());
  std::size_t figures = 0;
  for (const auto& [id, step] : json["steps"].items())
    for (const Json& figure : step["figures"]) {
      EXPECT_TRUE(fs::exists(folder / "harris2012" / (figure["id"].get<std::string>() + ".csv")));
      ++figures;
    }
  EXPECT_GT(figures, 0u);
  const Outcome again = shiplap(command + " --json");
  EXPECT_EQ(Json::parse(again.out)["steps"], json["steps"]) << "nothing was run again";
  const Outcome fully = shiplap("reproduce harris2012 --device virtual:h200 -o " + folder.string());
  EXPECT_EQ(fully.code, 1);
  EXPECT_NE(fully.err.find("quick"), std::string::npos) << fully.err;
}

TEST_F(Cli, reproduce_lists_papers_and_refuses_what_is_none) {
  const Outcome list = shiplap("reproduce");
  EXPECT_EQ(list.code, 0);
  for (const char* paper : {"werkhoven2014", "gomezluna2012", "harris2012", "eth2025", "commscope2019"})
    EXPECT_NE(list.out.find(paper), std::string::npos) << paper;
  EXPECT_EQ(shiplap("reproduce nobody1999 --device virtual:h200").code, 64);
  EXPECT_EQ(shiplap("reproduce harris2012 --device virtual:h200 --only nothing").code, 64);
}

TEST_F(Cli, reproduce_fits_a_published_sweep_in_part_and_predicts_the_rest) {
  const fs::path sweep =
      fs::path(SHIPLAP_SOURCE_DIR) / "tests/experiments/published_sweep/data/eth2025_269302_selection.csv";
  const fs::path folder_of_results = folder / "out";
  const Outcome all = shiplap("reproduce --data " + sweep.string() + " -o " + folder_of_results.string());
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_NE(all.out.find("held out"), std::string::npos) << all.out;
  const Json json = Json::parse(read(folder_of_results / "eth2025_269302_selection.json"));
  EXPECT_EQ(json["schema"], "shiplap/published-evaluation");
  EXPECT_EQ(json["models"][0]["held_out"]["points"], 42);
}

TEST_F(Cli, reproduce_refuses_a_damaged_sweep_and_options_that_are_not_about_it) {
  const std::string file = write("sweep.csv", "Calls,Size,NUM_STREAMS,Time\n1,8,1,not-a-time\n");
  expect_refused(shiplap("reproduce --data " + file), 1, {"sweep.csv"});
  expect_refused(shiplap("reproduce harris2012 --data " + file), 64, {"--data"});
  expect_refused(shiplap("reproduce --device virtual:h200 --data " + file), 64, {"--data"});
  expect_refused(shiplap("reproduce --quick --data " + file), 64, {"--data"});
  const std::string kept = write("sweep.json", "Calls,Size,NUM_STREAMS,Time\n1,8,1,1e-5\n");
  expect_refused(shiplap("reproduce --data " + kept + " -o " + folder.string()), 64, {"would be lost"});
}

}  // namespace
}  // namespace shiplap
