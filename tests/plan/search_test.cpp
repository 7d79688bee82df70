#include "shiplap/plan/search.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/strategy/limits.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

TEST(Search, of_any_size_that_is_planned_simulates_a_limited_number_of_ops) {
  const Profile profile = find_profile("h200");
  for (const Bytes size : {1_GiB, 1024_GiB, 20480_GiB, 204800_GiB, 512000_GiB})
    for (const double kernel : {1e-3, 1e3, 1e6}) {
      const Job job = in_out_job(size, size, Seconds{kernel}, size.count / 4);
      for (const char* strategy : {"streams", "hybrid", "implicit"}) {
        Search search(job, profile, {}, limits_of(profile));
        search.run(find_strategy(strategy));
        EXPECT_LE(search.simulated_ops, most_simulated_ops + 8 * most_chunks) << to_string(size) << ' ' << strategy;
        EXPECT_EQ(search.left_out > 0, search.simulated_ops > most_simulated_ops) << to_string(size) << ' ' << strategy;
      }
    }
}

// All GPUs are simulated together, so what is limited is the number of their chunks together.
TEST(Search, of_several_gpus_simulates_as_many_chunks_and_ops_as_of_one) {
  for (const std::uint32_t gpus : {8u, 16u}) {
    const Profile profile = with_gpus(find_profile("h200"), gpus);
    const Job job = in_out_job(204800_GiB, 204800_GiB, Seconds{1}, std::uint64_t{1} << 40);
    Search search(job, profile, {.gpus = gpus}, limits_of(profile));
    search.run(find_strategy("streams"));
    ASSERT_FALSE(search.tried.empty());
    for (const Candidate& candidate : search.tried)
      EXPECT_LE(candidate.choice.chunks * gpus, most_chunks) << to_string(candidate.choice);
    EXPECT_LE(search.simulated_ops, most_simulated_ops + 8 * most_chunks) << gpus;
  }
}

TEST(Ranking, of_many_gpus_lists_each_strategy_with_long_schedules_once) {
  const Profile profile = with_gpus(find_profile("h200"), 16);
  const Job job = in_out_job(64_GiB, 64_GiB, milliseconds(100), std::uint64_t{1} << 30);
  const auto ranked = [&](std::vector<std::uint32_t> chunks) {
    return rank(job, profile, {.strategies = {"streams"}, .chunks = std::move(chunks), .ramps = {Ramp{}}, .gpus = 16});
  };
  const Ranking ranking = ranked({160});
  ASSERT_EQ(ranking.candidates.size(), 1u) << "2560 chunks on all GPUs";
  EXPECT_GT(ranked({6, 8}).candidates.size(), 1u);
  const Candidate alone = predict(job, profile, ranking.best().choice);
  EXPECT_EQ(ranking.best().predicted.value, alone.predicted.value);
  EXPECT_EQ(ranking.best().predicted.low, alone.predicted.low) << "both have the bound on 16 GPUs";
  EXPECT_EQ(ranking.best().distance.total, alone.distance.total) << "and ideal overlap on them";
}

TEST(Ranking, refuses_arrays_larger_than_it_plans_also_where_their_sum_exceeds_64_bits) {
  for (const Bytes size : {most_planned, Bytes{~0ull} / 2, Bytes{~0ull} / 16 * 9})
    EXPECT_NE(message_of<UsageError>([&] {
                rank(in_out_job(size, size, Seconds{1}, 1 << 20), find_profile("h200"));
              }).find("a plan is made for at most 1 PiB"),
              std::string::npos)
        << to_string(size);
}

}  // namespace
}  // namespace shiplap
