// From the output of another tool to a profile, a plan, a check and a comparison.
#include <gmock/gmock.h>

#include "tests/cli/program.hpp"
#include "tests/other_tools/outputs.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

class Import : public Cli {
 protected:
  std::string profile(const std::string& text, const std::string& options = "") const {
    const fs::path output = write("output.txt", text);
    const Outcome outcome = shiplap("profiles import '" + output.string() + "' -o '" + file() + "' " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return "'" + file() + "'";
  }
  std::string file() const { return (folder / "node.json").string(); }
};

TEST_F(Import, goes_from_nvbandwidth_to_plan_check_and_comparison) {
  const std::string node = profile(outputs::nvbandwidth_text);
  // 256 MiB in at 25 GB/s take 10.74 ms, 128 MiB out at 20 GB/s 6.71 ms: explicit copies and the kernel 23.45 ms.
  const Json plan =
      parsed(shiplap("plan --in 256MiB --out 128MiB --kernel 6ms --strategy explicit --profile " + node + " --json"));
  EXPECT_NEAR(plan.at("chosen").at("predicted").at("value").get<double>(), 10.737 + 6.711 + 6, 0.05);
  EXPECT_EQ(plan.at("profile_origin"), "imported");
  const Outcome text = shiplap("plan --in 256MiB --out 128MiB --kernel 6ms --all --profile " + node);
  EXPECT_THAT(text.out + text.err, HasSubstr("h2d.costs.gap")) << "what is assumed is said";
  const Outcome check = shiplap("check --profile " + node);
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("imported"));
  EXPECT_THAT(check.out, HasSubstr("could not be judged"));

  std::string slower = outputs::nvbandwidth_text;
  slower.replace(slower.find("25.00"), 5, "18.00");
  const Outcome worse = shiplap("compare " + node + " '" + write("now.txt", slower).string() + "'");
  EXPECT_EQ(worse.code, 2) << worse.err;
  EXPECT_THAT(worse.err, HasSubstr("burst.pinned.h2d"));
  EXPECT_THAT(worse.err, HasSubstr("no measured points"));
  EXPECT_EQ(shiplap("compare " + node + " " + node).code, 0);
}

TEST_F(Import, is_compared_with_a_measured_node) {
  std::string text = outputs::nvbandwidth_text;
  text = "Device 0: NVIDIA H100 80GB HBM3 (00000000:17:00)\n" + text.substr(text.find("Running"));
  const Outcome outcome = shiplap("compare h100 " + profile(text));
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("is worse than h100"));
}

TEST_F(Import, is_part_of_a_fleet_and_of_a_report) {
  const std::string node = profile(outputs::nvbandwidth_json, "--name first");
  const fs::path other = folder / "second.json";
  std::ofstream(other) << read(file());
  const Outcome fleet = shiplap("fleet collect --json " + node + " '" + other.string() + "'");
  EXPECT_NE(fleet.code, 64) << fleet.err;
  EXPECT_THAT(fleet.out, HasSubstr("\"second\"")) << "two nodes with profiles of one name are two";
  EXPECT_EQ(shiplap("report " + node + " -o '" + (folder / "page.html").string() + "'").code, 0);
}

TEST_F(Import, prints_the_profile_without_a_file_for_it) {
  const fs::path output = write("output.csv", outputs::bandwidth_csv);
  const Json json = parsed(shiplap("profiles import '" + output.string() + "'"));
  EXPECT_EQ(json.at("origin"), "imported");
  EXPECT_EQ(json.at("gpus").at(0).at("name"), "Tesla T4");
}

TEST_F(Import, says_what_cannot_be_read_and_what_to_do) {
  expect_refused(shiplap("profiles import '" + write("a.txt", "hello").string() + "'"), 1, {"a.txt", "nvbandwidth"});
  expect_refused(shiplap("profiles import '" + write("b.json", outputs::comm_scope).string() + "'"), 64,
                 {"--gpu", "T4"});
  expect_refused(shiplap("profiles import nowhere.txt"), 1, {"nowhere.txt"});
  expect_refused(shiplap("profiles import"), 64, {"FILE"});
  expect_refused(shiplap("check --profile '" + write("c.json", "{").string() + "'"), 1, {"JSON"});
}

}  // namespace
}  // namespace shiplap
