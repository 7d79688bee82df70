#include "shiplap/cluster/scaling.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "shiplap/cluster/share.hpp"
#include "shiplap/cluster/share_job.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Network fast_network{.bandwidth = {25e9}, .latency = microseconds(2), .origin = "stated"};

Job scaled_stencil(std::uint64_t rows, std::uint64_t columns) {
  return Job{rows, "stencil"}
      .shaped<const float>("u", Role::in, rows * columns, halo(1, 1))
      .shaped<float>("out", Role::out, rows * columns)
      .host_kernel([](Chunk, View<const float>, View<float>) {});
}

Node node_like_h200() {
  const auto device = open("virtual:h200");
  return node_of(*load_or_measure(*device).profile);
}

std::vector<std::uint32_t> numbers_of(const Scaling& scaling) {
  std::vector<std::uint32_t> result;
  for (const ScaledRun& run : scaling.runs) result.push_back(run.nodes);
  return result;
}

TEST(Scaling, has_every_power_of_two_and_the_number_itself) {
  const Scaling scaling = predict_scaling(node_like_h200(), scaled_stencil(4096, 4096), 6, fast_network);
  EXPECT_THAT(numbers_of(scaling), ElementsAre(1, 2, 4, 6));
  EXPECT_EQ(scaling.runs[0].exchange, Seconds{0});
  EXPECT_EQ(scaling.runs[0].speed_up, 1);
  EXPECT_EQ(scaling.runs[2].items, 1024u);
  EXPECT_EQ(scaling.runs[3].items, 683u);
}

TEST(Scaling, counts_the_halos_of_both_neighbours_over_the_network) {
  const Scaling scaling = predict_scaling(node_like_h200(), scaled_stencil(4096, 1 << 20), 4, fast_network);
  const Seconds row = Bytes{4u << 20} / fast_network.bandwidth;
  EXPECT_EQ(scaling.largest_halo, 8_MiB);
  EXPECT_NEAR(scaling.runs[1].exchange / (fast_network.latency + row), 1, 1e-9) << "two nodes have one neighbour each";
  EXPECT_NEAR(scaling.runs[2].exchange / (fast_network.latency + row * 2), 1, 1e-9);
  EXPECT_EQ(scaling.runs[2].total(), scaling.runs[2].node + scaling.runs[2].exchange);
  EXPECT_NEAR(scaling.runs[2].speed_up, scaling.runs[0].total() / scaling.runs[2].total(), 1e-12);
  EXPECT_NEAR(scaling.runs[2].efficiency, scaling.runs[2].speed_up / 4, 1e-12);
}

TEST(Scaling, is_that_of_runs_on_as_many_simulated_nodes) {
  const std::uint64_t rows = 1000;
  const std::uint64_t columns = 2048;
  std::vector<float> u(rows * columns, 1);
  std::vector<float> out(rows * columns, 0);
  const Job job = Job{rows, "stencil"}
                      .in("u", u, halo(1, 1))
                      .out("out", out)
                      .host_kernel([=](Chunk chunk, View<const float> v, View<float> o) {
                        for (std::uint64_t i = chunk.first * columns; i < chunk.end() * columns; ++i) o[i] = v[i];
                      });
  const auto device = open("virtual:h200");
  const Node node = load_or_measure(*device);
  const Scaling scaling = predict_scaling(node, job, 4, fast_network);
  const Shares shares = share(job, std::vector<NodeTimes>(4, node_times(node, job, 4)));
  Seconds slowest{0};
  for (const ItemRange& items : shares.items) {
    const Job part = job_of_share(job, items);
    slowest = std::max(slowest, run(*device, plan(node, part), part).observed.value);
  }
  EXPECT_NEAR(scaling.runs.back().node / slowest, 1, 0.03);
}

TEST(Scaling, wants_a_network_only_where_halos_are_exchanged) {
  const Node node = node_like_h200();
  EXPECT_THAT(message_of<UsageError>([&] { predict_scaling(node, scaled_stencil(64, 1024), 4); }),
              HasSubstr("receives up to 8 KiB of halos before a run, and nothing is known of the network"));
  EXPECT_THAT(message_of<UsageError>([&] { predict_scaling(node, scaled_stencil(64, 1024), 4, Network{}); }),
              HasSubstr("a bandwidth that is more than 0"));
  const Job alone = Job{64, "alone"}
                        .shaped<const float>("u", Role::in, 64 * 1024)
                        .shaped<float>("out", Role::out, 64 * 1024)
                        .kernel_time(milliseconds(1));
  const Scaling scaling = predict_scaling(node, alone, 4);
  EXPECT_FALSE(scaling.network);
  EXPECT_THAT(scaling.to_string(), HasSubstr("No halos have to be exchanged"));
  EXPECT_TRUE(to_json(scaling).at("network").is_null());
}

TEST(Scaling, says_what_limits) {
  const Node node = node_like_h200();
  const auto last_limit = [&](const Job& job, std::uint32_t nodes, Bandwidth bandwidth) {
    return predict_scaling(node, job, nodes, Network{bandwidth, microseconds(2), "stated"}).runs.back().limit;
  };
  EXPECT_EQ(last_limit(scaled_stencil(4096, 1 << 18), 2, {25e9}), "the link of each node");
  EXPECT_EQ(last_limit(scaled_stencil(4096, 1 << 18), 8, {1e8}), "exchange of halos");
  EXPECT_EQ(last_limit(scaled_stencil(3, 4096), 4, {25e9}), "too few items: 1 of 4 nodes get none");
  Job of_five_blocks = scaled_stencil(5 << 10, 1 << 12);
  of_five_blocks.items_per_block = 1 << 10;
  EXPECT_EQ(last_limit(of_five_blocks, 4, {1e13}), "shares of unequal size");
  EXPECT_EQ(last_limit(scaled_stencil(4096, 256), 16, {25e9}), "latencies, filling and draining");
  const Job whole = Job{4096, "whole"}
                        .shaped<const float>("u", Role::in, 4096 * 256)
                        .shaped<const float>("table", Role::broadcast, 1 << 26)
                        .shaped<float>("out", Role::out, 4096 * 256)
                        .kernel_time(milliseconds(1));
  EXPECT_EQ(last_limit(whole, 16, {25e9}), "broadcast arrays, which every node copies whole");
}

TEST(Scaling, begins_at_the_fewest_nodes_whose_memory_holds_the_job) {
  PlanOptions options;
  options.device_memory = 64_MiB;
  options.space.strategies = {"explicit"};  // the whole share is on the GPU
  const Scaling scaling = predict_scaling(node_like_h200(), scaled_stencil(4096, 4096), 8, fast_network, options);
  EXPECT_THAT(numbers_of(scaling), ElementsAre(4, 8));
  ASSERT_EQ(scaling.refused.size(), 2u);
  EXPECT_EQ(scaling.refused[1].nodes, 2u);
  EXPECT_DOUBLE_EQ(scaling.runs[0].speed_up, 4);
  EXPECT_THAT(scaling.to_string(), HasSubstr("2 nodes: "));
}

TEST(Scaling, refuses_no_nodes) {
  EXPECT_THAT(message_of<UsageError>([&] { predict_scaling(node_like_h200(), scaled_stencil(64, 64), 0); }),
              HasSubstr("`nodes` 0"));
}

}  // namespace
}  // namespace shiplap
