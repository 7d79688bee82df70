// What a shell offers while a command line is typed.
#include "cli/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Offered = std::vector<std::string>;

class Completion : public Cli {
 protected:
  /// The words that are offered in place of the last one.
  Offered offered(const std::string& words) const {
    Offered names;
    std::istringstream lines(shiplap("complete -- " + words).out);
    for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find('\t')));
    return names;
  }
  /// The words that bash inserts when the last one is completed.
  Offered offered_by_bash(const std::string& words) const {
    const std::string script = "source " SHIPLAP_SOURCE_DIR
                               "/packaging/completions/shiplap.bash; "
                               "COMP_WORDS=(\"" SHIPLAP_PROGRAM "\" " +
                               words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _shiplap; "
                               "printf \"%s\\n\" \"${COMPREPLY[@]}\"";
    Offered names;
    std::istringstream lines(run("/bin/bash", "-c '" + script + "'").out);
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    return names;
  }
};

TEST_F(Completion, offers_commands_then_options_then_known_values) {
  EXPECT_THAT(offered("''"), IsSupersetOf({"plan", "run", "check", "advise", "fleet"}));
  EXPECT_THAT(offered("plan --"), IsSupersetOf({"--strategy", "--profile", "--json", "--ramp"}));
  EXPECT_THAT(offered("plan --strategy ''"), IsSupersetOf({"auto", "streams", "staged"}));
  EXPECT_THAT(offered("plan saxpy --memory ''"), ElementsAre("pageable", "pinned", "managed"));
  EXPECT_THAT(offered("plan ''"), IsSupersetOf({"saxpy", "spmv"}));
  EXPECT_THAT(offered("run saxpy --device ''"), IsSupersetOf({"cuda:0", "virtual:h200"}));
  EXPECT_THAT(offered("profiles ''"), Contains("show"));
  EXPECT_THAT(offered("profiles show ''"), Contains("gtx-titan-2014"));
}

TEST_F(Completion, offers_values_behind_an_equals_sign_and_what_a_list_does_not_have_yet) {
  EXPECT_THAT(offered("run saxpy --device=v"), IsSupersetOf({"--device=cuda:0", "--device=virtual:h200"}));
  EXPECT_THAT(offered("plan saxpy --memory="), ElementsAre("--memory=pageable", "--memory=pinned", "--memory=managed"));
  EXPECT_THAT(offered("evaluate --strategies streams,st"),
              AllOf(IsSupersetOf({"streams,staged", "streams,implicit"}), Not(Contains("streams,streams"))));
  EXPECT_THAT(offered("evaluate --strategies=streams,st"), Contains("--strategies=streams,staged"));
  EXPECT_THAT(offered("evaluate --memory pinned,"), ElementsAre("pinned,pageable", "pinned,managed"));
  EXPECT_THAT(offered("run saxpy --device cuda:0,"), AllOf(Contains("cuda:0,1"), Not(Contains("cuda:0,0"))));
  EXPECT_THAT(offered("run saxpy --device virtual:h200,"), ElementsAre("virtual:h200,h200"));
  EXPECT_THAT(offered("run saxpy --device virtual:h200:2,"), IsEmpty()) << "that is two of them already";
  EXPECT_THAT(offered("plan saxpy --json="), IsEmpty());
}

TEST_F(Completion, offers_nothing_where_a_file_or_the_command_line_of_a_program_is_expected) {
  EXPECT_THAT(offered("plan saxpy --trace ''"), IsEmpty());
  EXPECT_THAT(offered("advise -- python3 --"), IsEmpty());
  EXPECT_THAT(offered("no-such-command --no-such-option ''"), Not(Contains("--strategy")));
}

TEST_F(Completion, says_what_each_command_and_option_does) {
  EXPECT_NE(shiplap("complete -- ''").out.find("plan\tRank the ways"), std::string::npos);
  EXPECT_NE(shiplap("complete -- plan --").out.find("--chunks\tnumber of chunks"), std::string::npos);
}

TEST_F(Completion, of_bash_inserts_what_begins_like_the_word) {
  EXPECT_THAT(offered_by_bash("pl"), ElementsAre("plan"));
  EXPECT_THAT(offered_by_bash("plan --strategy st"), ElementsAre("streams", "staged"));
  // Bash splits words at colons, and replaces what is behind the last one.
  EXPECT_THAT(offered_by_bash("run --device virtual : gtx-t"), ElementsAre("gtx-titan-2014"));
  EXPECT_THAT(offered_by_bash("run --device virtual :"), Contains("h200"));
  EXPECT_THAT(offered_by_bash("run --device = v"), Contains("virtual:h200"));
  EXPECT_THAT(offered_by_bash("run --device = virtual : gtx-t"), ElementsAre("gtx-titan-2014"));
  EXPECT_THAT(offered_by_bash("run --device cuda : 0,"), Contains("0,1"));
  EXPECT_THAT(offered_by_bash("evaluate --strategies streams,stag"), ElementsAre("streams,staged"));
  EXPECT_THAT(offered_by_bash("plan saxpy : n = 1"), ElementsAre("")) << "nothing, which bash prints as an empty line";
}

}  // namespace
}  // namespace shiplap
