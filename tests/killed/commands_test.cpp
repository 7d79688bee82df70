// Commands that write files, killed at many moments.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/killed/scenario.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

/// A hundred moments in all. Commands that go on where they were interrupted have more, slow ones fewer.
constexpr std::size_t moments_of_measure = 34;
constexpr std::size_t moments_of_evaluate = 12;
constexpr std::size_t moments_of_reproduce = 20;
constexpr std::size_t moments_of_tune = 4;
constexpr std::size_t moments_of_others = 7;

Json json_in(const fs::path& file) { return read_json_file(file.string()); }

/// Points and samples; a measurement also records the state of the node.
Json measurements_in(const fs::path& folder) {
  Json rows = Json::array();
  const Json profile = json_in(folder / "node.json");
  for (const Json& row : profile.at("measurements"))
    rows.push_back({row.at("primitive"), row.at("arguments"), row.at("samples_us")});
  return {rows, read_text_file((folder / "node.csv").string()).size() > 0};
}

/// All but the time that steps took.
Json reproduction_in(const fs::path& folder) {
  Json json = json_in(folder / "papers" / "commscope2019.json");
  for (auto& [id, step] : json["steps"].items()) step.erase("seconds");
  return json;
}

TEST(Killed, measure_keeps_what_it_has_and_resumes_to_the_same_rows) {
  const std::vector<std::string> command{"measure",      "--quick", "--only",    "launch.*", "--device",
                                         "virtual:h200", "-o",      "node.json", "--csv",    "node.csv"};
  std::vector<std::string> resume = command;
  resume.emplace_back("--resume");
  expect_to_survive_kills({.command = command, .resume = resume, .result = measurements_in}, moments_of_measure);
}

TEST(Killed, evaluate_keeps_what_it_has_and_resumes_to_the_same_evaluation) {
  const std::vector<std::string> command{"evaluate",   "saxpy:n=1024", "scalar-add:in=4KiB,out=4KiB",
                                         "--device",   "virtual:h200", "--strategies",
                                         "streams",    "--chunks",     "1,2",
                                         "--layouts",  "three",        "-o",
                                         "e.json",     "--csv",        "e.csv",
                                         "--markdown", "e.md"};
  std::vector<std::string> resume = command;
  resume.emplace_back("--resume");
  const auto result = [](const fs::path& folder) {
    return Json{json_in(folder / "e.json"), read_text_file((folder / "e.csv").string()),
                read_text_file((folder / "e.md").string())};
  };
  expect_to_survive_kills({.command = command, .resume = resume, .result = result}, moments_of_evaluate);
}

TEST(Killed, reproduce_keeps_its_steps_and_goes_on_to_the_same_findings) {
  expect_to_survive_kills(
      {.command = {"reproduce", "commscope2019", "--quick", "--device", "virtual:h200", "-o", "papers"},
       .result = reproduction_in},
      moments_of_reproduce);
}

TEST(Killed, tune_leaves_its_cache_and_its_kernel_profile_whole) {
  const auto result = [](const fs::path& folder) {
    Json winners = Json::array();
    for (const auto& file : fs::directory_iterator(folder.parent_path() / "cache" / "shiplap" / "races"))
      if (file.path().extension() == ".json") {
        const Json kept = json_in(file);
        for (const Json& entry : kept.at("races")) winners.push_back(entry.at("size"));
      }
    return Json{winners, json_in(folder / "kernel.json")};
  };
  expect_to_survive_kills(
      {.command = {"tune", "saxpy:n=4096", "--device", "virtual:h200", "--race", "1ms", "--write-kernel",
                   "kernel.json"},
       .prepare = [](const fs::path& folder) { std::ofstream(folder / "kernel.json") << R"({"old": true})"; },
       .result = result},
      moments_of_tune);
}

TEST(Killed, fleet_check_leaves_its_history_whole) {
  const auto result = [](const fs::path& folder) {
    Json known = Json::object();
    const Json history = json_in(folder / "history.json");
    for (const auto& [gpu, figures] : history.at("gpus").items())
      for (const auto& [figure, values] : figures.items()) known[gpu].push_back(figure);
    return known;
  };
  expect_to_survive_kills(
      {.command = {"fleet", "check", "--device", "virtual:h200", "--node", "n0", "--history", "history.json"},
       .result = result},
      moments_of_others);
}

TEST(Killed, an_adaptive_run_leaves_the_old_log_or_a_log_that_can_be_replayed) {
  const auto result = [](const fs::path& folder) {
    std::ifstream log(folder / "log.jsonl");
    Json choices = Json::array();
    for (std::string line; std::getline(log, line);)
      if (const Json value = Json::parse(line); value.contains("batch")) choices.push_back(value.at("batch"));
    return choices;
  };
  expect_to_survive_kills(
      {.command = {"run", "saxpy:n=4096", "--device", "virtual:h200", "--adaptive", "--frames", "204800", "--log",
                   "log.jsonl"},
       .prepare = [](const fs::path& folder) { std::ofstream(folder / "log.jsonl") << "{\"old\": true}\n"; },
       .result = result},
      moments_of_others);
}

TEST(Killed, advise_leaves_its_pictures_whole) {
  const std::string recording = SHIPLAP_SOURCE_DIR "/tests/advise/recordings/serial.jsonl";
  const auto result = [](const fs::path& folder) {
    return Json{read_text_file((folder / "advice.svg").string()), json_in(folder / "advice.json")};
  };
  expect_to_survive_kills(
      {.command = {"advise", "--profile", "h100", "--svg", "advice.svg", "--trace", "advice.json", recording},
       .prepare = [](const fs::path& folder) { std::ofstream(folder / "advice.svg") << "<svg></svg>"; },
       .result = result},
      moments_of_others);
}

TEST(Killed, report_leaves_the_old_page_or_the_new_one) {
  const std::string profile = SHIPLAP_SOURCE_DIR "/profiles/gtx-titan-2014.json";
  const auto result = [](const fs::path& folder) {
    return Json(read_text_file((folder / "page.html").string()).size());
  };
  expect_to_survive_kills(
      {.command = {"report", profile, "--no-map", "-o", "page.html"},
       .prepare = [](const fs::path& folder) { std::ofstream(folder / "page.html") << "<html></html>"; },
       .result = result},
      moments_of_others);
}

}  // namespace
}  // namespace shiplap
