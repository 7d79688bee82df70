// Options without effect are named, with the reason.
#include "cli/effects.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

/// What the program says of its options; lines are wrapped with six spaces.
std::string notes(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::string text = outcome.err;
  for (std::size_t at = 0; (at = text.find("\n      ", at)) != std::string::npos;) text.replace(at, 7, " ");
  return text;
}

TEST_F(Cli, an_option_that_the_named_strategy_does_not_use_is_named_with_the_reason) {
  const std::string plan = "plan saxpy:n=1Mi --profile h200 --strategy ";
  const std::string of_explicit = notes(shiplap(plan + "explicit --chunks 8 --threads 3 --order depth"));
  for (const char* words :
       {"--chunks 8 has no effect: strategy explicit does not cut arrays into chunks",
        "--threads 3 has no effect: strategy explicit uses no host threads",
        "--order depth has no effect: strategy explicit has no pipeline of chunks in pinned memory"})
    EXPECT_NE(of_explicit.find(words), std::string::npos) << words << " in: " << of_explicit;
  EXPECT_EQ(notes(shiplap(plan + "streams --threads 4")),
            "note: --threads 4 has no effect: strategy streams uses no host threads\n");
  EXPECT_EQ(notes(shiplap(plan + "streams --chunks 8 --layout three")), "");
  EXPECT_EQ(notes(shiplap(plan + "streams --chunks 1 --order breadth")),
            "note: --order breadth has no effect: there is one chunk\n");
}

TEST_F(Cli, an_option_that_no_strategy_of_the_ranking_uses_is_named_by_every_command_that_plans) {
  const std::string note = "note: --threads 4 has no effect: no strategy of this plan uses host threads\n";
  EXPECT_EQ(notes(shiplap("plan saxpy:n=1Mi --profile h200 --threads 4")), note);
  EXPECT_EQ(notes(shiplap("predict saxpy:n=1Mi --profile h200 --threads 4")), note);
  EXPECT_EQ(notes(shiplap("run saxpy:n=64Ki --device virtual:h200 --threads 4")), note);
  EXPECT_EQ(notes(shiplap("tune saxpy:n=64Ki --race 2ms --device virtual:h200 --threads 4")), note);
  EXPECT_EQ(notes(shiplap("plan saxpy:n=1Mi --profile h200 --threads 4 --memory pageable")), "");
  EXPECT_EQ(notes(shiplap("plan saxpy:n=1Mi --profile h200 --memory pageable --no-pin --max-grid 8")),
            "note: --max-grid 8 has no effect: no strategy of this plan has a kernel that accesses host memory\n");
}

TEST_F(Cli, limits_that_limit_nothing_and_pinning_that_is_not_in_question_are_named) {
  EXPECT_EQ(notes(shiplap("plan saxpy:n=1Mi --profile h200 --no-pin")),
            "note: --no-pin has no effect: no array of the workload is in pageable memory\n");
  const std::string both = notes(shiplap("plan saxpy:n=1Mi --profile h200 --memory pageable --no-pin --reuse 5"));
  EXPECT_NE(both.find("--reuse 5 has no effect"), std::string::npos) << both;
  const std::string much = notes(shiplap("plan saxpy:n=1Mi --profile h200 --device-memory 1TiB"));
  EXPECT_NE(much.find("--device-memory 1TiB has no effect: no more than"), std::string::npos) << much;
  EXPECT_EQ(notes(shiplap("plan saxpy:n=1Mi --profile h200 --device-memory 1GiB")), "");
}

TEST_F(Cli, repetitions_of_simulated_runs_and_races_of_one_choice_are_named) {
  const std::string run = "run saxpy:n=64Ki --device virtual:h200 ";
  const std::string repeated = notes(shiplap(run + "--repeat 5"));
  EXPECT_NE(repeated.find("--repeat 5 has no effect: the times of a virtual device are simulated"), std::string::npos)
      << repeated;
  EXPECT_EQ(notes(shiplap(run + "--repeat 1")), "");
  EXPECT_EQ(Json::parse(shiplap(run + "--repeat 1000 --json").out)["samples"]["values"].size(), 1u);
  const std::string raced = notes(shiplap(run + "--race 2ms --strategy explicit --graph"));
  EXPECT_NE(raced.find("--race 2ms has no effect: the other options leave one choice"), std::string::npos) << raced;
}

TEST_F(Cli, measure_and_compare_name_what_they_do_not_use) {
  EXPECT_EQ(notes(shiplap("measure --list --quick --device virtual:h200")),
            "note: --device, --quick has no effect: --list lists all primitives and measures nothing\n");
  const std::string named = notes(shiplap("measure --quick --only 'launch.*' --device virtual:h200 --name mine"));
  EXPECT_NE(named.find("--name mine has no effect"), std::string::npos) << named;
  EXPECT_NE(notes(shiplap("compare h200 h200 --all --json")).find("--all has no effect"), std::string::npos);
}

TEST_F(Cli, evaluate_names_the_parts_of_the_grid_that_are_not_used) {
  const std::string grid = "evaluate saxpy:n=4096 --device virtual:h200 ";
  const std::string all =
      notes(shiplap(grid +
                    "--strategies explicit --chunks 2 --layouts three --max-grid 8 --threads 2 --sizes 1MiB --repeat 3 "
                    "--no-transfers"));
  for (const char* words :
       {"--chunks has no effect: no strategy of the grid", "--layouts has no effect", "--max-grid has no effect",
        "--threads has no effect", "--sizes has no effect: every WORKLOAD states its own sizes",
        "--repeat 3 has no effect", "--no-transfers has no effect"})
    EXPECT_NE(all.find(words), std::string::npos) << words << " in: " << all;
  EXPECT_EQ(notes(shiplap(grid + "--strategies streams --chunks 2 --layouts three")), "");
  const std::string copies =
      notes(shiplap("evaluate --transfers --sizes 16MiB --chunks 1 --layouts few --device virtual:h200"));
  EXPECT_NE(copies.find("--layouts has no effect: --transfers"), std::string::npos) << copies;
}

}  // namespace
}  // namespace shiplap
