#include "shiplap/plan/what_if.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/ranking.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Profile on_pcie5() {
  Profile profile = planted_profile();
  profile.conditions["gpu.link"] = "32.0 GT/s PCIe x16";
  return profile;
}

double rate(const Profile& p) { return 1e-9 / p.links[0].h2d.per_byte.value.seconds; }

TEST(WhatIf, gives_a_link_of_another_generation_its_share_of_the_bandwidth) {
  EXPECT_NEAR(rate(what_if(on_pcie5(), "link=pcie4")), 55.0 / 2, 1e-9);
  EXPECT_NEAR(rate(what_if(on_pcie5(), "link=x4")), 55.0 / 4, 1e-9);
  EXPECT_NEAR(rate(what_if(on_pcie5(), "link=1.5")), 55.0 * 1.5, 1e-9);
  // 64 GT/s with 242 of 256 bytes of a flit, against 32 GT/s with 128 of 130 bits.
  EXPECT_NEAR(rate(what_if(on_pcie5(), "link=pcie6")), 55.0 * 2 * (242.0 / 256) / (128.0 / 130), 1e-9);
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
  EXPECT_EQ(after.origin, Origin::derived);
  EXPECT_NE(after.source.find(parameter_hash(before)), std::string::npos);
}

TEST(WhatIf, leaves_unknown_what_does_not_follow_from_another_link_and_can_be_saved) {
  const Profile after = what_if(on_pcie5(), "link=x8");
  EXPECT_FALSE(after.links[0].pageable);
  EXPECT_FALSE(after.links[0].managed);
  EXPECT_FALSE(after.links[0].blocks);
  EXPECT_NO_THROW(profile_from_json(to_json(after), "derived"));
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
}

}  // namespace
}  // namespace shiplap
