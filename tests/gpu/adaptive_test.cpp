// Batches through streams that executions share, on a real GPU.
#include "shiplap/pipeline/adaptive.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/launches.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using testing::OnGpu;

/// Histograms of small frames, on the built-in profile: predictions are none of what is tested here.
struct AdaptiveOnGpu : OnGpu {
  Workload workload = find_workload("histogram:frames=32,width=352,height=288");
  Node node() { return node_of(*device, find_profile("h200")); }
};

TEST_F(AdaptiveOnGpu, every_batch_under_every_choice_is_right) {
  for (const std::uint32_t in_flight : {1u, 3u}) {
    Adaptive adaptive(node(), workload.job, {.in_flight = in_flight});
    for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) workload.fill(adaptive.arrays(slot));
    std::vector<std::uint32_t> all;
    for (std::uint32_t c = 0; c < adaptive.table().choices.size(); ++c) all.insert(all.end(), 7, c);
    for (std::uint32_t c = 0; c < adaptive.table().choices.size(); ++c) all.push_back(c);
    Fixed every(all);
    std::uint64_t wrong = 0;
    const auto report = adaptive.run(
        every, [&](Batch& batch) { return batch.number < all.size(); },
        [&](const Batch& batch) {
          wrong += !workload.verify(batch.arrays).empty();
          std::memset(batch.arrays[1].data(), 0xff, batch.arrays[1].size());
        });
    EXPECT_EQ(wrong, 0u) << in_flight;
    EXPECT_EQ(report.batches, all.size());
  }
}

TEST_F(AdaptiveOnGpu, batches_in_flight_take_less_time_than_those_that_are_waited_for) {
  std::map<std::uint32_t, double> rates;
  for (int round = 0; round < 3; ++round)
    for (const std::uint32_t in_flight : {1u, 3u}) {
      Adaptive adaptive(node(), workload.job, {.in_flight = in_flight});
      for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) workload.fill(adaptive.arrays(slot));
      Fixed unstreamed(0);
      const auto source = [](Batch& batch) { return batch.number < 500; };
      rates[in_flight] = std::max(rates[in_flight], adaptive.run(unstreamed, source).rate());
    }
  EXPECT_GT(rates[3], 1.2 * rates[1]) << "copies in, kernel and copies out of different batches overlap";
}

TEST_F(AdaptiveOnGpu, kernels_are_observed_without_the_marks_around_them) {
  Adaptive adaptive(node(), workload.job, {.in_flight = 1});
  for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) workload.fill(adaptive.arrays(slot));
  const Seconds planned = kernel_time(adaptive.batch(), 32, 0);
  Adaptation adaptation(adaptive.table());
  std::vector<double> ratios;
  adaptive.run(
      adaptation, [](Batch& batch) { return batch.number < 400; }, {},
      [&](const Adaptive::Progress& progress) {
        if (adaptive.table().choices[progress.seen.choice].chunks == 1 && !progress.seen.kernels.empty())
          ratios.push_back(progress.seen.kernels.front() / planned);
      });
  if (ratios.empty()) GTEST_SKIP() << "one chunk was never chosen here";
  EXPECT_NEAR(median(ratios), 1, 0.15) << "the kernel was timed alone before";
}

/// Runs every batch without streams and asks for its stages.
struct AsksForStages : Policy {
  std::uint32_t choice(std::uint64_t) override { return 0; }
  TraceLevel trace_level(std::uint64_t) const override { return TraceLevel::stages; }
  std::optional<BatchDecision> observe(const BatchObservation&) override { return std::nullopt; }
};

TEST_F(AdaptiveOnGpu, the_stages_of_a_batch_without_streams_are_seen_by_a_policy_that_asks_for_them) {
  Adaptive adaptive(node(), workload.job, {.in_flight = 1});
  for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) workload.fill(adaptive.arrays(slot));
  ASSERT_EQ(adaptive.table().choices.front().chunks, 1u);
  AsksForStages policy;
  std::optional<StageTimes> stages;
  adaptive.run(
      policy, [](Batch& batch) { return batch.number < 20; }, {},
      [&](const Adaptive::Progress& progress) {
        if (progress.seen.stages) stages = progress.seen.stages;
      });
  ASSERT_TRUE(stages);
  EXPECT_GT(stages->h2d, stages->d2h) << "frames are larger than histograms";
  EXPECT_GT(stages->kernel, Seconds{0});
}

}  // namespace
}  // namespace shiplap
