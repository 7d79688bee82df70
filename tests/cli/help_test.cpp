// The help of every command: what is needed every day on one screen, and everything on request.
#include "cli/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "shiplap/document/table.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HelpOfCommands : public Cli {
 protected:
  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    std::istringstream lines(shiplap("complete -- ''").out);
    for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find('\t')));
    return names;
  }
  std::string at_80_columns(const std::string& arguments) const {
    return run("/usr/bin/env", "COLUMNS=80 '" SHIPLAP_PROGRAM "' " + arguments).out;
  }
};

TEST_F(HelpOfCommands, has_at_most_40_lines_of_80_columns) {
  std::vector<std::string> all = commands();
  ASSERT_GT(all.size(), 15u);
  all.emplace_back("");
  for (const std::string& command : all) {
    const std::string help = at_80_columns(command + " --help");
    EXPECT_THAT(help, HasSubstr("Usage: shiplap " + command));
    EXPECT_LE(std::ranges::count(help, '\n'), 40) << help;
    std::istringstream lines(help + at_80_columns(command + " --help-all"));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80u) << command << ": " << line;
  }
}

TEST_F(HelpOfCommands, names_the_groups_that_it_leaves_out_and_shows_them_on_request) {
  const std::string help = shiplap("plan --help").out;
  EXPECT_THAT(help, HasSubstr("More options with --help-all: "));
  EXPECT_THAT(help, HasSubstr("Choices of the plan"));
  EXPECT_THAT(help, Not(HasSubstr("--max-grid")));
  EXPECT_THAT(help, Not(HasSubstr("rows*rows")));
  const std::string all = shiplap("plan --help-all").out;
  for (const char* part : {"Choices of the plan:", "--max-grid", "rows*rows", "--help-all", "--strategy"})
    EXPECT_THAT(all, HasSubstr(part));
}

}  // namespace
}  // namespace shiplap
