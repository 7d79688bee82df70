#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/record.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/sections.hpp"
#include "tests/fleet/planted_fleet.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text_of(const JudgedFleet& fleet, document::Detail detail = document::Detail::figures) {
  return document::text(document::fleet_section(fleet), {}, detail);
}

/// Twenty nodes, of which the fourth is a suspect, and one without a result.
JudgedFleet fleet_with_a_suspect() {
  PlantedFleet fleet(1);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  slow_down(results[3], {"device memory"}, 0.7);
  JudgedFleet judged = judge(results);
  judged.missing = {"n20"};
  return judged;
}

TEST(FleetSection, begins_with_the_numbers_of_gpus_and_has_a_line_for_each_that_is_not_good) {
  const std::string text = text_of(fleet_with_a_suspect());
  EXPECT_THAT(text, AllOf(StartsWith("20 GPUs: 19 good, 1 suspect.\n"), HasSubstr("Check it again"),
                          HasSubstr("\n  n3 "), HasSubstr("no result (1)\n"), HasSubstr("\n  n20\n"),
                          Not(HasSubstr("not done")), Not(HasSubstr("\n  n4 ")), Not(HasSubstr("median"))));
  EXPECT_THAT(text_of(fleet_with_a_suspect(), document::Detail::all), HasSubstr("median"));
}

TEST(FleetSection, counts_what_all_gpus_of_a_node_copied_at_once_by_itself) {
  JudgedFleet fleet = judge(PlantedFleet(1).healthy_fleet(1));
  JudgedNode sum = fleet.nodes.front();
  sum.gpu = "all 4 GPUs";
  fleet.nodes.push_back(sum);
  EXPECT_THAT(text_of(fleet), StartsWith("1 GPU: 1 good; 1 node with all GPUs at once: 1 good.\n"));
}

TEST(FleetSection, is_the_same_for_the_judgement_and_for_the_file_of_it) {
  History history;
  PlantedFleet planted(2);
  for (int check = 0; check < 6; ++check)
    for (const NodeResult& result : planted.healthy_fleet(20)) history.add(result);
  std::vector<NodeResult> results = planted.healthy_fleet(20);
  slow_down(results[3], {"copies to the GPU"}, 0.5);
  const JudgedFleet fallen = judge(results, {}, &history);
  for (const JudgedFleet& fleet : {fleet_with_a_suspect(), fallen, judge(planted.healthy_fleet(2))}) {
    const Json file = to_json(fleet);
    const auto read = Form<JudgedFleet>::read(JsonReader(file, "fleet.json"));
    EXPECT_EQ(to_json(read), file);
    EXPECT_EQ(text_of(read, document::Detail::all), text_of(fleet, document::Detail::all));
  }
}

}  // namespace
}  // namespace shiplap
