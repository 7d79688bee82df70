#include "cli/exit_codes.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

TEST(ExitCodes, of_a_check_are_those_of_each_scheme) {
  struct Case {
    Verdict verdict;
    int shiplap, nagios, nvsentinel;
  };
  for (const Case& c : std::initializer_list<Case>{{Verdict::good, 0, 0, 0},
                                                   {Verdict::low, 0, 1, 0},
                                                   {Verdict::busy, 0, 1, 0},
                                                   {Verdict::bad, 2, 2, 1},
                                                   {Verdict::unknown, 1, 3, 2}}) {
    EXPECT_EQ(exit_code(ExitCodes::shiplap, c.verdict), c.shiplap);
    EXPECT_EQ(exit_code(ExitCodes::nagios, c.verdict), c.nagios);
    EXPECT_EQ(exit_code(ExitCodes::nvsentinel, c.verdict), c.nvsentinel);
  }
}

TEST(ExitCodes, of_a_failure_are_never_those_of_a_bad_node) {
  for (const ExitCodes scheme : {ExitCodes::shiplap, ExitCodes::nagios, ExitCodes::nvsentinel})
    for (const ExitCode failure : {ExitCode::failure, ExitCode::usage}) {
      EXPECT_NE(exit_code(scheme, failure), exit_code(scheme, Verdict::bad));
      EXPECT_NE(exit_code(scheme, failure), 0);
    }
}

TEST(ExitCodes, are_read_from_the_command_line_of_a_check_alone) {
  struct Case {
    std::vector<const char*> words;
    ExitCodes codes;
  };
  for (const Case& c :
       std::initializer_list<Case>{{{"shiplap", "check", "--exit-codes", "nagios"}, ExitCodes::nagios},
                                   {{"shiplap", "check", "--line", "--exit-codes=nvsentinel"}, ExitCodes::nvsentinel},
                                   {{"shiplap", "check"}, ExitCodes::shiplap},
                                   {{"shiplap", "check", "--exit-codes"}, ExitCodes::shiplap},
                                   {{"shiplap", "check", "--exit-codes", "icinga"}, ExitCodes::shiplap},
                                   {{"shiplap", "run", "--exit-codes", "nagios"}, ExitCodes::shiplap},
                                   {{"shiplap"}, ExitCodes::shiplap}})
    EXPECT_EQ(asked_exit_codes(static_cast<int>(c.words.size()), c.words.data()), c.codes);
}

}  // namespace
}  // namespace shiplap::cli
