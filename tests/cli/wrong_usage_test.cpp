// What a user who mistypes a command is told.
#include "cli/wrong_usage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

TEST_F(Cli, an_unknown_command_is_refused_with_the_command_that_was_meant) {
  for (const auto& [given, meant] : {std::pair{"adapt --help", "did you mean run --adaptive ("},
                                     {"adaptive", "did you mean run --adaptive ("},
                                     {"mesure --quick", "did you mean measure ("},
                                     {"profile", "did you mean profiles ("},
                                     {"evalute saxpy", "did you mean evaluate ("},
                                     {"plam saxpy", "did you mean plan ("},
                                     {"profiles shwo h200", "did you mean show ("}})
    expect_refused(shiplap(given), 64, {"there is no command", meant, "--help lists all commands"});
  expect_refused(shiplap("conquer"), 64, {"\"shiplap conquer\"", "the commands are demo, advise, check"});
  EXPECT_EQ(shiplap("conquer").err.find("did you mean"), std::string::npos);
}

TEST_F(Cli, unexpected_arguments_are_named_as_given_with_the_option_that_was_meant) {
  expect_refused(shiplap("plan saxpy:n=1Mi --profil h200"), 64,
                 {"\"--profil h200\" is not expected", "did you mean --profile?"});
  expect_refused(shiplap("plan saxpy:n=1Mi --profile h200 --chunk 4"), 64,
                 {"did you mean --chunks?", "shiplap plan --help"});
}

TEST_F(Cli, an_option_that_another_tool_has_is_refused_with_the_one_that_does_it_here) {
  for (const auto& [given, meant] : {std::pair{"plan saxpy --pageable", "did you mean --memory pageable?"},
                                     {"plan saxpy --managed", "did you mean --memory managed?"},
                                     {"plan saxpy --staged", "did you mean --strategy staged?"},
                                     {"run saxpy --gpu=0", "did you mean --device cuda:0?"},
                                     {"plan saxpy --verbose", "did you mean --all?"},
                                     {"check h200", "did you mean --profile h200?"},
                                     {"check cuda:0", "did you mean --device cuda:0?"},
                                     {"advise python3 infer.py", "did you mean shiplap advise -- python3 infer.py?"}})
    expect_refused(shiplap(given), 64, {"is not expected here", meant});
}

TEST_F(Cli, what_is_missing_or_not_taken_is_said_in_one_line_of_the_program_with_what_is_wanted) {
  struct Case {
    const char* given;
    const char* said;
    const char* also = " --help lists all options)";
  };
  const Case cases[]{
      {"plan --in", "--in needs a value, SIZE: "},
      {"plan saxpy --chunks", "--chunks needs a value"},
      {"plan --in 1MiB --kernel 2ms --kernel 3ms", "--kernel is given 2 times; give it once"},

      {"plan saxpy --gpus abc", "--gpus: abc is not a number from 1 to 64"},
      {"fleet check --ranks -1", "--ranks: -1 is not a number from 0 to "},
      {"plan saxpy --memory pined", "--memory: pined is none of pageable, pinned, managed; did you mean pinned?"},
      {"compare h200", "NOW is missing: profile to judge"},
      {"profiles show", "NAME is missing: ", "(shiplap profiles show --help"},
      {"fleet", "a command is missing, one of: ", "check"},
      {"-x", "\"-x\" is not expected here"},
      {"measure --quick --full", "--quick", "--full"},
      {"measure --resume", "--resume", "--output"}};
  for (const auto& [given, said, also] : cases) {
    const Outcome outcome = shiplap(given);
    expect_refused(outcome, 64, {said, also, " --help lists all options)"});
    EXPECT_TRUE(outcome.err.starts_with("shiplap: ")) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

TEST_F(Cli, a_name_or_number_that_is_not_known_is_refused_with_what_was_meant) {
  expect_refused(shiplap("plan saxpy:n=1Mi --profile h200 --strategy stream"), 64, {"did you mean streams?"});
  expect_refused(shiplap("plan saxpy:n=1Mi --device h200"), 64, {"did you mean virtual:h200?"});
  expect_refused(shiplap("measure --only copy.pageable --device virtual:h200"), 64,
                 {"did you mean 'copy.pageable.*'?"});
  expect_refused(shiplap("measure --only copy.pined.h2d --device virtual:h200"), 64, {"did you mean copy.pinned.h2d"});
  expect_refused(shiplap("plan saxpy:n=64Mj --profile h200"), 64, {"\"Mj\" is no suffix"});
  expect_refused(shiplap("plan"), 64, {"WORKLOAD is missing", "saxpy", "--in 1GiB", "--help-all lists all parameters"});
  expect_refused(shiplap("advise python3"), 1, {"there is no such file", "shiplap advise -- python3"});
}

}  // namespace
}  // namespace shiplap
