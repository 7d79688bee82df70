// What a long command says when the user interrupts it.
#include "cli/interruption.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

class Interruption : public Cli {
 protected:
  /// The command, interrupted after two seconds as by Ctrl-C.
  Outcome interrupted(const std::string& arguments) const {
    return run("/usr/bin/timeout", "--preserve-status --signal=INT 2 '" SHIPLAP_PROGRAM "' " + arguments);
  }
};

TEST_F(Interruption, says_what_is_kept_and_how_to_go_on) {
  const std::string file = (folder / "points.json").string();
  const Outcome kept = interrupted("evaluate --random 100000 --device virtual:h200 -o '" + file + "'");
  EXPECT_EQ(kept.code, 128 + SIGINT);
  EXPECT_THAT(kept.err, HasSubstr("interrupted: " + file + " holds what was evaluated"));
  EXPECT_THAT(kept.err, HasSubstr("--resume"));
}

TEST_F(Interruption, says_that_nothing_is_kept_where_no_file_is_written) {
  const Outcome lost = interrupted("measure --full --device virtual:h200");
  EXPECT_EQ(lost.code, 128 + SIGINT);
  EXPECT_THAT(lost.err, HasSubstr("interrupted: no profile is kept; with -o FILE"));
}

}  // namespace
}  // namespace shiplap
