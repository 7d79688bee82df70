#include "shiplap/profile/what_if.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Profile on_pcie5() {
  Profile profile = planted_profile();
  profile.conditions["gpu.link"] = "32.0 GT/s PCIe x16";
  return profile;
}

double h2d_rate(const Profile& p) { return 1e-9 / p.links[0].h2d.per_byte.value.seconds; }

TEST(WhatIf, leaves_what_the_host_limits_and_scales_what_is_the_sum_of_the_links) {
  Profile two = with_gpus(planted_profile(), 2);
  const auto gbs = [](double rate) { return gigabytes_per_second(rate); };
  two.shared = {{.gpus = {0, 1},
                 .h2d = Interval<Bandwidth>::exact(gbs(110)),
                 .d2h = Interval<Bandwidth>::exact(gbs(108)),
                 .both = {gbs(154), gbs(153), gbs(155)}}};
  const Profile faster = what_if(two, "link=2");
  EXPECT_NEAR(faster.shared.at(0).h2d.value.bytes_per_second, 220e9, 1e6);
  EXPECT_NEAR(faster.shared.at(0).d2h.value.bytes_per_second, 216e9, 1e6);
  EXPECT_NEAR(faster.shared.at(0).both.value.bytes_per_second, 154e9, 1e6);
}

TEST(WhatIf, gives_a_link_of_another_generation_its_share_of_the_bandwidth) {
  EXPECT_NEAR(h2d_rate(what_if(on_pcie5(), "link=pcie4")), 55.0 / 2, 1e-9);
  EXPECT_NEAR(h2d_rate(what_if(on_pcie5(), "link=x4")), 55.0 / 4, 1e-9);
  EXPECT_NEAR(h2d_rate(what_if(on_pcie5(), "link=1.5")), 55.0 * 1.5, 1e-9);
  // 64 GT/s with 242 of 256 bytes of a flit, against 32 GT/s with 128 of 130 bits.
  EXPECT_NEAR(h2d_rate(what_if(on_pcie5(), "link=pcie6")), 55.0 * 2 * (242.0 / 256) / (128.0 / 130), 1e-9);
}

TEST(WhatIf, changes_what_moves_over_the_link_and_nothing_else) {
  const Profile before = on_pcie5();
  const Profile after = what_if(before, "link=pcie4");
  EXPECT_DOUBLE_EQ(after.links[0].d2h.duplex->per_byte.value.seconds,
                   2 * before.links[0].d2h.duplex->per_byte.value.seconds);
  EXPECT_DOUBLE_EQ(after.links[0].zero_copy->read[0].rate.value.bytes_per_second,
                   before.links[0].zero_copy->read[0].rate.value.bytes_per_second / 2);
  EXPECT_EQ(after.links[0].h2d.costs[0].gap, before.links[0].h2d.costs[0].gap);
  EXPECT_EQ(after.gpus[0].memory_bandwidth, before.gpus[0].memory_bandwidth);
  EXPECT_EQ(after.conditions.at("gpu.link"), "16.0 GT/s PCIe x16");
  EXPECT_EQ(after.origin, Origin::assumed);
  EXPECT_EQ(after.name, before.name + ", assumed link=pcie4");
  EXPECT_NE(after.source.find(parameter_hash(before)), std::string::npos);
}

// Line rates of 16 lanes: 2.5 and 5 GT/s with 8 of 10 bits are 4 and 8 GB/s; 8 GT/s with 128 of 130 bits are 15.7538.
TEST(WhatIf, knows_the_older_generations) {
  const Profile titan = find_profile("gtx-titan-2014");
  EXPECT_NEAR(h2d_rate(what_if(titan, "link=pcie2")), 12.0216 * 8 / 15.7538, 1e-3);
  EXPECT_NEAR(h2d_rate(what_if(titan, "link=pcie1")), 12.0216 * 4 / 15.7538, 1e-3);
}

// 55 of 63.0154 GB/s on PCIe 5: on half of the link, between 31.5077 GB/s and 27.5 x 55 / 63.0154.
TEST(WhatIf, is_as_uncertain_as_the_fraction_of_the_limit_that_copies_reach) {
  const Profile after = what_if(on_pcie5(), "link=pcie4");
  const Interval<PerByte>& g = after.links[0].h2d.per_byte;
  EXPECT_NEAR(in_gigabytes_per_second(bandwidth(g.low)), 31.5077, 1e-3);
  EXPECT_NEAR(in_gigabytes_per_second(bandwidth(g.high)), 27.5 * 55 / 63.0154, 1e-3);
  const Job job = in_out_job(1_GiB, 1_MiB, milliseconds(0.1), 1 << 20);
  const Interval<Seconds> time = predict(job, after, {.strategy = "explicit"}).predicted;
  EXPECT_GT((time.high - time.low) / time.value, 2 * 0.1) << "a link that nobody measured";
  // A link that the profile does not name has the fraction of Table I: 12.0216 of 15.7538 GB/s.
  const Interval<PerByte> unnamed = what_if(planted_profile(), "link=0.5").links[0].h2d.per_byte;
  EXPECT_NEAR(unnamed.low.seconds / unnamed.value.seconds, 12.0216 / 15.7538, 1e-4);
}

TEST(WhatIf, keeps_times_of_pageable_and_managed_memory_with_their_width) {
  const Profile before = on_pcie5();
  const Profile slower = what_if(before, "link=x8");
  const Profile faster = what_if(before, "link=2");
  for (std::size_t i = 0; i < before.links[0].pageable->h2d.size(); ++i) {
    const TimeAt& was = before.links[0].pageable->h2d[i];
    const Interval<Seconds>& half = slower.links[0].pageable->h2d[i].time;
    EXPECT_EQ(half.low, was.time.low);
    EXPECT_EQ(half.high, was.time.high * 2);
    EXPECT_GE(half.value, std::min(half.high, was.size * slower.links[0].h2d.per_byte.value));
    EXPECT_EQ(faster.links[0].pageable->h2d[i].time.value, was.time.value) << "the CPU limits it";
    EXPECT_EQ(faster.links[0].pageable->h2d[i].time.low, was.time.low / 2);
  }
  ASSERT_TRUE(slower.links[0].managed);
  EXPECT_EQ(slower.links[0].managed->demand_h2d.front().time.low, before.links[0].managed->demand_h2d.front().time.low);
}

TEST(WhatIf, leaves_unknown_what_does_not_follow_from_another_link_and_can_be_saved) {
  const Profile after = what_if(on_pcie5(), "link=x8");
  EXPECT_FALSE(after.links[0].blocks);
  EXPECT_NO_THROW(profile_from_json(to_json(after), "assumed"));
}

TEST(WhatIf, doubles_a_transfer_bound_job_on_half_the_link) {
  const Job job = in_out_job(1_GiB, 1_MiB, milliseconds(0.1), 1 << 20);
  const auto time = [&](const Profile& p) { return predict(job, p, {.strategy = "explicit"}).predicted.value; };
  // 19.522 ms of copies to the GPU become 39.045 ms; everything else is below 0.2 ms.
  EXPECT_NEAR(in_milliseconds(time(what_if(on_pcie5(), "link=x8")) - time(on_pcie5())), 19.522, 0.05);
}

TEST(WhatIf, refuses_what_it_does_not_know) {
  for (const char* what : {"link=pcie9", "link=x3", "link=0", "link=-1", "link=fast", "kernel=2", ""})
    EXPECT_THROW(what_if(on_pcie5(), what), UsageError) << what;
  EXPECT_THROW(what_if(planted_profile(), "link=pcie4"), Unsupported) << "it does not say which link it has";
  EXPECT_NO_THROW(what_if(planted_profile(), "link=0.5"));
  try {
    what_if(find_profile("tesla-k20m-2014"), "link=pcie2");
    ADD_FAILURE() << "there is nothing to scale";
  } catch (const Unsupported& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("`with_link`"), std::string::npos) << refusal.what();
  }
}

// G of Table I at the rate of PCIe 2: 6.10 GB/s. From Fig. 10, G of the K20 is between 6.0 and 7.0 GB/s.
TEST(WithLink, gives_the_published_link_of_another_generation) {
  const Profile k20 = with_link(find_profile("tesla-k20m-2014"), "pcie2");
  EXPECT_NEAR(h2d_rate(k20), 6.1047, 1e-3);
  EXPECT_NEAR(in_milliseconds(cost_at(k20.links[0].h2d, 1_MiB).latency_overhead), 0.009420, 1e-12);
  EXPECT_NEAR(in_milliseconds(cost_at(k20.links[0].d2h, 1_MiB).gap), 0.002674, 1e-12);
  EXPECT_EQ(k20.origin, Origin::assumed);
  EXPECT_EQ(k20.name, "tesla-k20m-2014, assumed link pcie2");
  EXPECT_EQ(k20.gpus[0].copy_engines, 2u);
  EXPECT_NO_THROW(profile_from_json(to_json(k20), "assumed"));
}

TEST(WithLink, takes_the_link_of_another_profile) {
  const Profile h200 = find_profile("h200");
  const Profile v100 = with_link(find_profile("ac922-v100-2019"), "h200");
  EXPECT_EQ(v100.links[0].h2d.per_byte.value, h200.links[0].h2d.per_byte.value);
  EXPECT_LT(v100.links[0].h2d.per_byte.low, h200.links[0].h2d.per_byte.low);
  EXPECT_FALSE(v100.links[0].zero_copy) << "the rates of another GPU's kernels";
  EXPECT_TRUE(rank(in_out_job(1_GiB, 1_MiB, milliseconds(0.1), 1 << 20), v100).assumed_link);
}

TEST(WithLink, refuses_what_it_does_not_know) {
  const Profile k20 = find_profile("tesla-k20m-2014");
  EXPECT_THROW(with_link(find_profile("h200"), "pcie2"), UsageError) << "it has a link";
  for (const char* what : {"pcie9", "x8", "0.5", ""}) EXPECT_THROW(with_link(k20, what), UsageError) << what;
  EXPECT_THROW(with_link(k20, "gtx-680-2014"), Unsupported) << "it has no link either";
}

}  // namespace
}  // namespace shiplap
