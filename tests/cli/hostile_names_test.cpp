// Names in files of others are inert: hostile text in every place of every format that is read, and what every command
// prints and writes of it.
#include "tests/cli/hostile_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "shiplap/report/page/page.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using testing::PlaceOfText;
using testing::places_of_texts;
using testing::planted;

std::vector<Json> documents_in(const std::string& text, bool by_line) {
  if (!by_line) return {Json::parse(text)};
  std::vector<Json> documents;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) documents.push_back(Json::parse(line));
  return documents;
}

class HostileNames : public Cli {
 protected:
  /// A file of a format and the commands that read it, in which FILE, CSV, SVG, PAGE, CODE and JSON are names of files.
  /// The first one says which texts are accepted.
  struct Format {
    std::string name;
    std::string text;
    std::vector<std::string> commands;
    bool by_line = false;
    bool has_free_text = true;  ///< whether any text may be anything
  };

  void write_file(const std::vector<Json>& documents) const {
    std::string text;
    for (const Json& document : documents) text += document.dump() + "\n";
    write("file.json", text);
  }

  /// Runs a command and looks at all that it prints and writes.
  int run_and_scan(const std::string& command, const std::string& where) const {
    std::string filled = command;
    for (const char* name : {"FILE", "CSV", "SVG", "PAGE", "CODE", "JSON", "MARKDOWN"})
      if (const auto at = filled.find(name); at != filled.npos)
        filled.replace(at, std::string(name).size(), "'" + path_of(name).string() + "'");
    const Outcome outcome = shiplap(filled);
    EXPECT_LT(outcome.code, 128) << where << ": " << command;
    EXPECT_EQ(testing::problem_on_terminal(outcome.out), "") << where << ": stdout of " << command;
    EXPECT_EQ(testing::problem_on_terminal(outcome.err), "") << where << ": stderr of " << command;
    EXPECT_EQ(outcome.err.find("json.exception"), std::string::npos) << outcome.err;
    const bool is_json = outcome.code == 0 && command.find("--json") != command.npos;
    EXPECT_FALSE(is_json && Json::parse(outcome.out, nullptr, false).is_discarded()) << where << ": " << command;
    expect_sound("CSV", testing::problem_in_csv, where);
    expect_sound("SVG", testing::problem_in_page, where);
    expect_sound("SVG", testing::problem_on_terminal, where);
    expect_sound("PAGE", testing::problem_in_page, where);
    expect_sound("PAGE", testing::problem_on_terminal, where);
    expect_sound("MARKDOWN", testing::problem_on_terminal, where);
    expect_sound("CODE", testing::problem_in_program, where);
    if (const fs::path json = path_of("JSON"); fs::exists(json)) {
      EXPECT_FALSE(Json::parse(read(json), nullptr, false).is_discarded()) << where;
      fs::remove(json);
    }
    return outcome.code;
  }

  /// Plants hostile text in each place alone, then in all places at once where it was accepted.
  void expect_inert(Format format) const {
    if (!page::has_plots())  // without D3 there are no reports
      std::erase_if(format.commands, [](const std::string& command) { return command.starts_with("report"); });
    if (format.commands.empty()) return;
    const std::vector<Json> sound = documents_in(format.text, format.by_line);
    write_file(sound);
    for (const std::string& command : format.commands)
      EXPECT_THAT(run_and_scan(command, format.name), ::testing::AnyOf(0, 2)) << "the sound file: " << command;
    std::vector<PlaceOfText> accepted;
    for (const PlaceOfText& place : places_of_texts(sound)) {
      write_file(planted(sound, {place}, false));
      if (run_and_scan(format.commands.front(), format.name + " at " + place.path) == 0) accepted.push_back(place);
    }
    EXPECT_EQ(!accepted.empty(), format.has_free_text) << format.name;
    std::erase_if(accepted, [](const PlaceOfText& place) { return place.is_key; });
    for (const bool behind : {false, true}) {
      write_file(planted(sound, accepted, behind));
      for (const std::string& command : format.commands) run_and_scan(command, format.name + " everywhere");
    }
  }

  std::string printed(const std::string& arguments) const {
    const Outcome outcome = shiplap(arguments);
    EXPECT_THAT(outcome.code, ::testing::AnyOf(0, 2)) << arguments << ": " << outcome.err;
    return outcome.out;
  }

 private:
  fs::path path_of(const std::string& name) const { return folder / (name == "FILE" ? "file.json" : name); }
  void expect_sound(const std::string& name, const std::function<std::string(const std::string&)>& problem,
                    const std::string& where) const {
    if (!fs::exists(path_of(name))) return;
    EXPECT_EQ(problem(read(path_of(name))), "") << where << ": " << name;
  }
};

/// With few measurements and conditions, of which each has the same few texts.
std::string short_profile(const std::string& text) {
  Json profile = Json::parse(text);
  Json& conditions = profile["conditions"];
  while (conditions.size() > 3) conditions.erase(conditions.begin());
  if (profile.contains("measurements")) {
    Json& measurements = profile["measurements"];
    while (measurements.size() > 2) measurements.erase(measurements.size() - 1);
  }
  return profile.dump();
}

TEST_F(HostileNames, of_profiles_are_inert) {
  expect_inert(
      {.name = "profile",
       .text = short_profile(printed("profiles show h200 --json")),
       .commands = {"profiles show FILE", "profiles show FILE --json", "check --profile FILE",
                    "check --profile FILE --line", "check --profile FILE --json", "compare h200 FILE",
                    "compare h200 FILE --json", "predict saxpy:n=1Mi --profile FILE",
                    "plan saxpy:n=1Mi --profile FILE --chunks 4", "plan saxpy:n=1Mi --profile FILE --chunks 4 --json",
                    "plan saxpy:n=1Mi --profile FILE --chunks 4 --emit cuda -o CODE --trace JSON",
                    "check --device virtual:FILE --line --prometheus CSV", "report --no-map FILE -o PAGE"}});
}

TEST_F(HostileNames, of_recordings_are_inert) {
  expect_inert({.name = "recording",
                .text = read(SHIPLAP_SOURCE_DIR "/tests/advise/recordings/serial.jsonl"),
                .commands = {"advise FILE --profile h100", "advise FILE --profile h100 --json",
                             "advise FILE --profile h100 --svg SVG --trace JSON", "advise FILE"},
                .by_line = true});
}

TEST_F(HostileNames, of_checks_are_inert) {
  write("expected", "node0\nnode\x1b[2J\u202e\u009b</script>\n");  // words, so that spaces and line breaks end a name
  const std::string expect = " --expect '" + (folder / "expected").string() + "'";
  expect_inert({.name = "check",
                .text = printed("check --profile h200 --json"),
                .commands = {"fleet collect FILE", "fleet collect FILE --json" + expect, "fleet collect FILE" + expect,
                             "report FILE -o PAGE"}});
}

TEST_F(HostileNames, of_the_history_of_a_fleet_are_inert) {
  const fs::path check = write("check.json", printed("check --profile h200 --json"));
  printed("fleet collect '" + check.string() + "' --history '" + (folder / "history").string() + "'");
  expect_inert({.name = "history",
                .text = read(folder / "history"),
                .commands = {"fleet collect '" + check.string() + "' --history FILE"}});
}

TEST_F(HostileNames, of_evaluations_are_inert) {
  expect_inert(
      {.name = "evaluation",
       .text = printed("evaluate --sizes 64KiB --strategies explicit --chunks 1 --max-grid full --no-transfers "
                       "--device virtual:h200 --json"),
       .commands = {"report FILE -o PAGE", "evaluate --again FILE --profile h200",
                    "evaluate --again FILE --profile h200 --json",
                    "evaluate --again FILE --profile h200 --csv CSV --markdown MARKDOWN"}});
}

TEST_F(HostileNames, of_logs_of_adaptation_are_inert) {
  printed("run histogram:frames=32,width=176,height=144 --adaptive --frames 320 --device virtual:h200 --log '" +
          (folder / "log").string() + "'");
  expect_inert({.name = "log",
                .text = read(folder / "log"),
                .commands = {"replay FILE", "replay FILE --json", "report FILE -o PAGE"},
                .by_line = true});
}

TEST_F(HostileNames, of_what_reports_are_made_of_are_inert) {
  const fs::path check = write("check.json", printed("check --profile h200 --json"));
  for (const auto& [name, command] :
       {std::pair<std::string, std::string>{"fleet", "fleet collect --json '" + check.string() + "'"},
        {"adaptive", "run saxpy:n=64Ki --adaptive --frames 320Ki --device virtual:h200 --json"},
        {"plan", "plan saxpy:n=1Mi --profile h200 --chunks 4 --json"},
        {"scaling", "plan saxpy:n=1Mi --profile h200 --nodes 4 --json"},
        {"run", "run saxpy:n=64Ki --device virtual:h200 --chunks 2 --strategy streams --gantt --json"},
        {"comparison", "compare h200 h200 --json"},
        {"advice", "advise '" SHIPLAP_SOURCE_DIR "/tests/advise/recordings/serial.jsonl' --profile h100 --json"}})
    expect_inert({.name = name, .text = printed(command), .commands = {"report --no-map FILE -o PAGE"}});
}

TEST_F(HostileNames, of_reproductions_are_inert) {
  expect_inert({.name = "reproduction",
                .text = R"({"schema": "shiplap/reproduction", "version": 3, "paper": "paper", "device": "cuda:0",
                            "device_name": "GPU", "simulated": true, "quick": true, "conditions": {"host": "node"},
                            "profile": "h200", "profile_hash": "0123456789abcdef",
                            "steps": {"one": {"seconds": 1, "figures": [
                                {"id": "table1", "where": "Table 1", "title": "times", "note": "",
                                 "columns": [{"name": "time", "unit": "ms"}], "rows": [[1], ["none"]]}]}},
                            "claims": [{"id": "fig5", "where": "Fig. 5", "text": "It is fast.", "verdict": "holds",
                                        "findings": [{"step": "one", "verdict": "holds", "observed": "1 ms",
                                                      "why": "new"}]}],
                            "plots": [{"kind": "plot", "title": "times", "diagonal": false,
                                       "x": {"label": "streams", "unit": "", "log": true},
                                       "y": {"label": "time", "unit": "s", "log": false},
                                       "series": [{"name": "here", "line": true, "x": [1], "y": [2],
                                                   "labels": ["point"]}],
                                       "limits": [{"name": "link", "y": 1}]}]})",
                .commands = {"report FILE -o PAGE"}});
}

TEST_F(HostileNames, of_files_of_workloads_and_kernels_are_inert) {
  expect_inert({.name = "workload",
                .text = R"({"schema": "shiplap/workload", "version": 1, "in": "1MiB", "out": "1MiB", "kernel": "1ms"})",
                .commands = {"plan FILE --profile h200 --chunks 2"},
                .has_free_text = false});
  expect_inert({.name = "named workload",
                .text = R"({"schema": "shiplap/workload", "version": 1, "workload": "saxpy:n=64Ki"})",
                .commands = {"plan FILE --profile h200 --chunks 2"},
                .has_free_text = false});
}

TEST_F(HostileNames, on_the_command_line_are_inert) {
  const std::string name = write("hostile", testing::hostile()).string();
  const std::string word = " \"$(cat '" + name + "')\"";
  for (const std::string command : {"",
                                    "plan",
                                    "plan saxpy:n=1Mi --profile",
                                    "plan saxpy:n=1Mi --device",
                                    "plan saxpy:n=1Mi --chunks",
                                    "plan saxpy:n=1Mi --strategy",
                                    "plan saxpy:n=1Mi --layout",
                                    "plan saxpy:n=1Mi --ramp",
                                    "plan --in",
                                    "run",
                                    "plan saxpy:n=1Mi --profile h200 --scale",
                                    "run --kernel",
                                    "check --exit-codes",
                                    "check --budget",
                                    "measure --device virtual:h200 --quick --only",
                                    "profiles show",
                                    "compare h200",
                                    "replay",
                                    "advise",
                                    "report -o",
                                    "report",
                                    "fleet collect",
                                    "fleet",
                                    "evaluate --again",
                                    "reproduce",
                                    "plan saxpy:n=1Mi --unknown",
                                    "movers --profile",
                                    "tune",
                                    "plan saxpy:n=1Mi --kernel-profile",
                                    "plan saxpy:n=1Mi --profile h200 --trace"}) {
    const Outcome outcome = shiplap(command + word);
    EXPECT_NE(outcome.code, 0) << command;
    EXPECT_EQ(testing::problem_on_terminal(outcome.out + outcome.err), "") << command;
  }
}

TEST_F(HostileNames, of_files_are_inert) {
  std::string hostile_name = testing::hostile();
  std::ranges::replace(hostile_name, '/', '_');
  fs::create_directory(folder / "fleet");
  write("fleet/" + hostile_name + ".json", "{");
  write("fleet/sound.json", printed("check --profile h200 --json"));
  for (const char* json : {"", " --json"}) {
    const Outcome outcome = shiplap("fleet collect '" + (folder / "fleet").string() + "'" + json);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("onload"), std::string::npos) << "the file is named";
    EXPECT_EQ(testing::problem_on_terminal(outcome.out + outcome.err), "");
  }
  fs::create_directories(folder / "cache" / "shiplap");
  for (const std::string& text : {std::string("{"), printed("profiles show h200 --json")}) {
    write("cache/shiplap/" + hostile_name + ".json", text);
    for (const char* command : {"profiles", "profiles --json"}) {
      const Outcome outcome = shiplap(command);
      EXPECT_EQ(testing::problem_on_terminal(outcome.out + outcome.err), "") << command << ": " << text.substr(0, 9);
    }
  }
}

TEST_F(HostileNames, that_are_paths_are_not_opened) {
  const fs::path planted_file = write("planted.json", short_profile(printed("profiles show h100 --json")));
  const std::string path = planted_file.filename().string();
  const auto opens = [&](const std::string& arguments) {
    const Outcome traced =
        run("/bin/sh", "-c \"cd '" + folder.string() + "' && '" SHIPLAP_PROGRAM "' " + arguments + "\"");
    return traced.out + traced.err;
  };
  Json plan = Json::parse(printed("plan saxpy:n=1Mi --profile h200 --chunks 4 --json"));
  plan["profile"] = path;
  write("plan.json", plan.dump());
  if (page::has_plots()) {
    opens("report plan.json -o page.html");
    EXPECT_EQ(read(folder / "page.html").find("H100"), std::string::npos) << "the file that the plan names was read";
  }
  write("workload.json", R"({"schema": "shiplap/workload", "version": 1, "workload": "saxpy:n=64Ki"})");
  Json evaluation = Json::parse(
      printed("evaluate --sizes 64KiB --strategies explicit --chunks 1 --max-grid full --device virtual:h200 "
              "--no-transfers --json"));
  for (Json& workload : evaluation["workloads"]) workload["workload"] = "workload.json";
  write("evaluation.json", evaluation.dump());
  EXPECT_NE(opens("evaluate --again evaluation.json --profile h200").find("not built in"), std::string::npos);
}

}  // namespace
}  // namespace shiplap
