#include "shiplap/profile/derived.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/profile/gpu_facts.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

double gigabytes(Bandwidth rate) { return rate.bytes_per_second * 1e-9; }

TEST(DerivedProfile, has_what_is_published_of_the_gpu) {
  const auto profile = derived_profile("Tesla T4");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->origin, Origin::derived);
  EXPECT_EQ(profile->name, "tesla-t4-derived");
  EXPECT_EQ(profile->gpus.at(0).sm_count, 40u);
  EXPECT_EQ(profile->gpus.at(0).memory.count, 16'000'000'000u);
  EXPECT_EQ(profile->conditions.at("gpu.link"), "8.0 GT/s PCIe x16");
}

// Copies of pinned memory that others have published or measured. PCIe 3.0 x16: 12.02 and 12.62 GB/s (van Werkhoven et
// al. 2014, Table I, a GTX Titan); cards give 12.4. PCIe 4.0 x16: 23.9 and 26.6 on two cards. An H200 on PCIe 5.0 x16:
// 55.5. Half of the lanes have half of the rate.
TEST(DerivedProfile, has_a_link_whose_interval_holds_what_such_links_were_seen_to_reach) {
  const auto expect_holds = [](const char* gpu, std::initializer_list<double> rates) {
    const auto profile = derived_profile(gpu);
    ASSERT_TRUE(profile) << gpu;
    for (const DirectionModel* way : {&profile->links.at(0).h2d, &profile->links.at(0).d2h})
      for (const double rate : rates) {
        EXPECT_LE(gigabytes(bandwidth(way->per_byte.high)), rate) << gpu;
        EXPECT_GE(gigabytes(bandwidth(way->per_byte.low)), rate) << gpu;
      }
  };
  expect_holds("Tesla T4", {12.02, 12.4, 12.62});
  expect_holds("NVIDIA A100-SXM4-40GB", {23.9, 26.6});
  expect_holds("NVIDIA GeForce RTX 4060", {23.9 / 2, 26.6 / 2});
  expect_holds("NVIDIA B200", {55.5});
}

// Nothing crosses a link faster than the link.
TEST(DerivedProfile, moves_pageable_and_managed_memory_no_faster_than_its_link) {
  const LinkModel link = derived_profile("Tesla T4")->links.at(0);
  const double limit = 15.754;  // GB/s, 8 GT/s x 16 lanes after 128b/130b
  const auto expect_slower = [&](const std::vector<TimeAt>& rows) {
    for (const TimeAt& row : rows) EXPECT_LE(gigabytes(row.size / row.time.low), limit * 1.001) << to_string(row.size);
  };
  expect_slower(link.pageable->h2d);
  expect_slower(link.pageable->d2h);
  expect_slower(link.managed->prefetch_h2d);
  expect_slower(link.managed->demand_h2d);
}

TEST(DerivedProfile, has_times_of_pageable_memory_within_a_factor_of_two_of_the_measured_ones) {
  const std::vector<TimeAt> derived = derived_profile("NVIDIA B200")->links.at(0).pageable->d2h;
  const std::vector<TimeAt> measured = find_profile("h100").links.at(0).pageable->d2h;
  ASSERT_EQ(derived.size(), measured.size());
  for (std::size_t i = 0; i < derived.size(); ++i) {
    EXPECT_EQ(derived[i].time.value, measured[i].time.value) << "copies of pinned memory are faster on both";
    EXPECT_NEAR(derived[i].time.high / measured[i].time.high, 2, 1e-9);
  }
}

TEST(DerivedProfile, of_each_gpu_that_is_known_can_be_written_and_read_again) {
  std::size_t count = 0;
  for (const std::string& name : published_gpu_names()) {
    const auto profile = derived_profile(name);
    if (!profile) {
      ADD_FAILURE() << name;
      continue;
    }
    ++count;
    const Json written = to_json(*profile);
    EXPECT_EQ(to_json(profile_from_json(written, name)), written) << name;
    EXPECT_TRUE(profile->gpus.at(0).memory_bandwidth->low < profile->gpus.at(0).memory_bandwidth->value) << name;
  }
  EXPECT_GE(count, 60u);
}

TEST(DerivedProfile, is_found_by_the_name_of_its_gpu_where_no_built_in_profile_has_the_name) {
  EXPECT_EQ(find_profile("RTX 4090").name, "rtx-4090-derived");
  EXPECT_EQ(find_profile("rtx-4090").gpus.at(0).sm_count, 128u);
  EXPECT_EQ(find_profile("H200").name, "h200");
  EXPECT_EQ(find_profile("NVIDIA H200").name, "h200") << "as the driver says it";
  EXPECT_EQ(find_profile("rtx-4090-derived").name, "rtx-4090-derived");
  EXPECT_THAT(message_of([] { find_profile("RTX 4090 Laptop GPU"); }), HasSubstr("known by their names"));
  EXPECT_THAT(message_of([] { find_profile("rtx4090"); }), HasSubstr("did you mean rtx-4090?"));
  EXPECT_THAT(message_of([] { find_profile("4090"); }), HasSubstr("did you mean rtx-4090?"));
  EXPECT_THAT(message_of([] { find_profile("A100"); }), HasSubstr("a100-sxm4-40gb"));
  EXPECT_FALSE(derived_profile("RTX 4090 Laptop GPU")) << "another GPU than the RTX 4090";
  for (const char* other : {"", "a10.txt", "t4-node-9", "NVIDIA A10-4Q", "Tesla P100-PCIE-12GB",
                            "NVIDIA H200 MIG 1g.18gb", "NVIDIA RTX PRO 6000 Blackwell Server Edition"})
    EXPECT_FALSE(derived_profile(other)) << other;
  for (const char* name :
       {"NVIDIA GeForce RTX 3090 Ti", "Tesla V100-SXM2-16GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe",
        "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA H100 PCIe",
        "NVIDIA GeForce RTX 4070 Ti SUPER", "Quadro RTX 6000", "NVIDIA L40S"})
    EXPECT_TRUE(derived_profile(name)) << name;
  EXPECT_EQ(derived_profile("RTX 4090", "8.0 GT/s PCIe x8")->conditions.at("gpu.link"), "8.0 GT/s PCIe x8");
}

TEST(KnownProfile, of_a_gpu_is_the_measured_one_before_the_derived_one_before_a_published_one) {
  EXPECT_EQ(known_profile_of("NVIDIA H200")->name, "h200");
  EXPECT_EQ(known_profile_of("NVIDIA Tesla V100 SXM2 16GB")->origin, Origin::derived);
  EXPECT_EQ(known_profile_of("NVIDIA GeForce GTX 680")->origin, Origin::published);
  EXPECT_FALSE(known_profile_of("a GPU that nobody knows"));
}

TEST(AssumedProfile, of_an_unknown_gpu_says_that_it_is_assumed) {
  const Profile profile = assumed_profile("NVIDIA Orin");
  EXPECT_EQ(profile.origin, Origin::assumed);
  EXPECT_EQ(profile.gpus.at(0).name, "NVIDIA Orin");
  EXPECT_THAT(profile.source, HasSubstr("nothing is known"));
}

}  // namespace
}  // namespace shiplap
