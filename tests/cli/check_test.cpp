// shiplap check as schedulers and monitors call it: time limits, exit codes, lines, metrics, and no place to write.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <set>
#include <thread>

#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/prometheus_text.hpp"

namespace shiplap {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CliCheck : public Cli {
 protected:
  /// The h200 with a change of its conditions.
  std::string profile_with(const std::string& condition, const std::string& value) const {
    Json profile = Json::parse(shiplap("profiles show h200 --json").out);
    profile["conditions"][condition] = value;
    return write("node.json", profile.dump()).string();
  }
  /// A node whose link gives half of what such a card could use.
  std::string bad_node() const { return profile_with("gpu.link", "32.0 GT/s PCIe x32"); }
  /// A node whose arithmetic is slower than that of such nodes, but not broken.
  std::string low_node() const {
    Json profile = Json::parse(shiplap("profiles show h200 --json").out);
    Json& rate = profile["gpus"][0]["flop_rate"];
    for (const char* key : {"value", "low", "high"}) rate[key] = 0.84 * rate.at(key).get<double>();
    return write("low.json", profile.dump()).string();
  }
  /// Reading from here hangs for ever, as a call into a broken driver does.
  std::string hanging() const {
    const std::string path = (folder / "pipe").string();
    mkfifo(path.c_str(), 0600);
    return path;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) names.insert(entry.path().filename());
    names.erase("stderr");
    return names;
  }
};

TEST_F(CliCheck, has_the_exit_codes_of_whoever_calls_it) {
  const std::string bad = bad_node();
  const std::string low = low_node();
  struct Case {
    std::string arguments;
    int shiplap, nagios, nvsentinel;
  };
  for (const Case& c : std::initializer_list<Case>{{"--profile h200", 0, 0, 0},
                                                   {"--profile " + low, 0, 1, 0},
                                                   {"--profile " + bad, 2, 2, 1},
                                                   {"--profile no-such-profile", 64, 3, 2},
                                                   {"--device cuda:99", 1, 3, 2},
                                                   {"--no-such-option", 64, 3, 2},
                                                   {"--profile h200 --retries -1", 64, 3, 2},
                                                   {"--profile h200 --budget soon", 64, 3, 2},
                                                   {"--profile h200 --budget 0s", 64, 3, 2}}) {
    for (const auto& [scheme, code] :
         {std::pair{"shiplap", c.shiplap}, {"nagios", c.nagios}, {"nvsentinel", c.nvsentinel}}) {
      EXPECT_EQ(shiplap("check --exit-codes " + std::string(scheme) + " " + c.arguments).code, code)
          << scheme << " " << c.arguments;
      EXPECT_EQ(shiplap("check " + c.arguments + " --line --exit-codes=" + scheme).code, code)
          << scheme << " --line " << c.arguments;
    }
    EXPECT_EQ(shiplap("check " + c.arguments).code, c.shiplap);
  }
  expect_refused(shiplap("check --profile h200 --exit-codes icinga"), 64, {"icinga", "shiplap, nagios, nvsentinel"});
}

TEST_F(CliCheck, ends_within_its_budget_even_when_a_call_hangs_and_calls_no_node_bad) {
  const std::string pipe = hanging();
  for (const auto& [scheme, code] : {std::pair{"shiplap", 1}, {"nagios", 3}, {"nvsentinel", 2}}) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = shiplap("check --budget 1s --profile " + pipe + " --exit-codes " + scheme);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1500ms) << "starting the shell takes some time too";
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("nothing answered within the budget (while reading profile " + pipe));
    EXPECT_THAT(outcome.err, HasSubstr("--budget"));
  }
  const Outcome line = shiplap("check --line --budget 300ms --profile " + pipe);
  EXPECT_EQ(line.code, 1);
  EXPECT_THAT(line.out, StartsWith("UNKNOWN "));
  EXPECT_THAT(line.out, HasSubstr("nothing answered within the budget"));
  EXPECT_EQ(std::count(line.out.begin(), line.out.end(), '\n'), 1);
}

TEST_F(CliCheck, prints_the_same_with_a_budget_as_without_one) {
  for (const std::string arguments : {"--profile h200", "--profile h200 --json", "--profile h200 --line",
                                      "--device virtual:h200", "--profile no-such-profile"}) {
    const Outcome with = shiplap("check --budget 60s " + arguments);
    const Outcome without = shiplap("check " + arguments);
    EXPECT_EQ(with.out, without.out) << arguments;
    EXPECT_EQ(with.err, without.err) << arguments;
    EXPECT_EQ(with.code, without.code) << arguments;
  }
}

TEST_F(CliCheck, prints_one_line_that_begins_with_the_verdict) {
  for (const auto& [arguments, word] : {std::pair{std::string("--profile h200"), "OK "},
                                        {"--profile " + low_node(), "LOW "},
                                        {"--profile " + bad_node(), "BAD "},
                                        {"--device cuda:99", "UNKNOWN "}}) {
    const Outcome outcome = shiplap("check --line " + arguments);
    EXPECT_THAT(outcome.out, StartsWith(word));
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
    EXPECT_LT(outcome.out.size(), 400u);
    EXPECT_EQ(outcome.err, "") << "everything is in the line";
  }
  EXPECT_THAT(shiplap("check --line --profile " + bad_node()).out, HasSubstr("copies to the GPU 55.46 GB/s, 44.0 %"));
  EXPECT_EQ(shiplap("check --line --json --profile h200").code, 64);
}

TEST_F(CliCheck, gives_one_verdict_in_every_form_and_none_on_figures_that_no_gpu_was_measured_for) {
  Json simulated = parsed(shiplap("profiles show h200 --json"));
  simulated["origin"] = "simulated";
  const std::string file = write("simulated.json", simulated.dump());
  const std::string metrics = (folder / "shiplap.prom").string();
  for (const std::string& profile : {file, std::string("gtx-titan-2014"), std::string("gh200-2025-258389")}) {
    const Outcome text = shiplap("check --profile " + profile);
    const Outcome line = shiplap("check --line --prometheus " + metrics + " --profile " + profile);
    const Outcome json = shiplap("check --json --profile " + profile);
    EXPECT_THAT(text.out, StartsWith("UNKNOWN ")) << profile;
    EXPECT_THAT(line.out, StartsWith("UNKNOWN ")) << profile;
    EXPECT_EQ(Json::parse(json.out).at("verdict"), "unknown") << profile;
    EXPECT_EQ(PrometheusText(read(metrics)).value("shiplap_check_verdict", {{"verdict", "unknown"}}), 1) << profile;
    for (const Outcome& outcome : {text, line, json}) EXPECT_EQ(outcome.code, 1) << profile;
  }
}

TEST_F(CliCheck, writes_metrics_of_what_was_found_and_of_what_could_not_be_done) {
  const std::string file = (folder / "shiplap.prom").string();
  const auto verdict = [&](const std::string& arguments) {
    shiplap("check --prometheus " + file + " " + arguments);
    const PrometheusText text(read(file));
    EXPECT_THAT(text.problems(), IsEmpty());
    for (const char* name : {"good", "low", "bad", "busy", "unknown"})
      if (text.value("shiplap_check_verdict", {{"verdict", name}}) == 1) return std::string(name);
    return std::string("none");
  };
  EXPECT_EQ(verdict("--profile h200"), "good");
  EXPECT_EQ(verdict("--profile " + bad_node() + " --line"), "bad");
  EXPECT_EQ(verdict("--device cuda:99"), "unknown");
  EXPECT_EQ(verdict("--profile h200 --json --budget 30s"), "good");
  EXPECT_EQ(verdict("--profile " + hanging() + " --budget 300ms"), "unknown");
  EXPECT_NEAR(PrometheusText(read(file)).value("shiplap_check_timestamp_seconds", {}).value(),
              static_cast<double>(std::time(nullptr)), 60);
  EXPECT_EQ(files(), (std::set<std::string>{"node.json", "pipe", "shiplap.prom"})) << "no temporary file is left";
  expect_refused(shiplap("check --profile h200 --prometheus " + (folder / "none/x.prom").string()), 1,
                 {"--prometheus", "there is no directory"});
}

TEST_F(CliCheck, prints_json_as_its_schema_says) {
  const JsonSchema schema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/check.schema.json")));
  for (const std::string& arguments : {std::string("--profile h200"), "--profile " + bad_node(),
                                       std::string("--profile gtx-titan-2014"), std::string("--device virtual:h200")}) {
    const Json json = Json::parse(shiplap("check --json " + arguments).out);
    EXPECT_EQ(schema.problems(json), std::vector<std::string>{}) << arguments;
    EXPECT_EQ(json.at("attempts"), 0) << "nothing was measured";
  }
}

TEST_F(CliCheck, needs_no_home_no_temporary_folder_and_no_cache) {
  const std::string before = SHIPLAP_PROGRAM;
  const fs::path script = write("run.sh",
                                "#!/bin/sh\ncd / && HOME=/nonexistent TMPDIR=/nonexistent "
                                "XDG_CACHE_HOME=/nonexistent exec '" +
                                    before + "' \"$@\"\n");
  fs::permissions(script, fs::perms::owner_all);
  for (const char* arguments : {"check --device virtual:h200 --budget 30s", "check --profile h200 --line"}) {
    const Outcome outcome = run(script, arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(files(), std::set<std::string>{"run.sh"});
}

TEST_F(CliCheck, of_a_device_with_several_gpus_says_which_of_them_is_judged) {
  const Outcome outcome = shiplap("check --device virtual:h200:3 --line");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("the first of the 3 GPUs"));
}

TEST_F(CliCheck, leaves_no_process_behind_when_it_is_killed) {
  const std::string pipe = hanging();
  const pid_t parent = fork();
  if (parent == 0) {
    execl(SHIPLAP_PROGRAM, "shiplap", "check", "--budget", "60s", "--profile", pipe.c_str(), nullptr);
    _exit(127);
  }
  const std::string children = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  pid_t child = 0;
  for (int look = 0; child == 0 && look < 500; ++look) {
    std::this_thread::sleep_for(10ms);
    std::istringstream(read(children)) >> child;
  }
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  if (child == 0) GTEST_SKIP() << "the system does not list the children of a process";
  const auto is_alive = [&] {
    const std::string stat = read("/proc/" + std::to_string(child) + "/stat");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  };
  for (int look = 0; is_alive() && look < 500; ++look) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(is_alive());
  EXPECT_EQ(files(), std::set<std::string>{"pipe"});
}

}  // namespace
}  // namespace shiplap
