// Plans on the machines of the papers, whose figures are incomplete.
#include <gmock/gmock.h>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

class PublishedMachines : public Cli {};

// Van Werkhoven et al. 2014 found implicit to be the best way for the equation of state on the GTX Titan.
TEST_F(PublishedMachines, plan_by_the_closed_form_and_say_so) {
  const std::string command = "plan pop-state --profile gtx-titan-2014 --kernel 8ms";
  EXPECT_THAT(shiplap(command).out, HasSubstr("→ the choice, closed form"));
  const Outcome outcome = shiplap(command + " --all");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"closed form", "implicit: ranked by"}) EXPECT_THAT(outcome.out, HasSubstr(text));
  const Json json = parsed(shiplap(command + " --json"));
  EXPECT_EQ(json.at("chosen").at("strategy"), "implicit");
  EXPECT_EQ(json.at("chosen").at("predicted_by"), "closed form");
  EXPECT_THAT(json.at("chosen").at("why_not_simulated").get<std::string>(), HasSubstr("gtx-titan-2014"));
  EXPECT_NEAR(json.at("chosen").at("predicted").at("value").get<double>(), 58.6430, 0.0005)
      << "eq 6 and the copy of the table of pressures";
}

TEST_F(PublishedMachines, plan_by_simulation_what_a_virtual_device_will_run) {
  const Json json = parsed(shiplap("plan pop-state --device virtual:gtx-titan-2014 --kernel 8ms --json"));
  for (const Json& candidate : json.at("candidates")) EXPECT_EQ(candidate.at("predicted_by"), "simulation");
}

// 672 MiB in, each byte read three times: 0.018443 + 3 x 704,643,072 x 8.318392e-8 ms by eq 6 and Table I.
TEST_F(PublishedMachines, take_longer_where_the_kernel_reads_its_inputs_several_times) {
  const std::string command =
      "plan --in 672MiB --out 672MiB --kernel 8ms --access once --profile gtx-titan-2014 --strategy implicit";
  const Json json = parsed(shiplap(command + " --reads 3 --json"));
  EXPECT_NEAR(json.at("chosen").at("predicted").at("value").get<double>(), 175.8634, 0.001);
  expect_refused(shiplap(command + " --reads 0.5"), 64, {"--reads wants a number from 1"});
}

TEST_F(PublishedMachines, predict_without_a_simulation) {
  const Outcome outcome = shiplap("predict pop-state --profile gtx-titan-2014 --kernel 8ms --all");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("eq 6"));
}

TEST_F(PublishedMachines, have_no_spans_of_a_closed_form) {
  expect_refused(shiplap("plan pop-state --profile gtx-titan-2014 --kernel 8ms --trace '" +
                         (folder / "trace.json").string() + "'"),
                 1, {"--trace", "closed form", "--strategy"});
}

TEST_F(PublishedMachines, name_the_missing_link_and_plan_with_an_assumed_one) {
  expect_refused(shiplap("plan saxpy:n=1Mi --profile tesla-k20m-2014"), 1, {"L+o, G and g", "--link"});
  const Outcome outcome = shiplap("plan saxpy:n=1Mi --profile tesla-k20m-2014 --link pcie2");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("on profile tesla-k20m-2014, assumed link pcie2"));
  EXPECT_THAT(outcome.out, HasSubstr("assumed link, predicted"));
  const Json json = parsed(shiplap("plan saxpy:n=1Mi --profile ac922-v100-2019 --link h200 --json"));
  EXPECT_EQ(json.at("profile_origin"), "assumed");
  EXPECT_EQ(json.at("assumed_link"), true);
}

TEST_F(PublishedMachines, refuse_links_that_do_not_exist) {
  expect_refused(shiplap("plan saxpy:n=1Mi --profile h200 --link pcie2"), 64, {"--link pcie2", "--scale"});
  expect_refused(shiplap("plan saxpy:n=1Mi --link pcie2"), 64, {"--link", "--profile"});
  expect_refused(shiplap("plan saxpy:n=1Mi --profile tesla-k20m-2014 --link pcie9"), 64, {"pcie9"});
}

TEST_F(PublishedMachines, say_what_they_can_do) {
  const Outcome list = shiplap("profiles --all");
  EXPECT_THAT(list.out, HasSubstr("gtx-titan-2014: plans pinned memory by simulation, zero-copy by the closed forms"));
  EXPECT_THAT(list.out, HasSubstr("tesla-k20m-2014: plans with a link that is stated (--link), because L+o, G and g"));
  EXPECT_THAT(shiplap("profiles show h200").out,
              HasSubstr("plans pinned, zero-copy, pageable, managed memory by simulation"));
}

}  // namespace
}  // namespace shiplap
