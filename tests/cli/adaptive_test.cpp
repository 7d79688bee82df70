// shiplap run --adaptive and shiplap replay.
#include "cli/adaptive.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

constexpr const char* run_small =
    "run histogram:frames=32,width=176,height=144 --device virtual:h200 --adaptive --frames 6400";

JsonSchema schema_of(const std::string& name) {
  return JsonSchema(read_json_file(SHIPLAP_SOURCE_DIR "/docs/schema/" + name + ".schema.json"));
}

TEST_F(Cli, adaptive_follows_a_kernel_that_varies_and_prints_what_its_schema_says) {
  const Json json = parsed(shiplap(std::string(run_small) + " --in-flight 1 --vary 1,20:50 --json"));
  EXPECT_EQ(schema_of("adaptive-run").problems(json), std::vector<std::string>{});
  EXPECT_EQ(json.at("batches"), 200);
  EXPECT_EQ(json.at("items"), 6400);
  EXPECT_EQ(json.at("verified"), true);
  EXPECT_GE(json.at("all_decisions"), 3) << "three times the kernel changes";
  EXPECT_NEAR(json.at("decisions").at(0).at("kernel").get<double>(), 20, 1);
}

TEST_F(Cli, adaptive_writes_a_log_that_replays_and_that_its_schema_describes) {
  const std::string log = (folder / "log").string();
  const Outcome run = shiplap(std::string(run_small) + " --vary 1,20:50 --log " + log);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("kernels take 20 times as long"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("verified against the host reference"), std::string::npos) << run.out;

  std::istringstream lines(read(log));
  std::string line;
  std::getline(lines, line);
  const Json schema = read_json_file(SHIPLAP_SOURCE_DIR "/docs/schema/adaptation.schema.json");
  EXPECT_EQ(JsonSchema(schema).problems(Json::parse(line)), std::vector<std::string>{});
  std::size_t batches = 0;
  while (std::getline(lines, line)) {
    const Json json = Json::parse(line);
    const bool is_batch = json.contains("batch");
    batches += is_batch;
    Json of_line = schema.at("$defs").at(is_batch ? "batch" : "decision");
    of_line["$defs"] = schema.at("$defs");
    ASSERT_EQ(JsonSchema(of_line).problems(json), std::vector<std::string>{}) << line;
  }
  EXPECT_EQ(batches, 200u);

  const Outcome again = shiplap("replay " + log);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("as logged"), std::string::npos) << again.out;
  EXPECT_EQ(parsed(shiplap("replay --json " + log)).at("as_logged"), true);
  const std::string whole = read(log);
  const fs::path cut = write("cut", whole.substr(0, whole.size() - 5));
  EXPECT_EQ(shiplap("replay " + cut.string()).code, 0) << "what a killed program leaves";
  const Outcome other = shiplap("replay " + write("other", replaced(read(log), "\"to\":", "\"to\":1")).string());
  EXPECT_EQ(other.code, 2) << other.out;
  EXPECT_NE(other.out.find("NOT as logged"), std::string::npos) << other.out;
  expect_refused(shiplap("replay " + (folder / "none").string()), 1, {"none"});
}

TEST_F(Cli, adaptive_of_a_workload_in_place_is_verified_too) {
  const Outcome run = shiplap("run saxpy:n=64Ki --device virtual:h200 --adaptive --frames 640Ki");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("verified against the host reference"), std::string::npos) << run.out;
}

TEST_F(Cli, adaptive_runs_as_many_items_as_frames_say) {
  const std::string batch = "run histogram:frames=32,width=176,height=144 --device virtual:h200 --adaptive --frames ";
  const Json ten = parsed(shiplap(batch + "10 --json"));
  EXPECT_EQ(ten.at("items"), 10) << "fewer than a batch";
  EXPECT_EQ(ten.at("batches"), 1);
  EXPECT_EQ(ten.at("verified"), true);
  const Outcome uneven = shiplap(batch + "106 --vary 1,2:1 --json");
  EXPECT_EQ(parsed(uneven).at("items"), 106) << "three batches of 32 and one of 10";
  EXPECT_EQ(parsed(uneven).at("batches"), 4);
  EXPECT_EQ(parsed(uneven).at("verified"), true);
  EXPECT_NE(uneven.err.find("3 batches of 32 and one of 10"), std::string::npos) << uneven.err;
  EXPECT_EQ(parsed(shiplap("run saxpy --device virtual:h200 --adaptive --frames 10 --json")).at("items"), 10);
  EXPECT_EQ(parsed(shiplap(batch + "64 --json")).at("batches"), 2);
  expect_refused(shiplap("run --in 1MiB --out 1MiB --kernel 1ms --device virtual:h200 --adaptive --frames 10"), 64,
                 {"--frames 10", "cannot have fewer", "multiple of"});
}

TEST_F(Cli, adaptive_refuses_what_makes_no_sense_with_it) {
  expect_refused(shiplap("run saxpy --device virtual:h200 --adaptive"), 64, {"--frames"});
  expect_refused(shiplap("run saxpy --device virtual:h200 --frames 100"), 64, {"--adaptive"});
  expect_refused(shiplap(std::string(run_small) + " --chunks 4"), 64, {"--adaptive", "chunks"});
  expect_refused(shiplap(std::string(run_small) + " --order breadth"), 64, {"--order breadth", "--adaptive"});
  expect_refused(shiplap(std::string(run_small) + " --gantt"), 64, {"--gantt"});
  expect_refused(shiplap(std::string(run_small) + " --graph"), 64, {"--graph"});
  expect_refused(shiplap(std::string(run_small) + " --batched"), 64, {"--batched"});
  expect_refused(shiplap(std::string(run_small) + " --memory pageable"), 64, {"--memory"});
  expect_refused(shiplap(std::string(run_small) + " --latency-limit 5"), 64, {"--latency-limit", "5"});
  for (const std::string wrong : {"1,2", ":", "1:", ":5", "1:0", "1,:5", ",1:5", "0:5", "-1:5", "a:5", "1:5x", "1:-5"})
    expect_refused(shiplap(std::string(run_small) + " --vary " + wrong), 64, {"--vary", "1,4,0.5:100"});
  expect_refused(shiplap(std::string(run_small) + " --log /nowhere/at/all"), 1, {"--log", "/nowhere"});
  expect_refused(shiplap("run matmul:p=256 --device virtual:h200 --adaptive --frames 5120"), 1,
                 {"b would have to stay on the GPU"});
}

}  // namespace
}  // namespace shiplap
