// Fleets that are planted: healthy ones with the noise of a real node, and nodes that are sick in known ways.
#include "shiplap/fleet/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/fleet/planted_fleet.hpp"
#include "tests/support/cpu_time.hpp"

namespace shiplap {
namespace {

const JudgedNode& node_of(const JudgedFleet& fleet, const std::string& name) {
  return *std::ranges::find(fleet.nodes, name, &JudgedNode::node);
}

TEST(Judge, raises_no_false_alarm_in_200_healthy_fleets) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const std::size_t nodes = 5 + seed % 100;
    const JudgedFleet judged = judge(PlantedFleet(seed).healthy_fleet(nodes));
    EXPECT_EQ(judged.count(NodeState::good), nodes) << "seed " << seed;
    EXPECT_TRUE(std::ranges::all_of(judged.nodes, [](const JudgedNode& node) { return node.above.empty(); }));
  }
}

/// One way to be sick, and the words of the cause. Duplex copies vary by 3 % from check to check, so that only half of
/// the rate stands out; other figures stand out from 5 % on.
struct PlantedSickness {
  const char* name;
  std::vector<std::string> figures;
  double factor;
  const char* cause;
};
void PrintTo(const PlantedSickness& sickness, std::ostream* out) { *out << sickness.name; }

class SickNode : public ::testing::TestWithParam<PlantedSickness> {};

TEST_P(SickNode, is_found_with_its_cause_when_it_was_checked_twice_and_suspected_after_one_check) {
  const PlantedSickness& sickness = GetParam();
  for (unsigned seed = 1; seed <= 20; ++seed) {
    PlantedFleet fleet(seed);
    std::vector<NodeResult> results = fleet.healthy_fleet(40);
    NodeResult sick = fleet.healthy("sick");
    slow_down(sick, sickness.figures, sickness.factor);
    results.insert(results.begin() + 7, sick);
    EXPECT_EQ(node_of(judge(results), "sick").state, NodeState::suspect);
    sick = fleet.healthy("sick");
    slow_down(sick, sickness.figures, sickness.factor);
    results.push_back(sick);
    const JudgedFleet judged = judge(results);
    EXPECT_EQ(judged.count(NodeState::good), 40u) << "nobody else is blamed";
    ASSERT_EQ(judged.nodes.front().node, "sick") << "the worst comes first";
    EXPECT_EQ(judged.nodes.front().state, NodeState::sick);
    EXPECT_EQ(judged.nodes.front().results, 2u);
    EXPECT_NE(judged.nodes.front().cause.find(sickness.cause), std::string::npos) << judged.nodes.front().cause;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Planted, SickNode,
    ::testing::Values(
        PlantedSickness{"shared_switch",
                        {"copies to the GPU", "copies from the GPU", "copies to the GPU while copies from it run",
                         "copies from the GPU while copies to it run"},
                        0.5,
                        "shared switch"},
        PlantedSickness{"far_socket", {"copies from the GPU"}, 0.85, "far socket"},
        PlantedSickness{"iommu", {"kernels that read host memory", "kernels that write host memory"}, 0.7, "IOMMU"},
        PlantedSickness{"clocks", {"device memory", "fp32 multiply-adds"}, 0.8, "clocks of the GPU"},
        PlantedSickness{
            "busy_host_memory", {"copies to the GPU while copies from it run"}, 0.3, "host memory that is busy"}),
    [](const auto& planted) { return std::string(planted.param.name); });

TEST(Judge, a_link_that_trained_down_is_the_cause_of_all_that_follows_from_it) {
  PlantedFleet fleet(1);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  for (NodeResult& result : results)
    result.figures.push_back({.what = "the link as it is trained",
                              .measured = "32.0 GT/s PCIe x16",
                              .limit = "",
                              .unit = "B/s",
                              .measured_value = 63e9,
                              .causes = {}});
  NodeResult& sick = results[3];
  slow_down(sick, {"the link as it is trained", "copies to the GPU", "copies from the GPU"}, 0.5);
  results.push_back(sick);
  EXPECT_EQ(judge(results).nodes.front().cause, "the link trained down to fewer lanes or an older generation");
}

TEST(Judge, a_node_that_is_slow_in_one_of_two_checks_is_good) {
  PlantedFleet fleet(3);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  NodeResult disturbed = results[5];
  slow_down(disturbed, {"copies to the GPU"}, 0.5);
  results.push_back(disturbed);
  EXPECT_EQ(node_of(judge(results), "n5").state, NodeState::good);
}

TEST(Judge, a_figure_that_is_bad_by_itself_and_far_below_its_peers_needs_no_second_check) {
  PlantedFleet fleet(4);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  slow_down(results[2], {"copies to the GPU"}, 0.4);
  results[2].figures[0].verdict = Verdict::bad;
  EXPECT_EQ(judge(results).nodes.front().state, NodeState::sick);
}

TEST(Judge, nodes_that_are_busy_are_neither_judged_nor_peers) {
  PlantedFleet fleet(5);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  NodeResult busy{.node = "busy", .gpu = "cuda:0", .kind = "nvidia-h100", .verdict = Verdict::busy, .busy = {"a job"}};
  results.push_back(busy);
  const JudgedFleet judged = judge(results);
  EXPECT_EQ(node_of(judged, "busy").state, NodeState::busy);
  EXPECT_EQ(judged.peers.front().peers, 20u);
}

TEST(Judge, with_few_peers_the_verdicts_of_the_checks_count) {
  PlantedFleet fleet(6);
  std::vector<NodeResult> results = fleet.healthy_fleet(3);
  slow_down(results[0], {"copies to the GPU"}, 0.7);
  EXPECT_EQ(judge(results).count(NodeState::good), 3u) << "70 % may be normal for this slot";
  results[0].figures[0].verdict = Verdict::bad;
  EXPECT_EQ(node_of(judge(results), "n0").state, NodeState::sick);
}

// Eight GPUs of one kind with slow links are like each other. What their own checks say stays.
TEST(Judge, gpus_that_are_all_low_by_their_own_checks_are_low_with_their_common_cause) {
  PlantedFleet fleet(12);
  std::vector<NodeResult> results = fleet.healthy_fleet(8);
  for (std::size_t i = 0; i < 7; ++i)
    for (CheckedFigure& figure : results[i].figures)
      if (figure.what == "copies to the GPU" || figure.what == "copies from the GPU") figure.verdict = Verdict::low;
  const JudgedFleet judged = judge(results);
  EXPECT_EQ(judged.count(NodeState::low), 7u);
  EXPECT_EQ(judged.count(NodeState::good), 1u);
  EXPECT_EQ(judged.nodes.front().low.size(), 2u);
  EXPECT_NE(judged.nodes.front().cause.find("a shared switch or slot"), std::string::npos);
  EXPECT_TRUE(judged.nodes.front().outliers.empty());
}

TEST(Judge, a_figure_that_one_of_two_checks_calls_low_is_good) {
  PlantedFleet fleet(13);
  std::vector<NodeResult> results = fleet.healthy_fleet(8);
  results.push_back(results[0]);
  results.back().figures[0].verdict = Verdict::low;
  EXPECT_EQ(judge(results).count(NodeState::good), 8u);
}

TEST(Judge, a_node_far_above_its_peers_is_named_and_good) {
  PlantedFleet fleet(14);
  std::vector<NodeResult> results = fleet.healthy_fleet(10);
  slow_down(results[3], {"copies to the GPU"}, 2);
  const JudgedFleet judged = judge(results);
  EXPECT_EQ(judged.count(NodeState::good), 10u);
  for (const JudgedNode& node : judged.nodes) EXPECT_EQ(node.above.size(), node.node == "n3" ? 1u : 0u) << node.node;
  EXPECT_NEAR(node_of(judged, "n3").above.front().ratio, 2, 0.1);
}

TEST(Judge, fewer_points_are_no_fault_unless_bytes_were_lost) {
  PlantedFleet fleet(10);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  for (NodeResult& result : results)
    result.figures.push_back({.what = "bytes that arrived",
                              .measured = "154 of 154 points",
                              .limit = "all",
                              .unit = "points",
                              .measured_value = 154,
                              .verdict = Verdict::good,
                              .causes = {}});
  results[4].figures.back().measured_value = 60;  // the budget was over
  EXPECT_EQ(judge(results).count(NodeState::good), 20u);
  results[4].figures.back().verdict = Verdict::bad;
  EXPECT_EQ(judge(results).nodes.front().state, NodeState::sick);
  EXPECT_NE(judge(results).nodes.front().cause.find("bytes change on their way"), std::string::npos);
}

TEST(Judge, compares_gpus_of_one_kind_only) {
  PlantedFleet fleet(7);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  for (NodeResult result : fleet.healthy_fleet(20)) {
    result.node += "-old";
    result.kind = "nvidia-v100";
    slow_down(result, {"copies to the GPU", "copies from the GPU"}, 0.25);
    results.push_back(result);
  }
  EXPECT_EQ(judge(results).count(NodeState::good), 40u);
}

TEST(Judge, half_of_a_fleet_that_is_sick_does_not_hide_itself) {
  PlantedFleet fleet(8);
  std::vector<NodeResult> results = fleet.healthy_fleet(50);
  for (std::size_t i = 0; i < 20; ++i) slow_down(results[i], {"device memory"}, 0.7);
  EXPECT_EQ(judge(results).count(NodeState::suspect), 20u);
}

/// The history of a fleet after this many checks.
History history_of(PlantedFleet& fleet, std::size_t nodes, unsigned checks) {
  History history;
  for (unsigned i = 0; i < checks; ++i)
    for (const NodeResult& result : fleet.healthy_fleet(nodes)) history.add(result);
  return history;
}

TEST(Judge, a_node_that_fell_against_its_own_history_is_found_though_it_is_like_its_peers) {
  PlantedFleet fleet(11);
  History history;
  std::vector<NodeResult> today;
  // Half of the nodes have slower memory by nature, so that the peers spread widely.
  for (unsigned check = 0; check < 8; ++check) {
    std::vector<NodeResult> results = fleet.healthy_fleet(20);
    for (std::size_t i = 0; i < 10; ++i) slow_down(results[i], {"device memory"}, 0.7);
    if (check < 7) {
      for (const NodeResult& result : results) history.add(result);
    } else {
      slow_down(results[15], {"device memory"}, 0.85);  // still faster than half of its peers
      today = results;
    }
  }
  EXPECT_EQ(judge(today).count(NodeState::good), 20u) << "the peers alone do not show it";
  const JudgedFleet judged = judge(today, {}, &history);
  EXPECT_EQ(judged.count(NodeState::good), 19u);
  const JudgedNode& fallen = node_of(judged, "n15");
  EXPECT_EQ(fallen.state, NodeState::suspect);
  ASSERT_EQ(fallen.outliers.size(), 1u);
  EXPECT_EQ(fallen.outliers[0].what, "device memory");
  EXPECT_NEAR(fallen.outliers[0].of_earlier, 0.85, 0.01);
}

TEST(Judge, a_change_of_the_whole_fleet_blames_nobody_and_is_stated) {
  PlantedFleet fleet(12);
  const History history = history_of(fleet, 20, 6);
  std::vector<NodeResult> results = fleet.healthy_fleet(20);
  for (NodeResult& result : results) slow_down(result, {"copies to the GPU"}, 0.9);  // a driver
  const JudgedFleet judged = judge(results, {}, &history);
  EXPECT_EQ(judged.count(NodeState::good), 20u);
  const auto changed = std::ranges::find(judged.peers, "copies to the GPU", &PeerFigure::what);
  EXPECT_NEAR(changed->of_earlier, 0.9, 0.01);
  EXPECT_NEAR(std::ranges::find(judged.peers, "device memory", &PeerFigure::what)->of_earlier, 1, 0.01);
}

TEST(Judge, two_hundred_healthy_fleets_raise_no_alarm_against_their_history) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    PlantedFleet fleet(seed);
    const std::size_t nodes = 1 + seed % 40;
    const History history = history_of(fleet, nodes, 1 + seed % 40);
    EXPECT_EQ(judge(fleet.healthy_fleet(nodes), {}, &history).count(NodeState::good), nodes) << "seed " << seed;
  }
}

TEST(Judge, few_earlier_checks_are_no_history) {
  PlantedFleet fleet(13);
  const History history = history_of(fleet, 1, 4);
  std::vector<NodeResult> results = fleet.healthy_fleet(1);
  slow_down(results[0], {"device memory"}, 0.5);
  EXPECT_EQ(judge(results, {}, &history).count(NodeState::good), 1u);
}

TEST(Judge, confidence_grows_with_checks_and_distance) {
  PlantedFleet fleet(14);
  const auto judged_with = [&](double factor, unsigned checks) {
    std::vector<NodeResult> results = fleet.healthy_fleet(20);
    for (unsigned i = 0; i < checks; ++i) {
      NodeResult sick = fleet.healthy("sick");
      slow_down(sick, {"device memory"}, factor);
      results.push_back(sick);
    }
    return judge(results).nodes.front();
  };
  EXPECT_EQ(judged_with(0.92, 1).confidence, Confidence::low);
  EXPECT_EQ(judged_with(0.92, 2).confidence, Confidence::medium);
  EXPECT_EQ(judged_with(0.5, 2).confidence, Confidence::high);
}

TEST(Judge, tells_gpus_with_one_name_apart_by_their_bus) {
  PlantedFleet fleet(15);
  std::vector<NodeResult> results;
  for (unsigned i = 0; i < 8; ++i) {
    results.push_back(fleet.healthy("node"));
    results.back().pci_bus_id = "0000:0" + std::to_string(i) + ":00.0";
  }
  slow_down(results[3], {"copies to the GPU"}, 0.5);
  const JudgedFleet judged = judge(results);
  EXPECT_EQ(judged.nodes.size(), 8u);
  EXPECT_EQ(judged.nodes.front().pci_bus_id, "0000:03:00.0");
  const History none;
  EXPECT_EQ(judge(results, {}, &none).to_remember.size(), 7u);
}

TEST(Judge, ten_thousand_nodes_take_a_thousand_times_as_long_as_ten_at_most_twice) {
  const auto seconds_for = [](std::size_t nodes) {
    const std::vector<NodeResult> results = PlantedFleet(9).healthy_fleet(nodes);
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const Seconds begin = cpu_time();
      judge(results);
      best = std::min(best, (cpu_time() - begin).count());
    }
    return best;
  };
  const double thousand = seconds_for(1000);
  const double ten_thousand = seconds_for(10'000);
  EXPECT_LT(ten_thousand, 10);
  EXPECT_LT(ten_thousand, 30 * thousand) << "linear but for sorting";
}

TEST(Judge, has_no_name_for_a_state_or_a_confidence_that_does_not_exist) {
  EXPECT_THROW(to_string(static_cast<NodeState>(99)), Error);
  EXPECT_THROW(to_string(static_cast<Confidence>(99)), Error);
}

}  // namespace
}  // namespace shiplap
