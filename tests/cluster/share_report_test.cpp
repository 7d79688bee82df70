#include "shiplap/cluster/share_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

Job job_of_90() { return Job{90, "ninety"}.shaped<const float>("x", Role::in, 90).shaped<float>("y", Role::out, 90); }

NodeTimes ms_per_item(double ms) { return NodeTimes({{10, milliseconds(10 * ms)}}); }

RankResult rank_took(const std::string& device, double predicted, double observed) {
  return {
      .device = device, .simulated = false, .predicted = milliseconds(predicted), .observed = milliseconds(observed)};
}

TEST(ShareReport, says_what_the_slowest_rank_cost) {
  // Shares of 30, 30, 30. Rank 1 takes twice as long as predicted: 2 ms per item. The best shares are 36, 18, 36.
  const Shares shares = share(job_of_90(), {ms_per_item(1), ms_per_item(1), ms_per_item(1)});
  const ShareReport report = share_report(
      job_of_90(), shares, {rank_took("cuda:0", 30, 30), rank_took("cuda:1", 30, 60), rank_took("cuda:2", 30, 30)});
  EXPECT_EQ(report.slowest, 1u);
  EXPECT_NEAR(in_milliseconds(report.mean), 40, 1e-9);
  EXPECT_NEAR(in_milliseconds(report.cost_of_slowest()), 20, 1e-9);
  EXPECT_NEAR(in_milliseconds(report.with_best_shares), 36, 1e-9);
  EXPECT_THAT(report.to_string(), HasSubstr("Rank 1 is the slowest with 60.00 ms, 20.00 ms more than the mean"));
  EXPECT_THAT(report.to_string(), HasSubstr("the slowest rank would take 36.00 ms"));
  EXPECT_EQ(report.to_json().at("ranks").size(), 3u);
  EXPECT_EQ(report.to_json().at("slowest"), 1);
}

TEST(ShareReport, leaves_ranks_without_items_out_of_the_mean) {
  const Shares shares = share(job_of_90(), {ms_per_item(1), NodeTimes({{1, Seconds{100}}}), ms_per_item(1)});
  ASSERT_EQ(shares.items[1].count, 0u);
  const ShareReport report = share_report(job_of_90(), shares, {rank_took("a", 45, 45), {}, rank_took("b", 45, 45)});
  EXPECT_NEAR(in_milliseconds(report.mean), 45, 1e-9);
  EXPECT_THAT(report.to_string(), HasSubstr("faster by these times"));
}

TEST(ShareReport, wants_a_result_for_each_share) {
  EXPECT_THROW(share_report(job_of_90(), share(job_of_90(), {ms_per_item(1)}), {}), UsageError);
}

}  // namespace
}  // namespace shiplap
