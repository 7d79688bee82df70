// What the program prints and how it exits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/device/host_work.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

TEST_F(Cli, version_and_help_succeed) {
  EXPECT_EQ(shiplap("--version").code, 0);
  EXPECT_TRUE(shiplap("--version").out.starts_with("shiplap "));
  for (const char* command :
       {"", "devices", "profiles", "profiles show", "measure", "predict", "plan", "run", "replay", "evaluate"}) {
    const Outcome help = shiplap(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_NE(help.out.find("Usage:"), std::string::npos) << command;
  }
}

TEST_F(Cli, alone_and_with_help_shows_the_help) {
  const Outcome alone = shiplap("");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(alone.out, shiplap("--help").out);
  EXPECT_EQ(shiplap("help plan").out, shiplap("plan --help").out);
  EXPECT_EQ(shiplap("-V").out, shiplap("--version").out);
}

TEST_F(Cli, colours_and_notes_obey_their_options) {
  const std::string plan = "plan saxpy:n=4Ki --profile h200 --threads 4";
  EXPECT_EQ(shiplap(plan).out.find('\x1b'), std::string::npos);
  EXPECT_NE(shiplap(plan + " --color always").out.find('\x1b'), std::string::npos);
  EXPECT_NE(shiplap(plan).err.find("note: "), std::string::npos);
  EXPECT_EQ(shiplap("--quiet " + plan).err, "");
}

// What is not stated of a job is not assumed in favour of a kernel that accesses host memory.
TEST_F(Cli, plans_zero_copy_for_a_job_stated_by_hand_only_where_its_accesses_are_stated) {
  const auto chosen = [this](const std::string& stated) {
    return parsed(shiplap("plan --profile h200 --json " + stated)).at("chosen").at("strategy");
  };
  const std::string job = "--in 256MiB --out 128MiB --kernel 6ms";
  EXPECT_EQ(chosen(job), "streams");
  EXPECT_EQ(chosen(job + " --access repeated"), "streams");
  EXPECT_EQ(chosen(job + " --access once"), "implicit");
  const fs::path file =
      write("job.json", R"({"schema": "shiplap/workload", "version": 1, "in": "256MiB", "out": "128MiB",
                                              "kernel": "6ms", "access": "once"})");
  EXPECT_EQ(chosen("'" + file.string() + "'"), "implicit");
}

TEST_F(Cli, plans_jobs_of_one_direction_and_copies_alone) {
  const auto seconds = [this](const std::string& stated) {
    const Json predicted = parsed(shiplap("plan --profile h200 --json " + stated)).at("chosen").at("predicted");
    return predicted.at("value").get<double>() * (predicted.at("unit") == "ms" ? 1e-3 : 1e-6);
  };
  const double copy = seconds("--in 1GiB --kernel 0");
  EXPECT_NEAR(copy, 1.0737 / 55.46, 0.02 * copy) << "1 GiB at the rate of the profile";
  const fs::path file = write("out.json", R"({"schema": "shiplap/workload", "version": 1, "out": "1GiB", "kernel": "0",
                                              "item": "1MiB", "memory": "pinned"})");
  EXPECT_NEAR(seconds("'" + file.string() + "'"), 1.0737 / 55.35, 0.02 * copy);
  const fs::path both = write("both.json", R"({"schema": "shiplap/workload", "version": 1, "workload": "saxpy",
                                               "in": "1GiB"})");
  expect_refused(shiplap("plan '" + both.string() + "' --profile h200"), 1, {"in"});
}

TEST_F(Cli, exports_figures_of_profiles_for_other_tools) {
  EXPECT_THAT(shiplap("profiles export h200 --for aisimulate").out, ::testing::HasSubstr("h2d_bandwidth_gbps: 55.4"));
  EXPECT_THAT(shiplap("profiles export h200 --for inference-sim --block 2MiB").out,
              ::testing::HasSubstr("--kv-transfer-bandwidth 0.39"));
  EXPECT_THAT(shiplap("profiles export h200").out, ::testing::StartsWith("direction,memory,bytes,seconds"));
  expect_refused(shiplap("profiles export h200 --for inference-sim"), 64, {"--block"});
}

TEST_F(Cli, wrong_usage_exits_64_and_names_what_is_wrong) {
  expect_refused(shiplap("plan --bogus"), 64, {"--bogus"});
  expect_refused(shiplap("plan"), 64, {"WORKLOAD", "saxpy", "--in"});
  expect_refused(shiplap("plan nothing --profile gtx-titan-2014"), 64, {"nothing", "saxpy"});
  expect_refused(shiplap("plan --in 1GiB --profile gtx-titan-2014"), 64, {"--kernel"});
  expect_refused(shiplap("plan --in 1GiB --kernel 12 --profile gtx-titan-2014"), 64, {"--kernel", "12"});
  expect_refused(shiplap("plan --in -1 --kernel 12ms --profile gtx-titan-2014"), 64, {"--in"});
  expect_refused(shiplap("plan saxpy --in 1GiB --profile gtx-titan-2014"), 64, {"--in", "saxpy"});
  expect_refused(shiplap("plan saxpy --halo 1,1 --profile h200"), 64, {"--halo", "saxpy"});
  expect_refused(shiplap("plan --in 1GiB --kernel 1ms --halo 1 --item 1MiB --profile h200"), 64, {"--halo", "1,1"});
  expect_refused(shiplap("plan --in 1GiB --kernel 1ms --halo 1,1 --profile h200"), 64, {"--halo", "--item"});
  expect_refused(shiplap("plan saxpy --device virtual:h200 --profile h200"), 64, {"--device", "--profile"});
  expect_refused(shiplap("predict saxpy --model magic --profile h200"), 64, {"--model", "magic", "simulation"});
  expect_refused(shiplap("plan saxpy --profile h200 --scale link=magic"), 64, {"--scale", "link=magic", "link=pcie1"});
  expect_refused(shiplap("plan saxpy --strategy magic --profile h200"), 64, {"--strategy", "magic", "explicit"});
  expect_refused(shiplap("plan saxpy --layout magic --profile h200"), 64, {"--layout", "magic", "three"});
  expect_refused(shiplap("plan saxpy --order magic --profile h200"), 64, {"--order", "magic", "breadth"});
  expect_refused(shiplap("plan saxpy --memory magic --profile h200"), 64, {"--memory", "pinned"});
  expect_refused(shiplap("run saxpy --device virtual:h200 --repeat 0"), 64, {"--repeat"});
  expect_refused(shiplap("profiles show nothing"), 64, {"nothing", "h200"});
  expect_refused(shiplap("measure --device virtual:h200 --only 'nothing*'"), 64, {"nothing*", "measure --list --all"});
}

TEST_F(Cli, a_plan_is_emitted_as_a_program_on_stdout_or_beside_the_plan_into_a_file) {
  const Outcome alone = shiplap("plan saxpy:n=1Mi --profile h200 --emit cuda");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(alone.out.starts_with("// saxpy:n=1048576: ")) << alone.out.substr(0, 200);
  EXPECT_NE(alone.out.find("int main("), std::string::npos);
  const fs::path file = folder / "p.cu";
  const Outcome beside = shiplap("plan saxpy:n=1Mi --profile h200 --emit cuda -o '" + file.string() + "'");
  EXPECT_EQ(beside.code, 0) << beside.err;
  EXPECT_TRUE(beside.out.starts_with("Use ")) << beside.out;
  EXPECT_NE(beside.out.find("program written to"), std::string::npos);
  EXPECT_EQ(read(file), std::regex_replace(alone.out, std::regex(" pipeline[.]cu "), " p.cu ")) << "its own name";
  expect_refused(shiplap("plan saxpy --profile h200 --emit fortran"), 64, {"--emit", "fortran", "cuda"});
  expect_refused(shiplap("plan saxpy --profile h200 -o x.cu"), 64, {"--output", "--emit"});
  expect_refused(shiplap("plan saxpy:n=1Mi --profile h200 --emit cuda --json"), 64, {"--json", "--emit", "--output"});
  expect_refused(shiplap("plan saxpy:n=1Mi --profile h200 --emit cuda -o /nowhere/x.cu"), 1, {"--output", "/nowhere"});
}

TEST_F(Cli, an_unknown_device_is_refused_in_a_few_lines_that_name_the_list_of_devices) {
  constexpr std::size_t few_lines = 300;
  for (const char* device : {"gpu", "cuda:x"}) {
    const Outcome refused = shiplap("run saxpy:n=1Ki --device " + std::string(device));
    expect_refused(refused, 64, {"virtual:h200", "shiplap devices"});
    EXPECT_LT(refused.err.size(), few_lines) << refused.err;
  }
  expect_refused(shiplap("run saxpy:n=1Ki --device virtual:nothing"), 64, {"h200", "gtx-titan-2014"});
}

TEST_F(Cli, devices_lists_the_virtual_ones_and_says_why_others_are_absent) {
  const Outcome human = shiplap("devices --all");
  EXPECT_EQ(human.code, 0);
  for (const char* word : {"virtual:h200", "virtual:gtx-titan-2014"})
    EXPECT_NE(human.out.find(word), std::string::npos) << human.out;
  const Json json = parsed(shiplap("devices --json"));
  EXPECT_GE(json.at("devices").size(), 2u);
  bool cuda = false;
  for (const Json& device : json.at("devices")) cuda = cuda || !device.at("virtual").get<bool>();
  EXPECT_NE(cuda, !json.at("absent").empty());
}

TEST_F(Cli, a_cuda_device_that_is_absent_is_refused_with_the_reason) {
  if (parsed(shiplap("devices --json")).at("absent").empty()) GTEST_SKIP() << "this node has a CUDA device";
  expect_refused(shiplap("run saxpy:n=1Ki --device cuda:0"), 1, {"cuda:0", "CUDA"});
}

TEST_F(Cli, predict_keeps_to_the_paper_that_was_asked_for) {
  const Outcome harris = shiplap("predict saxpy:n=20Mi --profile h200 --model harris-2012");
  EXPECT_EQ(harris.code, 0) << harris.err;
  EXPECT_NE(harris.out.find("effective bandwidth"), std::string::npos);
  EXPECT_EQ(harris.out.find("van-werkhoven"), std::string::npos);
  const Outcome streams = shiplap(
      "predict --in 12MiB --out 12MiB --kernel 3ms --profile gtx-480-2012 --link pcie2 --model gomez-luna-2012");
  EXPECT_EQ(streams.code, 0) << streams.err;
  EXPECT_NE(streams.out.find("30.00 µs"), std::string::npos) << "0.03 ms for creating a stream\n" << streams.out;
}

TEST_F(Cli, predict_has_every_model_side_by_side) {
  const Json all = parsed(shiplap("predict saxpy:n=1Mi --profile h200 --json"));
  EXPECT_EQ(all.at("schema"), "shiplap/prediction");
  ASSERT_EQ(all.at("choices").size(), 5u) << "a choice of each strategy";
  for (const Json& choice : all.at("choices")) {
    EXPECT_EQ(choice.at("models").front().at("model"), "simulation");
    EXPECT_EQ(choice.at("models").front().at("time").at("value"), choice.at("predicted").at("value"));
    EXPECT_EQ(choice.at("elasticities").size(), 8u);
  }
  const Json one =
      parsed(shiplap("predict saxpy:n=1Mi --profile h200 --strategy streams --chunks 4 --model simulation --json"));
  ASSERT_EQ(one.at("choices").size(), 1u);
  EXPECT_EQ(one.at("choices").front().at("choice").at("chunks"), 4);
  EXPECT_EQ(one.at("choices").front().at("models").size(), 1u);
}

TEST_F(Cli, reproduce_without_its_program_says_so_and_what_to_do) {
  const fs::path alone = folder / "shiplap";
  fs::copy_file(SHIPLAP_PROGRAM, alone);
  for (const char* arguments : {"reproduce", "reproduce --help", "reproduce harris2012 --quick"})
    expect_refused(run(alone, arguments), 1,
                   {"shiplap: ", "shiplap-reproduce", "no paper can be reproduced", "SHIPLAP_EXPERIMENTS=ON"});
  EXPECT_NE(run(alone, "--help").out.find("reproduce"), std::string::npos);
}

TEST_F(Cli, reproduce_hands_all_arguments_to_the_program_beside_it_as_they_are) {
  const fs::path alone = folder / "shiplap";
  fs::copy_file(SHIPLAP_PROGRAM, alone);
  const fs::path beside = write("shiplap-reproduce", "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n");
  fs::permissions(beside, fs::perms::owner_all);
  const Outcome all = run(alone, "reproduce --help 'a b' -- run --version -o '' plan");
  EXPECT_EQ(all.out, "--help\na b\n--\nrun\n--version\n-o\n\nplan\n");
  EXPECT_EQ(all.code, 7);
}

TEST_F(Cli, plan_says_from_how_many_runs_on_it_pays_to_pin) {
  const std::string plan = "plan scalar-add:in=64MiB,out=64MiB --profile h200 --memory pageable --reuse ";
  const Json few = parsed(shiplap(plan + "1 --json")).at("memory");
  const Json many = parsed(shiplap(plan + "100000 --json")).at("memory");
  EXPECT_EQ(few.at("ways").front().at("name"), "as it is");
  EXPECT_EQ(many.at("ways").front().at("name"), "registered");
  EXPECT_EQ(many.at("runs"), 100000);
  const auto pays_from = many.at("ways").front().at("pays_from_runs").get<std::uint64_t>();
  EXPECT_GT(pays_from, 1u);
  const Outcome table = shiplap(plan + "5");
  EXPECT_NE(table.out.find(std::to_string(pays_from) + " runs"), std::string::npos) << table.out;
  EXPECT_EQ(parsed(shiplap("plan saxpy:n=4096 --profile h200 --json")).at("memory"), Json(nullptr));
  expect_refused(shiplap("plan saxpy:n=4096 --profile h200 --reuse 2"), 64, {"--reuse", "--memory pageable"});
  expect_refused(shiplap(plan + "0"), 64, {"--reuse"});
}

TEST_F(Cli, plan_ranks_on_both_built_in_profiles) {
  for (const char* profile : {"h200", "gtx-titan-2014"}) {
    const std::string command = "plan --in 256MiB --out 256MiB --kernel 3ms --profile " + std::string(profile);
    const Outcome human = shiplap(command);
    EXPECT_EQ(human.code, 0) << human.err;
    for (const char* word : {"Use ", "streams", "explicit", "bound", profile})
      EXPECT_NE(human.out.find(word), std::string::npos) << word;
    EXPECT_EQ(human.out.find('\x1b'), std::string::npos) << "colour only on a terminal";
    parsed(shiplap(command + " --json"));
  }
}

TEST_F(Cli, a_forced_choice_is_the_only_one_planned) {
  const Outcome outcome =
      shiplap("plan --in 64MiB --out 64MiB --kernel 3ms --profile h200 --strategy streams --chunks 8 --layout three");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("explicit"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("three streams"), std::string::npos) << outcome.out;
}

TEST_F(Cli, the_json_of_a_plan_is_as_its_schema_says) {
  const JsonSchema schema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/plan.schema.json")));
  for (const char* job : {"saxpy:n=1Mi --profile h200", "saxpy:n=1Mi --profile h200 --memory pageable --reuse 100",
                          "pop-state --profile gtx-titan-2014 --kernel 8ms"}) {
    const Json json = parsed(shiplap("plan " + std::string(job) + " --json"));
    EXPECT_TRUE(json.contains("profile_origin"));
    EXPECT_EQ(schema.problems(json), std::vector<std::string>{}) << job;
  }
}

TEST_F(Cli, run_verifies_and_draws_on_both_virtual_devices) {
  for (const char* device : {"virtual:h200", "virtual:gtx-titan-2014"}) {
    const fs::path picture = folder / "run.svg";
    const Outcome human = shiplap("run saxpy:n=1Mi --kernel 500us --gantt --device " + std::string(device) +
                                  " --svg '" + picture.string() + "'");
    EXPECT_EQ(human.code, 0) << human.err;
    for (const char* word : {"predicted", "simulated", "% above the bound", "VERIFIED", "kernels", "% busy"})
      EXPECT_NE(human.out.find(word), std::string::npos) << word << " in: " << human.out;
    EXPECT_TRUE(read(picture).starts_with("<svg ")) << device;
    const Json json = parsed(shiplap("run saxpy:n=1Mi --kernel 500us --json --device " + std::string(device)));
    EXPECT_EQ(json.at("kernel_cost"), "stated");
  }
}

TEST_F(Cli, every_strategy_and_layout_gives_the_right_bytes) {
  for (const char* choice : {"--strategy explicit", "--strategy streams --chunks 8 --layout per-chunk",
                             "--strategy streams --chunks 8 --layout few:3 --order breadth",
                             "--strategy streams --chunks 8 --layout three --order depth",
                             "--strategy streams --chunks 7 --ramp 0.25:0.5:1.5", "--strategy implicit --max-grid 8",
                             "--strategy hybrid --chunks 7 --max-grid full", "--strategy hybrid --max-grid auto",
                             "--strategy hybrid-mirror --chunks 3 --max-grid 24"}) {
    const Outcome outcome = shiplap("run scalar-add:in=4MiB,out=4MiB --device virtual:h200 " + std::string(choice));
    EXPECT_EQ(outcome.code, 0) << choice << outcome.err;
    EXPECT_NE(outcome.out.find("VERIFIED"), std::string::npos) << choice;
  }
}

TEST_F(Cli, traces_a_plan_and_a_run_and_explains_the_run) {
  const fs::path file = folder / "trace.json";
  const Outcome planned =
      shiplap("plan --in 64MiB --out 64MiB --kernel 3ms --profile h200 --trace '" + file.string() + "'");
  EXPECT_EQ(planned.code, 0) << planned.err;
  const auto processes = [&] {
    std::set<std::string> names;
    const Json trace = Json::parse(read(file));
    for (const Json& event : trace.at("traceEvents"))
      if (event.at("name") == "process_name") names.insert(event.at("args").at("name"));
    return names;
  };
  EXPECT_EQ(processes(), (std::set<std::string>{"predicted"}));
  const Outcome run =
      shiplap("run scalar-add:in=4MiB,out=4MiB --device virtual:h200 --explain --trace '" + file.string() + "'");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(processes(), (std::set<std::string>{"predicted", "simulated"}));
  for (const char* words : {"largest difference", "spans: simulation", "trace written to"})
    EXPECT_NE(run.out.find(words), std::string::npos) << words << " in: " << run.out;
  expect_refused(shiplap("plan --in 1MiB --kernel 1ms --profile h200 --trace /nowhere/t.json"), 1,
                 {"--trace", "/nowhere"});
}

TEST_F(Cli, ramps_and_grids_that_cannot_be_are_refused) {
  const auto planned = [&](const char* flags) {
    return shiplap("plan --in 16MiB --kernel 1ms --profile h200 " + std::string(flags));
  };
  expect_refused(planned("--ramp 0.5"), 64, {"--ramp 0.5", "FIRST:LAST:GROWTH"});
  expect_refused(planned("--ramp 2:1:2"), 64, {"--ramp 2:1:2", "at most 1"});
  expect_refused(planned("--max-grid 0"), 64, {"--max-grid 0", "full"});
  expect_refused(planned("--max-grid some"), 64, {"--max-grid"});
  // The stand-in of a stated kernel fills the GPU whatever it is told.
  expect_refused(shiplap("plan --in 16MiB --kernel 1ms --profile h200 --strategy implicit --max-grid 8"), 1,
                 {"implicit", "grid of its own"});
}

TEST_F(Cli, an_unknown_schema_version_is_refused) {
  const auto file = write("p.json", replaced(profile_text(), "\"version\": 1", "\"version\": 99"));
  expect_refused(shiplap("plan --in 1MiB --kernel 1ms --profile '" + file.string() + "'"), 1,
                 {"p.json", "version", "99"});
}

TEST_F(Cli, a_negative_parameter_is_refused_by_its_key) {
  const auto file = write("p.json", replaced(profile_text(), "0.08318392", "-0.08318392"));
  expect_refused(shiplap("plan --in 1MiB --kernel 1ms --profile '" + file.string() + "'"), 1,
                 {"p.json", "links[0].h2d.per_byte"});
}

TEST_F(Cli, a_parameter_that_is_not_a_number_is_refused) {
  const auto bare = write("bare.json", replaced(profile_text(), "0.08318392", "NaN"));
  expect_refused(shiplap("plan --in 1MiB --kernel 1ms --profile '" + bare.string() + "'"), 1, {"bare.json", "line"});
  const auto quoted = write("quoted.json", replaced(profile_text(), "0.08318392", "\"NaN\""));
  expect_refused(shiplap("plan --in 1MiB --kernel 1ms --profile '" + quoted.string() + "'"), 1,
                 {"quoted.json", "links[0].h2d.per_byte"});
}

TEST_F(Cli, truncated_json_is_refused_with_its_place) {
  const std::string text = profile_text();
  const auto file = write("p.json", text.substr(0, text.size() / 2));
  expect_refused(shiplap("run saxpy:n=1Ki --device 'virtual:" + file.string() + "'"), 1, {"p.json", "line"});
}

TEST_F(Cli, an_output_that_cannot_be_written_is_refused_before_any_work) {
  expect_refused(shiplap("measure --device virtual:h200 -o /nowhere/p.json"), 1, {"-o", "/nowhere"});
  expect_refused(shiplap("run saxpy:n=1Ki --device virtual:h200 --svg /nowhere/p.svg"), 1, {"--svg", "/nowhere"});
  expect_refused(shiplap("run saxpy:n=1Ki --device virtual:h200 --svg '" + folder.string() + "'"), 1, {"--svg"});
  expect_refused(shiplap("run saxpy:n=1Ki --device virtual:h200 --svg /dev/null"), 1, {"--svg", "/dev/null"});
}

TEST_F(Cli, more_chunks_than_items_are_refused_with_the_most_there_can_be) {
  expect_refused(shiplap("plan saxpy:n=100 --chunks 101 --profile h200"), 64, {"--chunks 101", "at most 100"});
  expect_refused(shiplap("plan saxpy:n=100 --chunks 0 --profile h200"), 64, {"--chunks"});
}

TEST_F(Cli, chunks_that_do_not_divide_run_and_the_nearest_that_do_are_named) {
  // 1000 = 2^3 · 5^3: the divisors next to 30 are 25 and 40.
  const Outcome outcome = shiplap("run saxpy:n=1000 --strategy streams --chunks 30 --device virtual:h200 --json");
  parsed(outcome);
  for (const char* word : {"--chunks 30", "differ in size", "25 and", "40"})
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in: " << outcome.err;
  EXPECT_EQ(shiplap("run saxpy:n=1000 --strategy streams --chunks 25 --device virtual:h200").err, "");
}

TEST_F(Cli, more_device_memory_than_exists_is_refused_with_the_numbers_or_run_in_pieces) {
  // The GTX Titan has 6 GiB.
  const std::string job = "plan --in 8GiB --out 8GiB --kernel 1ms --device virtual:gtx-titan-2014";
  expect_refused(shiplap(job + " --strategy explicit"), 1, {"explicit", "16 GiB", "GiB may be used"});
  const Outcome pieces = shiplap(job);
  EXPECT_EQ(pieces.code, 0) << pieces.err;
  EXPECT_NE(pieces.out.find("refused"), std::string::npos);
}

TEST_F(Cli, scale_changes_the_link_of_the_profile_or_of_the_devices_own_profile) {
  const auto predicted = [](const Json& plan) { return plan.at("chosen").at("predicted").at("value").get<double>(); };
  const std::string plan = "plan scalar-add:in=64MiB,out=64MiB --json ";
  const double own = predicted(parsed(shiplap(plan + "--profile h200")));
  const Json of_profile = parsed(shiplap(plan + "--profile h200 --scale link=x8"));
  EXPECT_GT(predicted(of_profile), 1.8 * own) << "half of the lanes";
  EXPECT_EQ(predicted(parsed(shiplap(plan + "--device virtual:h200 --scale link=x8"))), predicted(of_profile));
  EXPECT_EQ(of_profile.at("profile_origin"), "assumed");
  if (parsed(shiplap("devices --json")).at("absent").empty()) GTEST_SKIP() << "the default device is a GPU";
  EXPECT_EQ(predicted(parsed(shiplap(plan + "--scale link=x8"))), predicted(of_profile));
}

TEST_F(Cli, arrays_that_the_host_cannot_hold_are_named_when_planned_and_refused_before_they_are_allocated) {
  // x and y have 4 bytes for each of the items.
  const auto planned = [&](const std::string& node) {
    const Outcome plan = shiplap("plan saxpy:n=10Ti --strategy streams --chunks 2048 --layout three " + node);
    EXPECT_EQ(plan.code, 0) << plan.err;
    std::string text = plan.out;
    std::ranges::replace(text, '\n', ' ');
    return text;
  };
  // A GPU is simulated for a job of another machine: the answer comes first, and then what this host cannot do.
  const std::string here = planned("--device virtual:h200");
  EXPECT_TRUE(here.starts_with("Use streams")) << here;
  for (const char* words : {"needs 80 TiB of host memory", "this host has", "it cannot run", "--profile"})
    EXPECT_NE(here.find(words), std::string::npos) << words << " in: " << here;
  const std::string there = planned("--profile h200");
  EXPECT_LT(there.find("h200 has 125.9 GiB"), there.find("Use streams")) << there;
  EXPECT_EQ(shiplap("plan saxpy:n=1Mi --profile h200").err, "");
  for (const char* command : {"run", "tune"})
    expect_refused(shiplap(std::string(command) + " saxpy:n=10Ti --device virtual:h200"), 1,
                   {"needs 80 TiB of host memory", "this host has", "available", "make the workload smaller"});
  // The arrays alone would fit.
  const std::uint64_t items = available_host_memory().value().size.count / 2 / 8;
  expect_refused(shiplap(fmt::format("run saxpy:n={} --device virtual:h200", items)), 1,
                 {"for the memory of the simulated GPU", "make the workload smaller"});
}

TEST_F(Cli, memory_that_a_strategy_cannot_use_is_refused_with_the_remedy) {
  expect_refused(shiplap("run saxpy:n=1Ki --memory pageable --strategy streams --device virtual:h200"), 1,
                 {"pageable", "--memory pinned"});
}

}  // namespace
}  // namespace shiplap
