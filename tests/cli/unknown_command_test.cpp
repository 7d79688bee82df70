// What a user who mistypes a command is told.
#include "cli/unknown_command.hpp"

#include <gtest/gtest.h>

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
  expect_refused(shiplap("conquer"), 64, {"\"shiplap conquer\"", "the commands are devices, profiles, measure"});
  EXPECT_EQ(shiplap("conquer").err.find("did you mean"), std::string::npos);
}

}  // namespace
}  // namespace shiplap
