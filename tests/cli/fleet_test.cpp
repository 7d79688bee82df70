// shiplap fleet collect on files of checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FleetCommand : public Cli {
 protected:
  /// Writes the check of the built-in H200 as that of `nodes` nodes, and returns the folder.
  fs::path checked_nodes(std::size_t nodes) {
    check = parsed(shiplap("check --profile h200 --json"));
    fs::create_directory(folder / "fleet");
    for (std::size_t i = 0; i < nodes; ++i) write_check("node" + std::to_string(i), check);
    return folder / "fleet";
  }
  void write_check(const std::string& node, Json json, const std::string& suffix = "") {
    json["node"] = node;
    write("fleet/" + node + suffix + ".json", json.dump());
  }
  /// The check with the figure at this fraction of its value.
  Json slower(const std::string& what, double factor) const {
    Json json = check;
    for (Json& figure : json["figures"])
      if (figure.at("what") == what) figure["measured"]["value"] = figure["measured"]["value"].get<double>() * factor;
    return json;
  }
  Json check;
};

TEST_F(FleetCommand, finds_the_sick_node_and_exits_with_2) {
  const fs::path fleet = checked_nodes(12);
  EXPECT_EQ(shiplap("fleet collect " + fleet.string()).code, 0);
  write_check("node3", slower("copies to the GPU", 0.5));
  write_check("node3", slower("copies to the GPU", 0.5), "-again");
  const Outcome found = shiplap("fleet collect " + fleet.string());
  EXPECT_EQ(found.code, 2);
  EXPECT_THAT(found.out, AllOf(HasSubstr("12 GPUs: 11 good, 1 sick"), HasSubstr("node3"),
                               HasSubstr("50.0 % of its peers"), HasSubstr("far socket")));
  EXPECT_THAT(found.out, Not(HasSubstr("node4")));
  EXPECT_THAT(found.out, Not(HasSubstr("median")));
  EXPECT_THAT(shiplap("fleet collect --all " + fleet.string()).out,
              AllOf(StartsWith("12 GPUs: 11 good, 1 sick.\n"), HasSubstr("median")));
  EXPECT_THAT(found.err, HasSubstr("1 of 12 GPUs is sick"));
}

TEST_F(FleetCommand, an_outlier_of_one_check_is_a_suspect_and_no_failure) {
  const fs::path fleet = checked_nodes(12);
  write_check("node3", slower("device memory", 0.8));
  const Outcome found = shiplap("fleet collect " + fleet.string());
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(found.out, AllOf(HasSubstr("1 suspect"), HasSubstr("Check it again")));
}

TEST_F(FleetCommand, reports_dead_nodes_and_broken_files_and_judges_the_rest) {
  const fs::path fleet = checked_nodes(8);
  write_check("node5", slower("device memory", 0.8));
  write("fleet/torn.json", "{\"schema\": \"shiplap/che");
  write("fleet/other.json", "{}");
  const fs::path names = write("names", "node0\nnode7\nnode99\n");
  const Outcome found = shiplap("fleet collect " + fleet.string() + " --expect " + names.string());
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("no result (1)\n"), HasSubstr("\n  node99\n"), HasSubstr("not done (2)\n"),
                               HasSubstr("torn.json"), HasSubstr("8 GPUs: 7 good, 1 suspect")));
  const Json json = parsed(shiplap("fleet collect --json " + fleet.string() + " --expect " + names.string()));
  EXPECT_EQ(JsonSchema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/fleet.schema.json"))).problems(json),
            std::vector<std::string>{});
  EXPECT_EQ(json.at("missing"), Json::array({"node99"}));
  EXPECT_EQ(json.at("good"), 7);
  EXPECT_EQ(json.at("nodes").size(), 8u);
}

TEST_F(FleetCommand, reports_paths_that_cannot_be_read_and_judges_the_rest) {
  const fs::path fleet = checked_nodes(6);
  fs::create_symlink("loop.json", fleet / "loop.json");
  fs::create_symlink("missing", fleet / "dangling.json");
  fs::create_directory(fleet / "folder.json");
  ASSERT_EQ(mkfifo((fleet / "pipe.json").c_str(), 0600), 0);
  const std::string too_long(300, 'x');
  fs::create_symlink("circle", folder / "circle");
  const Json json = parsed(run("/usr/bin/timeout", "60 '" SHIPLAP_PROGRAM "' fleet collect --json '" + fleet.string() +
                                                       "' " + too_long + " '" + (folder / "circle").string() + "'"));
  EXPECT_EQ(json.at("good"), 6);
  const std::string failed = json.at("failed").dump();
  EXPECT_EQ(json.at("failed").size(), 5u) << failed;
  for (const char* bad : {"loop.json", "dangling.json", "pipe.json", "xxxx", "circle"})
    EXPECT_THAT(failed, HasSubstr(bad));
}

TEST_F(FleetCommand, names_a_history_that_cannot_be_read) {
  const fs::path fleet = checked_nodes(2);
  fs::create_symlink("circle", folder / "circle");
  for (const std::string& bad : {(folder / "circle").string(), (folder / std::string(300, 'x')).string()}) {
    const Outcome refused = shiplap("fleet collect '" + fleet.string() + "' --history '" + bad + "'");
    expect_refused(refused, 1, {"cannot read", bad.c_str()});
    EXPECT_THAT(refused.err, Not(HasSubstr("filesystem")));
  }
}

TEST_F(FleetCommand, does_not_wait_for_a_pipe_as_its_history) {
  const fs::path fleet = checked_nodes(2);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_refused(shiplap("fleet collect '" + fleet.string() + "' --history '" + (folder / "pipe").string() + "'"), 1,
                 {"pipe"});
}

// As the shell completes the name of a folder.
TEST_F(FleetCommand, keeps_its_history_in_a_folder_that_is_named_with_a_slash) {
  const fs::path fleet = checked_nodes(2);
  for (const char* folder_of_checks : {"", "/", "//"}) {
    const Outcome judged = shiplap("fleet collect '" + fleet.string() + folder_of_checks + "' --history '" +
                                   (fleet / "history.json").string() + "'");
    EXPECT_EQ(judged.code, 0) << folder_of_checks << judged.err;
  }
}

TEST_F(FleetCommand, fails_when_there_is_nothing_to_judge) {
  fs::create_directory(folder / "empty");
  const Outcome empty = shiplap("fleet collect " + (folder / "empty").string());
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("there is no check to judge"));
  EXPECT_EQ(shiplap("fleet").code, 64);
  EXPECT_EQ(shiplap("fleet collect").code, 64);
}

}  // namespace
}  // namespace shiplap
