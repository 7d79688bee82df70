// shiplap plan --nodes as a user runs it.
#include <gmock/gmock.h>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

const std::string small_convolution = "plan convolution:height=512,width=512 --profile h200 ";
const std::string stated_network = "--network-bandwidth 25GB/s --network-latency 2us ";

class PlanNodes : public Cli {};

TEST_F(PlanNodes, prints_a_line_for_each_number_of_nodes_and_the_origin_of_the_network) {
  const Outcome outcome = shiplap(small_convolution + stated_network + "--nodes 3");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("speed-up  efficiency  what limits"));
  for (const char* nodes : {"\n      1  ", "\n      2  ", "\n      3  "}) EXPECT_THAT(outcome.out, HasSubstr(nodes));
  EXPECT_THAT(outcome.out, HasSubstr("The network's figures are stated: 25.00 GB/s and a latency of 2.000 µs."));
}

TEST_F(PlanNodes, prints_json) {
  const Outcome outcome = shiplap(small_convolution + stated_network + "--nodes 2 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json.at("schema"), "shiplap/scaling");
  ASSERT_EQ(json.at("runs").size(), 2u);
  const Json& two = json.at("runs")[1];
  EXPECT_EQ(two.at("nodes"), 2);
  EXPECT_EQ(two.at("items"), 256);
  EXPECT_NEAR(two.at("total").at("value").get<double>(),
              two.at("node").at("value").get<double>() + two.at("exchange").at("value").get<double>(), 1e-12);
  EXPECT_EQ(json.at("network").at("origin"), "stated");
  EXPECT_DOUBLE_EQ(json.at("network").at("bandwidth").at("value").get<double>(), 25);
}

TEST_F(PlanNodes, needs_no_network_without_halos) {
  const Outcome outcome = shiplap("plan --in 16MiB --out 16MiB --kernel 1ms --profile h200 --nodes 2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("No halos have to be exchanged"));
}

TEST_F(PlanNodes, refuses_what_is_missing_with_what_to_give) {
  const auto refusal = [&](const std::string& arguments) {
    const Outcome outcome = shiplap(arguments);
    EXPECT_EQ(outcome.code, 64) << arguments << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refusal(small_convolution + "--nodes 2"),
              HasSubstr("state its --network-bandwidth and --network-latency"));
  EXPECT_THAT(refusal(small_convolution + "--nodes 2 --network-latency 2us"),
              HasSubstr("--network-bandwidth is missing"));
  EXPECT_THAT(refusal(small_convolution + "--nodes 2 --network-bandwidth 2GB/s"),
              HasSubstr("--network-latency is missing"));
  EXPECT_THAT(refusal(small_convolution + stated_network), HasSubstr("need --nodes N"));
  EXPECT_THAT(refusal(small_convolution + "--nodes 2 --network-bandwidth 25 --network-latency 2us"),
              HasSubstr("--network-bandwidth: \"25\" has no unit"));
  EXPECT_THAT(refusal(small_convolution + "--nodes 0"), HasSubstr("--nodes"));
  EXPECT_THAT(refusal(small_convolution + stated_network + "--nodes 2 --emit cuda"), HasSubstr("excludes"));
}

}  // namespace
}  // namespace shiplap
