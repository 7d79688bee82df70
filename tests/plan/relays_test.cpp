#include "shiplap/plan/relays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/ranking.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/linked_gpus.hpp"

namespace shiplap {
namespace {

Ranking ranked(const Job& job, const Profile& profile, std::uint32_t relays, std::optional<double> max_slowdown = {}) {
  SearchSpace space{.strategies = {"explicit", "streams"}, .max_slowdown = max_slowdown};
  for (std::uint16_t gpu = 1; gpu <= relays; ++gpu) space.relays.push_back(gpu);
  return rank(job, profile, space);
}
double seconds_of(const Ranking& ranking) { return ranking.best().predicted.value.count(); }
bool relays(const Ranking& ranking) { return !ranking.best().choice.relay.through.empty(); }

const Job large_input = in_out_job(1_GiB, 1_MiB, milliseconds(1), 4096);

TEST(Relays, let_a_large_input_arrive_over_two_links_in_half_the_time_and_over_four_in_a_quarter) {
  const double alone = seconds_of(ranked(large_input, linked_gpus(4), 0));
  EXPECT_NEAR(alone / seconds_of(ranked(large_input, linked_gpus(2), 1)), 2, 0.1);
  EXPECT_NEAR(alone / seconds_of(ranked(large_input, linked_gpus(4), 3)), 4, 0.4);
}

TEST(Relays, are_never_slower_than_the_own_link_and_never_below_the_bound) {
  for (const Bytes size : {16_KiB, 256_KiB, 1_MiB, 4_MiB, 64_MiB})
    for (const double kernel : {0.01, 1.0, 20.0}) {
      const Job job = in_out_job(size, size, milliseconds(kernel), 256);
      const Ranking without = ranked(job, linked_gpus(2), 0);
      const Ranking with = ranked(job, linked_gpus(2), 1);
      EXPECT_LE(seconds_of(with), seconds_of(without) * 1.0001) << to_string(size) << ", " << kernel;
      EXPECT_GE(seconds_of(with), with.bound.time.count()) << to_string(size) << ", " << kernel;
      EXPECT_LE(with.bound.time, without.bound.time);
    }
  EXPECT_FALSE(relays(ranked(in_out_job(64_KiB, 64_KiB, microseconds(10), 64), linked_gpus(2), 1)));
  EXPECT_FALSE(relays(ranked(in_out_job(1_MiB, 1_MiB, milliseconds(50), 64), linked_gpus(2), 1)))
      << "the kernel takes the time";
}

TEST(Relays, are_left_out_behind_one_uplink_and_use_what_it_has_to_spare) {
  const double alone = seconds_of(ranked(large_input, linked_gpus(2), 0));
  EXPECT_NEAR(seconds_of(ranked(large_input, linked_gpus_behind_uplink(2, 1), 1)) / alone, 1, 0.01);
  EXPECT_NEAR(alone / seconds_of(ranked(large_input, linked_gpus_behind_uplink(2, 1.5), 1)), 1.5, 0.06);
}

TEST(Relays, are_those_of_other_uplinks_before_those_that_share_the_own_one) {
  // Pairs behind an uplink each, which a single link fills: GPU 0 and 1, 2 and 3, 4 and 5.
  Profile profile = linked_gpus(6);
  const double link = 1 / profile.link(0).h2d.per_byte.value.seconds;
  for (std::uint16_t first = 0; first < 6; first += 2)
    profile.shared.push_back({.gpus = {first, static_cast<std::uint16_t>(first + 1)},
                              .h2d = Interval<Bandwidth>::exact({link}),
                              .d2h = Interval<Bandwidth>::exact({link}),
                              .both = Interval<Bandwidth>::exact({2 * link})});
  const double alone = seconds_of(ranked(large_input, profile, 0));
  EXPECT_FALSE(relays(ranked(large_input, profile, 1)));
  for (const std::uint32_t relaying : {3u, 5u}) {
    const Ranking ranking = ranked(large_input, profile, relaying);
    const std::vector<RelayShare>& through = ranking.best().choice.relay.through;
    ASSERT_EQ(through.size(), (relaying - 1) / 2) << "one GPU of each other pair";
    for (const RelayShare& one : through) EXPECT_GE(one.gpu, 2u);
    const double others = static_cast<double>(through.size());
    EXPECT_NEAR(alone / seconds_of(ranking), 1 + others, 0.12 * others);
  }
}

TEST(Relays, are_left_out_where_copies_between_the_gpus_are_unknown) {
  Profile profile = linked_gpus(2);
  std::erase_if(profile.peers, [](const PeerModel& peer) { return peer.from == 1; });
  EXPECT_TRUE(relays_worth_trying(copies_of(large_input), profile, std::array<std::uint16_t, 1>{1}, {}).empty());
  EXPECT_FALSE(relays(ranked(large_input, profile, 1)));
}

TEST(Relays, cost_a_kernel_on_the_relaying_gpu_what_is_copied_through_its_memory) {
  Profile profile = linked_gpus(2);
  const double in = 1 / profile.link(1).h2d.per_byte.value.seconds;
  const double out = 1 / profile.link(1).d2h.per_byte.value.seconds;
  profile.gpus[1].copy_bandwidth = Interval<Bandwidth>::exact({(in + out) / 0.04});
  EXPECT_NEAR(slowdown_of_relaying(copies_of(large_input), profile, 1).value(), 0.04, 1e-12);
  EXPECT_TRUE(relays(ranked(large_input, profile, 1, 0.05)));
  EXPECT_FALSE(relays(ranked(large_input, profile, 1, 0.03)));
  for (GpuModel& gpu : profile.gpus) gpu.copy_bandwidth.reset();
  EXPECT_FALSE(relays(ranked(large_input, profile, 1, 0.5))) << "what it costs is unknown";
}

// Shares, pieces and numbers of chunks that the search does not try are no better by more than 2 %.
TEST(Relays, are_chosen_within_two_per_cent_of_a_sweep_over_shares_pieces_and_chunks) {
  std::mt19937 random(7);
  const auto draw = [&](std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random);
  };
  for (int number = 0; number < 4; ++number) {
    const Bytes in = 1_MiB * (1 + draw(number % 2 == 0 ? 40 : 400));
    const Bytes out = 1_MiB * (1 + draw(number % 3 == 0 ? 4 : 200));
    const Job job = in_out_job(in, out, microseconds(static_cast<double>(1 + draw(8000))), 2048);
    const Profile profile = linked_gpus_behind_uplink(2, number % 2 == 0 ? 2 : 1.4);
    const Ranking ranking = ranked(job, profile, 1);
    double least = 1e9;
    for (const std::uint32_t chunks : {1u, 2u, 4u, 8u, 16u, 24u, 32u, 64u})
      for (const Bytes piece : {1_MiB, 2_MiB, 4_MiB, 8_MiB})
        for (const double share : {0.0, 0.15, 0.25, 0.3, 0.35, 0.4, 0.43, 0.46, 0.48, 0.5, 0.52}) {
          Choice choice{.chunks = chunks};
          if (share > 0) choice.relay = {.through = {{1, share}}, .piece = piece};
          const Candidate other = predict(job, profile, choice);
          least = std::min(least, other.predicted.value.count());
        }
    EXPECT_LT(seconds_of(ranking), least * 1.02) << number << ": " << to_string(ranking.best().choice);
  }
}

}  // namespace
}  // namespace shiplap
