// What the command line can ask of the library: pinning, device memory, several GPUs; and its messages in flags.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

TEST_F(Cli, run_pins_pageable_arrays_only_where_that_pays_over_the_runs) {
  const std::string run = "run scalar-add:in=8MiB,out=8MiB --device virtual:h200 --memory pageable --json";
  const Json once = parsed(shiplap(run));
  EXPECT_EQ(once.at("pins"), false);
  const Json often = parsed(shiplap(run + " --reuse 100000"));
  EXPECT_EQ(often.at("pins"), true);
  EXPECT_EQ(often.at("verified"), true);
  EXPECT_LT(often.at("observed").at("value").get<double>(), once.at("observed").at("value").get<double>());
  EXPECT_EQ(parsed(shiplap(run + " --reuse 100000 --no-pin")).at("pins"), false);
}

TEST_F(Cli, run_keeps_to_the_device_memory_that_is_given) {
  // 16 MiB each of x and y.
  const std::string in_little = "saxpy:n=4Mi --device-memory 6MiB --json";
  const Json plan = parsed(shiplap("plan --profile h200 " + in_little));
  std::vector<std::string> refused;
  for (const Json& one : plan.at("refused")) refused.push_back(one.at("strategy"));
  EXPECT_THAT(refused, ::testing::Contains("explicit"));
  const Json run = parsed(shiplap("run --device virtual:h200 --strategy streams " + in_little));
  EXPECT_EQ(run.at("verified"), true);
  EXPECT_GE(run.at("choice").at("chunks").get<int>(), 6);
  expect_refused(shiplap("plan saxpy:n=4Mi --profile h200 --device-memory 0"), 64, {"--device-memory"});
}

TEST_F(Cli, plan_shares_a_job_among_gpus_and_run_needs_as_many) {
  const Json plan = parsed(shiplap("plan saxpy:n=16Mi --profile h200 --gpus 2 --json"));
  EXPECT_EQ(plan.at("chosen").at("gpus"), 2);
  const Json one = parsed(shiplap("plan saxpy:n=16Mi --profile h200 --json"));
  const auto predicted = [](const Json& p) { return p.at("chosen").at("predicted").at("value").get<double>(); };
  EXPECT_LT(predicted(plan), 0.7 * predicted(one));
  expect_refused(shiplap("run saxpy:n=1Mi --device virtual:h200 --gpus 2"), 64, {"1 GPU", "virtual:h200:2"});
  const Json run = parsed(shiplap("run saxpy:n=1Mi --device virtual:h200:2 --gpus 2 --json"));
  EXPECT_EQ(run.at("verified"), true);
  EXPECT_EQ(run.at("choice").at("gpus"), 2);
}

TEST_F(Cli, run_takes_the_choice_of_a_saved_plan) {
  const std::string workload = "saxpy:n=1Mi --device virtual:h200";
  const Outcome made = shiplap("plan " + workload + " --strategy streams --chunks 5 --json");
  const std::string file = write("plan.json", made.out);
  const Json run = parsed(shiplap("run " + workload + " --saved " + file + " --json"));
  EXPECT_EQ(run.at("verified"), true);
  EXPECT_EQ(run.at("choice").at("chunks"), 5);
  EXPECT_EQ(run.at("choice").at("ramp"), parsed(made).at("chosen").at("ramp"));
  EXPECT_EQ(run.at("choice").at("batched"), parsed(made).at("chosen").at("batched"));
  expect_refused(shiplap("run " + workload + " --saved " + file + " --chunks 4"), 64, {"--saved", "--chunks"});
  expect_refused(shiplap("run saxpy:n=2Mi --device virtual:h200 --saved " + file), 64,
                 {"saved plan", "saxpy:n=2097152"});
  expect_refused(shiplap("tune " + workload + " --saved " + file), 64, {"--race"});
  expect_refused(shiplap("run " + workload + " --saved " + file + ".gone"), 1, {".gone"});
}

TEST_F(Cli, plan_checks_the_reach_of_a_kernel_that_is_not_measured) {
  EXPECT_EQ(shiplap("plan saxpy:n=64Ki --device virtual:h200 --check-reach").code, 0);
  expect_refused(shiplap("plan saxpy:n=64Ki --profile h200 --check-reach"), 64, {"device"});
}

TEST_F(Cli, negative_numbers_are_refused_by_every_flag_that_counts) {
  for (const char* arguments :
       {"plan saxpy --profile h200 --gpus -1", "plan saxpy --profile h200 --chunks -1",
        "plan saxpy --profile h200 --threads -1", "plan saxpy --profile h200 --max-grid -1",
        "plan saxpy --profile h200 --reuse -1", "plan saxpy --profile h200 --nodes -1", "check --retries -1",
        "run saxpy --device virtual:h200 --repeat -1", "evaluate --device virtual:h200 --repeat -1",
        "evaluate --device virtual:h200 --duel-repeat -1", "evaluate --device virtual:h200 --random -1",
        "evaluate --device virtual:h200 --random 1 --seed -1", "fleet check --rank -1 --ranks 2 --folder .",
        "fleet check --rank 0 --ranks -1 --folder .", "fleet check --retries -1", "movers --count -1 --profile h200"}) {
    const Outcome outcome = shiplap(arguments);
    expect_refused(outcome, 64, {"-1"});
    EXPECT_EQ(outcome.err.find("4294967295"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("18446744073709551615"), std::string::npos) << outcome.err;
  }
}

TEST_F(Cli, messages_of_the_library_name_flags) {
  for (const auto& [arguments, flag] : {std::pair{"plan saxpy --profile h200 --strategy nope", "--strategy nope"},
                                        {"plan saxpy --profile h200 --ramp 2:1:1", "--ramp"},
                                        {"plan saxpy --profile h200 --layout nope", "--layout nope"},
                                        {"plan saxpy --profile h200 --scale nope", "--scale nope"},
                                        {"plan nope --profile h200", "--in, --out and --kernel"}}) {
    const Outcome outcome = shiplap(arguments);
    expect_refused(outcome, 64, {flag});
    EXPECT_EQ(outcome.err.find('`'), std::string::npos) << outcome.err;
  }
  const Outcome refused = shiplap("plan saxpy:n=1Mi --profile h200 --memory pageable --all");
  EXPECT_THAT(refused.out, ::testing::HasSubstr("--memory pinned"));
}

}  // namespace
}  // namespace shiplap
