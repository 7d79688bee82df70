// What every command says first, and how much of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "shiplap/document/table.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::MatchesRegex;

/// A command, what its first line says, and the most lines that it prints.
struct Said {
  const char* command;
  const char* first_line;
  std::size_t most_lines = 25;
};

const std::vector<Said>& said_by_commands() {
  static const std::vector<Said> all{
      {"plan saxpy:n=16Mi --profile h200", "Use [a-z-]+.*: [0-9.]+ ± [0-9.]+ ms predicted.*"},
      {"plan saxpy:n=16Mi --profile h200 --memory pageable", "Use [a-z-]+.*: [0-9.]+ ± [0-9.]+ ms predicted.*"},
      {"plan saxpy:n=16Mi --profile h200 --memory pageable --reuse 1000",
       "Pin the arrays and use [a-z-]+.*: [0-9.]+ ± [0-9.]+ ms predicted.*"},
      {"plan saxpy:n=16Mi --device virtual:h200", "Use [a-z-]+.*: [0-9.]+ ± [0-9.]+ ms predicted .simulated h200.*"},
      {"run saxpy:n=1Mi --device virtual:h200", "VERIFIED [0-9.]+ µs .simulated., [0-9.]+ times ideal overlap.*"},
      {"check --profile h200", "GOOD profile h200: 11 of 11 figures good. Copies to the GPU: 55.46 GB/s.*"},
      {"compare h200 h200", "NOT DEGRADED: 0 of [0-9]+ figures slower, 0 faster.*"},
      {"demo saxpy:n=64Ki --device virtual:h200", "saxpy:n=65536: shiplap is [0-9.]+ times as fast as plain copies.*"},
      {"movers --profile h100", "1,024 blocks to the GPU: kernel of 4 to 8 blocks up to [0-9]+ KiB.*", 23},
      {"predict saxpy:n=1Mi --profile h200", "[0-9.]+ ± [0-9.]+ µs by implicit.*"},
      {"tune saxpy:n=64Ki --device virtual:h200", ".* won a simulated race of [0-9]+.*"},
      {"evaluate saxpy:n=64Ki --device virtual:h200 --no-transfers --chunks 1,4",
       "Predictions on NVIDIA H200 .simulated, not observed.: median error [0-9.]+ %.*"},
      {"measure --quick --only copy.pinned.h2d --device virtual:h200",
       "copy.pinned.h2d, [0-9]+ points: [0-9.]+ µs to [0-9.]+ ms .simulated., at most [0-9.]+ GB/s.*"},
      {"measure --quick --only launch.latency --device virtual:h200",
       "launch.latency, 1 point: [0-9.]+ µs .simulated.*"},

      {"measure --quick --only submit.* --device virtual:h200",
       "[0-9]+ primitives, [0-9]+ points: [0-9.]+ µs to [0-9.]+ µs .simulated..*"},
      {"measure --list", "[0-9]+ primitives, which --only takes by name or pattern:.*"},
      {"reproduce", "shiplap reproduce PAPER runs the experiments of a paper.*"},
      {"reproduce harris2012 --quick --only clocks --device virtual:h200", ".*[0-9]+ .*"},

      {"profiles", "[0-9]+ profiles of this machine.*"},
      {"profiles show h200", "NVIDIA H200 .profile h200.: large copies.* run at 55.46 GB/s.*"},
      {"devices", "(No GPU|[0-9]+ GPUs?) here; (plan, run, predict and demo simulate|commands use) .*"},
      {"plan saxpy:n=1Mi --profile h200 --nodes 4", "4 nodes: [0-9.]+ .*s predicted, [0-9.]+ times as fast as one.*"},
      {"run saxpy:n=64Ki --device virtual:h200 --adaptive --frames 640Ki",
       "VERIFIED [0-9.e+]+ items/s .simulated. for saxpy:n=65536 on virtual:h200: .*"},
      {"fleet check --device virtual:h200 --node n0", "1 GPU: 1 good[.].*"},
      {"advise " SHIPLAP_SOURCE_DIR "/tests/advise/recordings/saxpy.jsonl", ".* → [0-9.]+ ms a step .*, predicted.*"},
  };
  return all;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class FirstLine : public Cli {
 protected:
  Outcome at(int columns, const std::string& arguments) const {
    return run("/usr/bin/env", "COLUMNS=" + std::to_string(columns) + " '" SHIPLAP_PROGRAM "' " + arguments);
  }
};

TEST_F(FirstLine, of_every_command_answers_and_few_lines_follow_none_of_them_wider_than_asked_for) {
  for (const Said& said : said_by_commands())
    for (const int columns : {80, 120}) {
      const Outcome outcome = at(columns, said.command);
      ASSERT_EQ(outcome.code, 0) << said.command << outcome.err;
      const std::vector<std::string> lines = lines_in(outcome.out);
      ASSERT_FALSE(lines.empty()) << said.command;
      // The first sentence may go on in the second line.
      EXPECT_THAT(lines[0] + " " + (lines.size() > 1 ? lines[1] : ""), MatchesRegex(said.first_line)) << said.command;
      EXPECT_LE(lines.size(), said.most_lines) << said.command << "\n" << outcome.out;
      for (const std::string& line : lines)
        EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << said.command << ": " << line;
    }
}

TEST_F(FirstLine, is_followed_by_more_with_all) {
  for (const char* command :
       {"plan saxpy:n=1Mi --profile h200", "run saxpy:n=64Ki --device virtual:h200", "check --profile h200",
        "movers --profile h100", "demo saxpy:n=64Ki --device virtual:h200", "predict saxpy:n=1Mi --profile h200",
        "profiles", "profiles show h200", "measure --list", "reproduce",
        "measure --quick --only submit.* --device virtual:h200", "compare h200 h200",
        "plan saxpy:n=1Mi --profile h200 --memory pageable"}) {
    const Outcome brief = at(80, command);
    const Outcome all = at(80, std::string(command) + " --all");
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(lines_in(all.out).front(), lines_in(brief.out).front()) << command;
    EXPECT_GT(all.out.size(), brief.out.size()) << command;
    for (const std::string& line : lines_in(all.out)) EXPECT_LE(display_width(line), 80u) << command << ": " << line;
  }
}

}  // namespace
}  // namespace shiplap
