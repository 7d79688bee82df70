// Profiles with another number of GPUs than they have.
#include "shiplap/profile/more_gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/profile/full_profile.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Four GPUs that differ, each with a link from the node of its number and one from the next node, and with copies from
/// and to each other. Each second link has no figures for pageable memory.
Profile four_gpus() {
  const Profile one = full_profile();
  Profile profile = one;
  profile.gpus.clear();
  profile.links.clear();
  profile.missing.clear();
  profile.residuals.clear();
  for (std::uint16_t gpu = 0; gpu < 4; ++gpu) {
    profile.gpus.push_back(one.gpus[0]);
    profile.gpus.back().name = "GPU " + std::to_string(gpu);
    profile.missing.push_back({"gpus[" + std::to_string(gpu) + "].flop_rate", "of GPU " + std::to_string(gpu)});
    for (const std::uint16_t node : {gpu, static_cast<std::uint16_t>(gpu + 1)}) {
      profile.links.push_back(one.links[0]);
      profile.links.back().gpu = gpu;
      profile.links.back().numa_node = node;
    }
    const std::string second = "links[" + std::to_string(2 * gpu + 1) + "]";
    profile.links.back().pageable.reset();
    profile.missing.push_back({second + ".pageable", "of GPU " + std::to_string(gpu)});
    profile.residuals.push_back({second + ".h2d.costs", 0.01 * gpu, "4 MiB x 64"});
  }
  const auto us = [](double value) { return Interval<Seconds>::exact(microseconds(value)); };
  for (std::uint16_t from = 0; from < 4; ++from)
    for (std::uint16_t to = 0; to < 4; ++to)
      if (from != to)
        profile.peers.push_back({.from = from, .to = to, .direct = {{1_MiB, us(5)}}, .staged = {{1_MiB, us(9)}}});
  return profile;
}

std::vector<std::string> names(const Profile& profile) {
  std::vector<std::string> result;
  for (const GpuModel& gpu : profile.gpus) result.push_back(gpu.name);
  return result;
}
std::vector<std::uint16_t> gpus_of_links(const Profile& profile) {
  std::vector<std::uint16_t> result;
  for (const LinkModel& link : profile.links) result.push_back(link.gpu);
  return result;
}
std::vector<std::string> missing(const Profile& profile) {
  std::vector<std::string> result;
  for (const Missing& m : profile.missing) result.push_back(m.parameter + " " + m.reason);
  return result;
}
/// A file of the profile can be read, so that its parts and what is said about them agree.
void expect_sound(const Profile& profile) {
  EXPECT_EQ(to_json(profile_from_json(to_json(profile), "made")), to_json(profile));
}

TEST(MoreGpus, of_a_profile_with_as_many_are_its_own) {
  const Profile four = four_gpus();
  EXPECT_EQ(own_gpus(four), 4u);
  EXPECT_EQ(to_json(with_gpus(four, 4)), to_json(four));
}

TEST(MoreGpus, than_are_asked_for_are_left_out_with_links_and_copies) {
  const Profile two = with_gpus(four_gpus(), 2);
  EXPECT_THAT(names(two), ElementsAre("GPU 0", "GPU 1"));
  EXPECT_THAT(gpus_of_links(two), ElementsAre(0, 0, 1, 1));
  ASSERT_EQ(two.peers.size(), 2u);
  for (const PeerModel& peer : two.peers) EXPECT_EQ(peer.from + peer.to, 1);
  EXPECT_THAT(missing(two), ElementsAre("gpus[0].flop_rate of GPU 0", "links[1].pageable of GPU 0",
                                        "gpus[1].flop_rate of GPU 1", "links[3].pageable of GPU 1"));
  EXPECT_EQ(two.residuals.size(), 2u);
  expect_sound(two);
  const Profile one = with_gpus(four_gpus(), 1);
  EXPECT_THAT(names(one), ElementsAre("GPU 0"));
  EXPECT_THAT(one.peers, IsEmpty());
  expect_sound(one);
}

TEST(MoreGpus, share_what_those_share_that_are_left) {
  Profile four = four_gpus();
  const auto rate = Interval<Bandwidth>::exact(gigabytes_per_second(60));
  four.shared = {{.gpus = {0, 3}, .h2d = rate, .d2h = rate, .both = rate},
                 {.gpus = {0, 1, 3}, .h2d = rate, .d2h = rate, .both = rate},
                 {.gpus = {0, 1, 2, 3}, .h2d = rate, .d2h = rate, .both = rate}};
  const Profile three = with_gpus(four, 3);
  ASSERT_EQ(three.shared.size(), 2u);
  EXPECT_THAT(three.shared[0].gpus, ElementsAre(0, 1));
  EXPECT_THAT(three.shared[1].gpus, ElementsAre(0, 1, 2));
  expect_sound(three);
  EXPECT_THAT(with_gpus(four, 1).shared, IsEmpty());
  expect_sound(with_gpus(four, 1));
}

TEST(MoreGpus, than_the_profile_has_are_like_the_first) {
  const Profile six = with_gpus(four_gpus(), 6);
  EXPECT_THAT(names(six), ElementsAre("GPU 0", "GPU 1", "GPU 2", "GPU 3", "GPU 0", "GPU 0"));
  EXPECT_THAT(gpus_of_links(six), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 5));
  EXPECT_EQ(six.link(5).numa_node, 0);
  EXPECT_EQ(six.peers.size(), 12u);
  EXPECT_EQ(own_gpus(four_gpus()), 4u);
  expect_sound(six);
}

TEST(MoreGpus, follow_their_links_where_those_of_other_gpus_come_first) {
  Profile profile = four_gpus();
  std::swap(profile.links[1], profile.links[7]);
  std::erase_if(profile.missing, [](const Missing& m) { return m.parameter.starts_with("links"); });
  for (const char* second : {"links[1]", "links[3]", "links[5]", "links[7]"})
    profile.missing.push_back({std::string(second) + ".pageable", second});
  const Profile one = with_gpus(profile, 1);
  EXPECT_THAT(missing(one), ElementsAre("gpus[0].flop_rate of GPU 0", "links[1].pageable links[7]"));
  expect_sound(one);
}

// As `measure` writes it for a device of two GPUs.
TEST(MoreGpus, that_were_only_counted_are_like_the_first) {
  Profile measured = full_profile();
  GpuModel& counted = measured.gpus.emplace_back();
  counted.name = "counted";
  counted.memory = 1_GiB;
  counted.sm_count = 1;
  measured.missing.push_back({"gpus[1]", "of several GPUs the first is measured; measure this one alone"});
  EXPECT_EQ(own_gpus(measured), 1u);
  const Profile two = with_gpus(measured, 2);
  EXPECT_THAT(names(two), ElementsAre("planted GPU", "planted GPU"));
  EXPECT_THAT(gpus_of_links(two), ElementsAre(0, 1));
  EXPECT_THAT(missing(two),
              ElementsAre("gpus[0].flop_rate left out by the test", "gpus[1].flop_rate left out by the test"));
  expect_sound(two);
}

TEST(MoreGpus, are_1_to_64) {
  EXPECT_THROW(with_gpus(full_profile(), 0), UsageError);
  EXPECT_EQ(with_gpus(full_profile(), 64).gpus.size(), 64u);
  EXPECT_THROW(with_gpus(full_profile(), 65), UsageError);
}

}  // namespace
}  // namespace shiplap
