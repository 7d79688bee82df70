// shiplap report: what it writes and how it fails. tests/browser opens reports in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shiplap/report/page/page.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ReportCommand : public Cli {
 protected:
  void SetUp() override {
    if (!page::has_plots()) GTEST_SKIP() << "this build has no D3";
  }
  std::string output() const { return (folder / "report.html").string(); }
};

TEST_F(ReportCommand, writes_one_page_from_several_files) {
  const Outcome plan = shiplap("plan saxpy:n=1Mi --profile h200 --json");
  const fs::path file = write("plan.json", plan.out);
  const Outcome made = shiplap("report --no-map -o " + output() + " " + file.string() + " " + SHIPLAP_SOURCE_DIR +
                               "/profiles/h200.json --title 'Tuesday'");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("report written to"));
  EXPECT_THAT(read(output()),
              AllOf(HasSubstr("<title>Tuesday</title>"), HasSubstr("Node: NVIDIA H200"), HasSubstr("Plan for saxpy")));
}

// Parts of the distance to ideal overlap are negative where zero-copy or a tail is faster than whole stages.
TEST_F(ReportCommand, shows_every_run_that_shiplap_writes) {
  for (const char* options :
       {"--strategy implicit", "--strategy hybrid", "--memory managed", "--memory pageable --gantt"}) {
    const Outcome run = shiplap(std::string("run saxpy:n=64Ki --device virtual:h200 --json ") + options);
    ASSERT_EQ(run.code, 0) << run.err;
    const fs::path file = write("run.json", run.out);
    const Outcome made = shiplap("report --no-map -o " + output() + " " + file.string());
    EXPECT_EQ(made.code, 0) << options << ": " << made.err;
    EXPECT_THAT(read(output()), HasSubstr("Run of saxpy")) << options;
  }
}

TEST_F(ReportCommand, a_file_that_cannot_be_shown_leaves_the_old_page) {
  write("report.html", "the old page");
  const fs::path file = write("other.json", "{}");
  const Outcome failed = shiplap("report " + file.string() + " -o " + output());
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("it has no \"schema\""));
  EXPECT_EQ(read(output()), "the old page");
}

TEST_F(ReportCommand, does_not_overwrite_a_file_that_it_reads) {
  const fs::path file = write("profile.json", read(SHIPLAP_SOURCE_DIR "/profiles/h200.json"));
  const std::string before = read(file);
  fs::create_symlink(file, folder / "link.html");
  for (const char* output : {"profile.json", "link.html"}) {
    const Outcome refused = shiplap("report " + file.string() + " -o " + (folder / output).string());
    EXPECT_EQ(refused.code, 64);
    EXPECT_EQ(read(file), before);
  }
}

TEST_F(ReportCommand, says_what_is_missing) {
  EXPECT_EQ(shiplap("report -o " + output()).code, 64);
  EXPECT_EQ(shiplap("report " SHIPLAP_SOURCE_DIR "/profiles/h200.json").code, 64) << "no output";
  const Outcome nowhere = shiplap("report " SHIPLAP_SOURCE_DIR "/profiles/h200.json -o /nowhere/report.html");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("--output"));
  EXPECT_EQ(shiplap("report /nowhere.json -o " + output()).code, 1);
}

TEST_F(ReportCommand, a_name_of_a_profile_in_a_file_opens_no_other_file) {
  Json plan = parsed(shiplap("plan saxpy:n=1Mi --profile h200 --json"));
  plan["profile"] = SHIPLAP_SOURCE_DIR "/profiles/h200.json";
  const fs::path file = write("plan.json", plan.dump());
  const Outcome made = shiplap("report " + file.string() + " -o " + output());
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(read(output()), HasSubstr("There is no map of strategies"));
}

}  // namespace
}  // namespace shiplap
