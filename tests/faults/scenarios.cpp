#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "tests/faults/scenario.hpp"

namespace shiplap::faults {
namespace {

namespace fs = std::filesystem;

const fs::path sources = SHIPLAP_SOURCE_DIR;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  if (!(std::ofstream(file, std::ios::binary) << text)) throw std::runtime_error(file.string());
}

nlohmann::json json_of(const fs::path& file) { return nlohmann::json::parse(std::ifstream(file)); }

/// A profile without its samples, so that it is read quickly.
std::string node_profile() {
  nlohmann::json profile = json_of(sources / "profiles/h200.json");
  profile["measurements"] = nlohmann::json::array();
  return profile.dump();
}

void node(const fs::path& folder) { write(folder / "node.json", node_profile()); }

void old_outputs(const fs::path& folder) {
  node(folder);
  for (const char* name : {"out.json", "out.csv", "out.md", "out.cu", "out.svg", "out.html"})
    write(folder / name, "what was here before\n");
}

void copy_of(const fs::path& file, const fs::path& to) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  write(to, text.str());
}

void recording(const fs::path& folder) {
  old_outputs(folder);
  copy_of(sources / "tests/advise/recordings/serial.jsonl", folder / "serial.jsonl");
}

/// Checks of three nodes, as `shiplap check --json` prints them.
void fleet(const fs::path& folder) {
  for (const char* name : {"n0", "n1", "n2"}) {
    nlohmann::json check = json_of(sources / "tests/faults/check.json");
    check["node"] = name;
    write(folder / "checks" / (std::string(name) + ".json"), check.dump());
  }
}

void library_files(const fs::path& folder) {
  node(folder);
  copy_of(sources / "tests/faults/check.json", folder / "check.json");
  fs::create_directory(folder / "shared");
}

Scenario program(std::string name, std::vector<std::string> words, decltype(Scenario::prepare) prepare,
                 std::string varies = "$^") {
  return {.name = std::move(name),
          .program = SHIPLAP_PROGRAM,
          .words = std::move(words),
          .prepare = std::move(prepare),
          .varies = std::move(varies)};
}

Scenario library(std::string name) {
  return {.name = "library_" + name,
          .program = SHIPLAP_FAULTS_USES,
          .words = {name},
          .prepare = library_files,
          .begins = true};
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::vector<std::string> on_old_gpu{"--kernel", "1ms", "--device", "virtual:gtx-titan-2014"};
const std::vector<std::string> on_node{"--device", "virtual:node.json"};
const std::vector<std::string> few_choices{"--strategy", "streams", "--chunks", "4",      "--layout",
                                           "three",      "--order", "depth",    "--ramp", "none"};

Scenario adaptive() {
  Scenario scenario = program(
      "adaptive", with({"run", "saxpy:n=64", "--adaptive", "--frames", "256", "--log", "out.json"}, on_old_gpu), node);
  scenario.grows = "out.json";
  return scenario;
}

Scenario tune() {
  Scenario scenario = program("tune", with({"tune", "saxpy:n=64", "--race", "1us"}, on_old_gpu), node,
                              R"(preparation [0-9.]+ .*s|"took": \{[^}]*\})");
  scenario.tolerated = {{"the winner is not kept", "the cache of races is a convenience"}};
  return scenario;
}

Scenario measure() {
  Scenario scenario = program("measure",
                              with({"measure", "--quick", "--only", "copy.pinned.h2d", "--largest", "64KiB", "-o",
                                    "out.json", "--csv", "out.csv"},
                                   on_node),
                              old_outputs);
  scenario.goes_on = "out.json.partial";
  return scenario;
}

Scenario evaluate() {
  Scenario scenario =
      program("evaluate",
              with({"evaluate", "saxpy",   "--sizes",    "16KiB", "--strategies",  "streams", "--layouts", "three",
                    "--chunks", "4",       "--repeat",   "1",     "--duel-repeat", "1",       "-o",        "out.json",
                    "--csv",    "out.csv", "--markdown", "out.md"},
                   on_node),
              old_outputs);
  scenario.tolerated = {{"no host memory for", "a choice that finds no memory is listed as skipped, with this reason"}};
  return scenario;
}

Scenario fleet_collect() {
  Scenario scenario = program("fleet_collect", {"fleet", "collect", "checks", "--history", "history.json"}, fleet);
  scenario.tolerated = {{"not done (", "checks that cannot be read are reported, and the rest is judged"}};
  return scenario;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      program("devices", {"devices"}, node),
      program("profiles", {"profiles"}, node),
      program("profiles_show", {"profiles", "show", "node.json"}, node),
      program("plan", with(with({"plan", "--in", "1MiB", "--out", "1MiB"}, on_old_gpu), few_choices), node),
      program("plan_json", with(with({"plan", "saxpy:n=4Ki", "--json"}, on_old_gpu), few_choices), node),
      program("emit", with(with({"plan", "saxpy:n=4Ki", "--emit", "cuda", "-o", "out.cu"}, on_old_gpu), few_choices),
              old_outputs),
      program("run",
              with(with({"run", "saxpy:n=4Ki", "--trace", "out.json", "--svg", "out.svg"}, on_old_gpu), few_choices),
              old_outputs),
      program("run_staged",
              with({"run", "saxpy:n=4Ki", "--memory", "pageable", "--strategy", "staged", "--chunks", "4", "--threads",
                    "2"},
                   on_node),
              node),
      program("run_pageable", with({"run", "saxpy:n=4Ki", "--memory", "pageable", "--strategy", "pageable"}, on_node),
              node),
      adaptive(),
      tune(),
      measure(),
      evaluate(),
      program("advise",
              {"advise", "serial.jsonl", "--profile", "gtx-titan-2014", "--svg", "out.svg", "--trace", "out.json"},
              recording),
      program("report", {"report", "node.json", "--no-map", "-o", "out.html"}, old_outputs, "nonce.[^ >;]*"),
      program("check", with({"check"}, on_node), node),
      program("check_budget", with({"check", "--budget", "100s"}, on_node), node),
      fleet_collect(),
      program("fleet_check", with({"fleet", "check", "--node", "n0", "--budget", "100s"}, on_node), node),
      library("plan"),
      library("run"),
      library("run_staged"),
      library("run_async"),
      library("race"),
      library("adaptive"),
      library("strategy_map"),
      library("parallel"),
      library("fleet"),
  };
  return all;
}

}  // namespace shiplap::faults
