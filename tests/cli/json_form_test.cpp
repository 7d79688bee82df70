// Every JSON that the program prints has one form for a quantity: {"value", "low", "high", "unit"}.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

const std::set<std::string> keys_of_quantities{"value", "low", "high", "values", "unit"};

bool is_quantity(const Json& json) { return json.is_object() && json.contains("unit"); }

bool names_a_unit(const std::string& key) {
  return std::ranges::any_of(std::vector<std::string>{"_ms", "_us", "_ns", "_ps", "_s", "_bytes", "_gbps", "_kib"},
                             [&](const std::string& unit) { return key.ends_with(unit); });
}

/// What is wrong with a value that has a unit, or "".
std::string problem_of(const Json& quantity) {
  for (const auto& [key, value] : quantity.items())
    if (!keys_of_quantities.contains(key)) return "has a key " + key;
  if (!quantity.at("unit").is_string()) return "has a unit that is no text";
  if (quantity.contains("values")) return quantity.at("values").is_array() ? "" : "has values that are no list";
  if (!quantity.contains("value") || !quantity.at("value").is_number()) return "has no number as its value";
  if (quantity.contains("low") != quantity.contains("high")) return "has one end of an interval only";
  return "";
}

/// Walks one document. Collects the keys under which quantities stand, and the keys under which texts stand.
class FormCheck {
 public:
  explicit FormCheck(std::string command) : command_(std::move(command)) {}

  void walk(const Json& json, const std::string& path, const std::string& key) {
    if (is_quantity(json)) {
      EXPECT_EQ(problem_of(json), "") << command_ << ": " << path;
      quantities.insert(key);
      return;
    }
    if (json.is_string()) texts.insert(key);
    if (json.is_object()) {
      EXPECT_FALSE(json.contains("value")) << command_ << ": " << path << " has a value without a unit";
      for (const auto& [name, value] : json.items()) {
        EXPECT_FALSE(names_a_unit(name)) << command_ << ": " << path << "." << name;
        walk(value, path + "." + name, name);
      }
    }
    if (json.is_array())
      for (std::size_t i = 0; i < json.size(); ++i) walk(json[i], path + "[" + std::to_string(i) + "]", key);
  }

  std::set<std::string> quantities;
  std::set<std::string> texts;

 private:
  std::string command_;
};

/// Checks one document, whose quantities are expected among others under `expected`.
void expect_one_form(const std::string& command, const Json& json, const std::set<std::string>& expected) {
  FormCheck check(command);
  check.walk(json, "", "");
  for (const std::string& key : expected) EXPECT_TRUE(check.quantities.contains(key)) << command << ": " << key;
  for (const std::string& key : check.quantities)
    EXPECT_FALSE(check.texts.contains(key)) << command << ": " << key << " is a quantity and a text";
}

TEST_F(Cli, json_has_one_form_for_a_quantity_in_all_that_the_program_prints) {
  const auto expect = [&](const std::string& command, const std::set<std::string>& expected) {
    expect_one_form(command, parsed(shiplap(command + " --json")), expected);
  };
  const std::string virtual_gpu = " --device virtual:h200";
  expect("devices", {"memory", "free_memory", "l2_cache"});
  expect("profiles", {});
  expect("plan saxpy:n=1Mi --profile h200", {"predicted", "bound", "closed_form", "gap", "pinning"});
  expect("plan saxpy:n=1Mi --profile h200 --memory pageable --reuse 1000", {"setup_time", "total_time", "predicted"});
  expect("plan saxpy:n=64Mi --profile h200 --chunks 8 --ramp 0.5:1:1.1", {"predicted"});
  expect("predict saxpy:n=1Mi --profile h200", {"predicted", "time", "kernel"});
  expect("run saxpy:n=64Ki --gantt" + virtual_gpu, {"observed", "samples", "submission", "start", "end"});
  expect("run saxpy:n=64Ki --race 5ms" + virtual_gpu, {"ran", "took", "samples"});
  expect("tune saxpy:n=64Ki --race 5ms" + virtual_gpu, {"predicted", "ran", "took", "samples"});
  expect("check" + virtual_gpu, {"measured", "limit"});
  expect("evaluate --sizes 64KiB --chunks 1,2 --max-grid full" + virtual_gpu,
         {"predicted", "observed", "samples", "simulation", "loggp", "size"});
  expect("evaluate --random 1 --seed 5 --race 5ms" + virtual_gpu, {"predicted", "observed", "probe_took"});
  const std::string log = (folder / "log").string();
  expect(
      "run histogram:frames=32,width=176,height=144 --adaptive --frames 640 --vary 1,20:5 --log " + log + virtual_gpu,
      {"elapsed", "rate", "predicted_period"});
  expect("replay " + log, {});
  std::istringstream lines(read(log));
  for (std::string line; std::getline(lines, line);) expect_one_form("the log of an adaptation", Json::parse(line), {});
}

TEST_F(Cli, json_of_a_comparison_has_one_form_for_a_quantity) {
  const std::string before = write("before.json", shiplap("profiles show h200 --json").out).string();
  expect_one_form("compare", parsed(shiplap("compare " + before + " " + before + " --json")),
                  {"baseline", "now", "slower"});
}

TEST_F(Cli, json_of_movers_has_one_form_for_a_quantity) {
  const std::string file = (folder / "planted.json").string();
  save_profile(planted_profile(), file);
  expect_one_form("movers", parsed(shiplap("movers --json --max-slowdown 5% --memory-bound 1 --profile " + file)),
                  {"block", "time", "rate", "call", "slowdown", "max_slowdown", "memory_bound", "thread_block"});
}

}  // namespace
}  // namespace shiplap
