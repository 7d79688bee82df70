#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/record.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A job that one node cannot hold and that two and four can do.
Scaling made_scaling() {
  Scaling scaling{.job = "stencil", .profile = "h200"};
  scaling.refused = {{.nodes = 1, .reason = "the share does not fit"}};
  for (const std::uint32_t nodes : {2u, 4u})
    scaling.runs.push_back({.nodes = nodes,
                            .items = 4096 / nodes,
                            .choice = {.strategy = "streams", .chunks = 8},
                            .node = milliseconds(24.0 / nodes),
                            .exchange = microseconds(100),
                            .speed_up = nodes * 0.95,
                            .efficiency = 0.95,
                            .limit = "the link of each node"});
  scaling.largest_halo = 8_MiB;
  scaling.network = Network{.bandwidth = {25e9}, .latency = microseconds(2), .origin = "stated"};
  return scaling;
}

TEST(ScalingSection, begins_with_the_time_on_the_most_nodes_and_says_what_limits_and_what_was_refused) {
  EXPECT_THAT(document::text(document::scaling_section(made_scaling()), {.width = 1000}),
              AllOf(StartsWith("4 nodes: 6.100 ms predicted, 3.80 times as fast as one (95.0 % efficient).\n"),
                    HasSubstr("1 node: the share does not fit\n"), HasSubstr("a latency of 2.000 µs"),
                    HasSubstr("the link of each node")));
}

TEST(ScalingSection, is_the_same_for_the_scaling_and_for_the_file_of_it) {
  Scaling without_network = made_scaling();
  without_network.network.reset();
  for (const Scaling& scaling : {made_scaling(), without_network}) {
    const Json file = to_json(scaling);
    const auto read = Form<Scaling>::read(JsonReader(file, "scaling.json"));
    EXPECT_EQ(to_json(read).dump(), file.dump());
    EXPECT_EQ(read.to_string(), scaling.to_string());
  }
}

}  // namespace
}  // namespace shiplap
