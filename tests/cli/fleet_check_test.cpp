// shiplap fleet check with ranks that are processes of this test. tests/recipes has the launchers.
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

class FleetCheck : public Cli {
 protected:
  /// Runs `ranks` processes on as many simulated nodes and returns what rank 0 printed. `flags_of` gives the flags of a
  /// rank, and "-" for one that is not started.
  Outcome check(std::size_t ranks, const std::string& flags,
                const std::function<std::string(std::size_t)>& flags_of = {}) const {
    std::string script;
    for (std::size_t rank = ranks; rank-- > 0;) {
      const std::string own = flags_of ? flags_of(rank) : "--device virtual:h200";
      if (own == "-") continue;
      script += "\"" SHIPLAP_PROGRAM "\" fleet check --folder \"" + (folder / "shared").string() +
                "\" --run test --ranks " + std::to_string(ranks) + " --rank " + std::to_string(rank) + " --node n" +
                std::to_string(rank) + " " + own + " " + (rank == 0 ? flags : " >/dev/null 2>&1 &") + "\n";
    }
    fs::create_directory(folder / "shared");
    write("ranks.sh", script + "code=$?\nwait\nexit $code\n");
    return run("/bin/sh", (folder / "ranks.sh").string());
  }
  bool is_empty(const char* name) const { return fs::is_empty(folder / name); }
  /// The profile of an H200 that copies at this fraction of its rate, as a device.
  std::string slow_device(double factor) const {
    Json profile = parsed(shiplap("profiles show h200 --json"));
    for (const char* way : {"h2d", "d2h"})
      for (Json& link : profile["links"])
        for (const char* key : {"value", "low", "high"})
          link[way]["per_byte"][key] = link[way]["per_byte"][key].get<double>() / factor;
    return "virtual:" + write("slow.json", profile.dump()).string();
  }
};

TEST_F(FleetCheck, one_process_checks_its_own_node) {
  const Outcome checked = shiplap("fleet check --device virtual:h200 --node here --json");
  const Json json = parsed(checked);
  EXPECT_EQ(JsonSchema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/fleet.schema.json"))).problems(json),
            std::vector<std::string>{});
  EXPECT_EQ(json.at("nodes").at(0).at("node"), "here");
  EXPECT_EQ(json.at("good"), 1);
}

TEST_F(FleetCheck, of_several_gpus_as_one_device_is_refused_since_each_gpu_is_judged_by_itself) {
  for (const char* device : {"virtual:h200:2", "virtual:h200,h200", "cuda:0,1"})
    expect_refused(shiplap(std::string("fleet check --node here --device ") + device), 64, {device, "name each"});
}

TEST_F(FleetCheck, reads_the_expected_nodes_from_a_pipe_too) {
  write("expect.sh",
        "\"" SHIPLAP_PROGRAM "\" fleet check --device virtual:h200 --node here --json --expect <(echo here gone)");
  const Json json = parsed(run("/bin/bash", (folder / "expect.sh").string()));
  EXPECT_EQ(json.at("missing"), Json::array({"gone"}));
}

TEST_F(FleetCheck, of_more_ranks_than_there_can_be_is_refused_and_makes_no_folder) {
  const std::string shared = (folder / "shared").string();
  const Outcome refused =
      shiplap("fleet check --device virtual:h200 --folder '" + shared + "' --run r --rank 0 --ranks 1000000000");
  expect_refused(refused, 64, {"1000000000 ranks", "at most 131072"});
  EXPECT_FALSE(fs::exists(shared));
}

TEST_F(FleetCheck, prints_its_judgement_also_where_the_history_cannot_be_written) {
  fs::create_directory(folder / ".history.json.lock");  // cannot be opened to be locked
  const Outcome checked =
      shiplap("fleet check --device virtual:h200 --node here --history '" + (folder / "history.json").string() + "'");
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.out, HasSubstr("1 good"));
  EXPECT_THAT(checked.err, AllOf(HasSubstr("cannot lock"), HasSubstr("history.json")));
}

TEST_F(FleetCheck, eight_processes_send_files_and_leave_none) {
  const Outcome checked = check(8, "");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("8 GPUs: 8 good"), Not(HasSubstr("no result"))));
  EXPECT_TRUE(is_empty("shared"));
}

TEST_F(FleetCheck, a_sick_node_is_checked_twice_named_and_exits_with_2) {
  const std::string slow = slow_device(0.4);
  const Outcome checked =
      check(8, "", [&](std::size_t rank) { return "--device " + (rank == 5 ? slow : std::string("virtual:h200")); });
  EXPECT_EQ(checked.code, 2) << checked.err;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("8 GPUs: 7 good, 1 sick"), HasSubstr("n5"), HasSubstr("of its peers"),
                                 HasSubstr("high"), Not(HasSubstr("n4"))));
  EXPECT_THAT(checked.err, HasSubstr("1 of 8 GPUs is sick"));
}

TEST_F(FleetCheck, a_rank_that_does_not_begin_and_a_gpu_that_hangs_are_reported_in_time) {
  const fs::path hangs = folder / "hangs.json";
  ASSERT_EQ(mkfifo(hangs.c_str(), 0600), 0);  // whoever opens it waits for a writer
  const Outcome checked = check(8, "", [&](std::size_t rank) -> std::string {
    const std::string limits = " --budget 3s --retries 0 --begin-within 5s";
    if (rank == 3) return "-";
    return (rank == 6 ? "--device virtual:" + hangs.string() : std::string("--device virtual:h200")) + limits;
  });
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("rank 3 did not begin within 5"), HasSubstr("n6 (rank 6)"),
                                 HasSubstr("nothing answered within the budget"), HasSubstr("6 GPUs: 6 good")));
}

TEST_F(FleetCheck, a_history_grows_and_shows_what_fell) {
  const std::string history = " --history " + (folder / "history.json").string();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(shiplap("fleet check --device virtual:h200 --node n0" + history).code, 0) << "check " << i;
  fs::copy_file(slow_device(0.9).substr(8), folder / "h200.json");
  // The same node and device name, another profile behind it.
  Json json = Json::parse(read(folder / "history.json"));
  const std::string name = "virtual:" + (folder / "h200.json").string();
  json["gpus"]["n0 " + name] = json["gpus"]["n0 virtual:h200"];
  write("history.json", json.dump());
  const Outcome fallen = shiplap("fleet check --device " + name + " --node n0" + history);
  EXPECT_EQ(fallen.code, 2) << fallen.out << fallen.err;
  EXPECT_THAT(fallen.out, AllOf(HasSubstr("1 sick"), HasSubstr("copies to the GPU"), HasSubstr("of earlier")));
  const Json kept = Json::parse(read(folder / "history.json"));
  EXPECT_EQ(kept["gpus"]["n0 " + name]["copies to the GPU"]["first"].size(), 5u) << "sick figures are not remembered";
}

TEST_F(FleetCheck, nodes_that_are_expected_are_compared_without_their_domain) {
  const fs::path names = write("names", "n0.cluster\nn1\nn9\n");
  const Outcome checked = shiplap("fleet check --device virtual:h200 --node n0 --expect " + names.string() + " --json");
  EXPECT_EQ(parsed(checked).at("missing"), Json::array({"n1", "n9"}));
}

TEST_F(FleetCheck, flags_that_make_no_sense_are_refused) {
  expect_refused(shiplap("fleet check --rank 1"), 64, {"--rank and --ranks", "give both"});
  expect_refused(shiplap("fleet check --rank 2 --ranks 2 --folder ."), 64, {"count from 0"});
  expect_refused(shiplap("fleet check --rank 0 --ranks 2 --folder " + folder.string()), 64, {"--run"});
  expect_refused(shiplap("fleet check --rank 0 --ranks 2 --run a"), 64, {"--folder"});
  expect_refused(shiplap("fleet check --budget 0s"), 64, {"--budget"});
  expect_refused(shiplap("fleet check --expect /none"), 1, {"/none"});
  expect_refused(shiplap("fleet copy --device virtual:h200 --begin 0"), 1, {"simulated GPU"});
}

TEST_F(FleetCheck, a_machine_without_a_gpu_says_so) {
  const Outcome checked = run("/usr/bin/env", "CUDA_VISIBLE_DEVICES= " SHIPLAP_PROGRAM " fleet check");
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.err, HasSubstr("no GPU is seen"));
}

}  // namespace
}  // namespace shiplap
