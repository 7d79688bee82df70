#include "shiplap/other_tools/imported_profile.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/measure/compare.hpp"
#include "shiplap/profile/missing.hpp"
#include "shiplap/sim/assumptions.hpp"
#include "tests/other_tools/outputs.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

Profile imported(const std::string& text, const ImportOptions& options = {}) {
  const Profile profile = imported_profile(read_tool_output(text, "figures"), options);
  EXPECT_EQ(to_json(profile_from_json(to_json(profile), "profile")), to_json(profile)) << "it can be written and read";
  return profile;
}

TEST(ImportedProfile, has_the_rates_of_nvbandwidth_for_each_gpu) {
  const Profile profile = imported(outputs::nvbandwidth_text);
  EXPECT_EQ(profile.origin, Origin::imported);
  EXPECT_EQ(profile.name, "nvidia-a10-imported");
  ASSERT_EQ(profile.links.size(), 2U);
  EXPECT_DOUBLE_EQ(profile.link(0).h2d.per_byte.value.seconds, 0.04e-9);
  EXPECT_DOUBLE_EQ(profile.link(0).d2h.per_byte.value.seconds, 0.05e-9);
  EXPECT_DOUBLE_EQ(profile.link(1).h2d.per_byte.value.seconds, 0.08e-9);
  EXPECT_DOUBLE_EQ(profile.link(0).h2d.duplex->per_byte.value.seconds, 0.0625e-9);
  EXPECT_DOUBLE_EQ(profile.gpus[1].copy_bandwidth->value.bytes_per_second, 200e9);
  ASSERT_EQ(profile.peers.size(), 2U);
  EXPECT_NEAR(time_at(profile.peers[0].direct, 256_MiB).count(), in_bytes(256_MiB) / 10e9, 1e-5) << "from 0 to 1";
}

TEST(ImportedProfile, has_intervals_as_wide_as_sound_nodes_differ_between_runs) {
  const Interval<PerByte> g = imported(outputs::nvbandwidth_text).link(0).h2d.per_byte;
  EXPECT_NEAR(g.low.seconds, 0.04e-9 / 1.05, 1e-15);
  EXPECT_NEAR(g.high.seconds, 0.04e-9 * 1.05, 1e-15);
  // 0.5 GB/s with one decimal may be 0.45 or 0.55: an error of a tenth.
  const Interval<PerByte> rounded =
      imported(
          "Device 0: Tesla T4\nbandwidthTest-H2D-Pinned, Bandwidth = 0.5 GB/s, Time = 0.064 s, Size = 32000000 "
          "bytes\n")
          .link(0)
          .h2d.per_byte;
  EXPECT_NEAR(rounded.high.seconds, 2e-9 * 1.1, 1e-12);
}

TEST(ImportedProfile, takes_what_nobody_measured_for_assumed_and_says_so) {
  const Profile profile = imported(outputs::nvbandwidth_text);
  for (const char* parameter : {"links[0].h2d.costs.latency_overhead", "links[0].d2h.costs.gap", "host", "submission"})
    EXPECT_TRUE(is_missing(profile, parameter)) << parameter;
  const Interval<Seconds> latency = profile.link(0).h2d.costs.front().latency_overhead;
  for (const char* measured : {"h100", "h200", "gtx-titan-2014"}) {
    const Profile known = find_profile(measured);
    for (const CopyCost& cost : known.link(0).h2d.costs) {
      EXPECT_LE(latency.low, cost.latency_overhead.value) << measured;
      EXPECT_GE(latency.high, cost.latency_overhead.value) << measured;
    }
  }
  const std::vector<std::string> sentences = sim::assumptions(profile);
  ASSERT_FALSE(sentences.empty());
  EXPECT_THAT(sentences.front(), HasSubstr("h2d.costs.gap"));
}

TEST(ImportedProfile, has_the_latency_of_small_copies_where_single_copies_were_timed) {
  // 3.082 µs for 1 KiB, which take 0.082 µs of it at 64 MiB in 5.368709 ms.
  const Profile profile = imported(outputs::comm_scope, {.gpu = "Tesla T4"});
  EXPECT_NEAR(in_microseconds(cost_at(profile.link(0).h2d, 1_KiB).latency_overhead), 3.082 - 0.0819, 0.001);
  EXPECT_FALSE(is_missing(profile, "links[0].h2d.costs.latency_overhead"));
  EXPECT_TRUE(is_missing(profile, "links[0].h2d.costs.gap"));
  EXPECT_EQ(profile.gpus.front().name, "Tesla T4");
}

TEST(ImportedProfile, has_times_of_pageable_copies_of_all_sizes_from_one_rate) {
  const Profile profile = imported(outputs::bandwidth_csv);
  ASSERT_TRUE(profile.link(0).pageable);
  const std::vector<TimeAt>& rows = profile.link(0).pageable->h2d;
  EXPECT_NEAR(time_at(rows, Bytes{32'000'000}).count(), 8e-3, 1e-9);
  EXPECT_NEAR(time_at(rows, Bytes{64'000'000}).count(), 16e-3, 1e-9);
  EXPECT_NEAR(time_at(rows, 1_MiB).count(), 262.1e-6 + 3.5e-6, 1e-6) << "4 GB/s and an assumed latency";
  EXPECT_LT(time_at(rows, 4_KiB), microseconds(10));
}

TEST(ImportedProfile, assumes_the_other_direction_where_one_was_measured) {
  const Profile profile = imported(
      "Device 0: Tesla T4\nbandwidthTest-D2H-Pinned, Bandwidth = 10.0 GB/s, Time = 0.0032 s, Size = 32000000 bytes\n");
  EXPECT_TRUE(is_missing(profile, "links[0].h2d.per_byte"));
  EXPECT_EQ(profile.link(0).h2d.per_byte.value, profile.link(0).d2h.per_byte.value);
  EXPECT_GT(profile.link(0).h2d.per_byte.high.seconds, 1.5 * profile.link(0).d2h.per_byte.value.seconds);
}

// Nobody has measured what is assumed, so it is neither good nor compared.
TEST(ImportedProfile, is_not_judged_by_a_direction_that_is_assumed) {
  const Profile profile = imported(
      "Device 0: Tesla T4\nbandwidthTest-D2H-Pinned, Bandwidth = 10.0 GB/s, Time = 0.0032 s, Size = 32000000 bytes\n");
  std::map<std::string, Verdict> verdicts;
  for (const CheckedFigure& figure : check(profile)) verdicts[figure.what] = figure.verdict;
  EXPECT_NE(verdicts.at("copies from the GPU"), Verdict::unknown);
  for (const char* what : {"copies to the GPU", "the slower direction against the faster"})
    EXPECT_EQ(verdicts.at(what), Verdict::unknown) << what;
  const Comparison compared = compare(profile, profile);
  ASSERT_EQ(compared.figures.size(), 1u);
  EXPECT_EQ(compared.figures[0].baseline.primitive, "burst.pinned.d2h");
}

TEST(ImportedProfile, without_copies_of_the_host_has_no_link) {
  const Profile profile = imported(outputs::p2p);
  EXPECT_TRUE(profile.links.empty());
  ASSERT_EQ(profile.peers.size(), 2U);
  EXPECT_NEAR(time_at(profile.peers[0].direct, 64_MiB).count(), in_bytes(64_MiB) / 20e9, 1e-9);
  EXPECT_NEAR(in_microseconds(time_at(profile.peers[0].direct, 4_KiB)), 2.0 + 4096 / 20e3, 0.01);
  EXPECT_TRUE(profile.peers[1].direct.empty()) << "GPU 1 cannot address the memory of GPU 0";
  EXPECT_FALSE(profile.peers[1].staged.empty());
}

TEST(ImportedProfile, has_the_own_parameters_of_a_gpu_that_is_built_in) {
  const std::string text = "Device 0: NVIDIA H100 80GB HBM3 (00000000:17:00)\n" +
                           outputs::nvbandwidth_text.substr(outputs::nvbandwidth_text.find("Running"));
  EXPECT_EQ(imported(text).gpus.front().launch_latency, find_profile("h100").gpus.front().launch_latency);
  EXPECT_FALSE(imported(outputs::nvbandwidth_text).gpus.front().launch_latency);
}

TEST(ImportedProfile, asks_for_the_gpu_where_it_is_unknown) {
  EXPECT_THROW(imported_profile(read_tool_output(outputs::comm_scope, "figures")), UsageError);
  for (const char* unknown :
       {"NVIDIA Unheard 1", "NVIDIA GeForce RTX 3090 Ti Laptop GPU", "NVIDIA H200 MIG 1g.18gb", " "})
    EXPECT_THROW(imported_profile(read_tool_output(outputs::bandwidth_csv, "figures"), {.gpu = unknown}), UsageError)
        << unknown;
}

TEST(ImportedProfile, is_judged_by_the_fastest_link_that_its_gpu_can_have) {
  const std::vector<CheckedFigure> figures = check(imported(outputs::nvbandwidth_text));
  const auto copies = std::ranges::find(figures, "copies to the GPU", &CheckedFigure::what);
  ASSERT_NE(copies, figures.end());
  EXPECT_NEAR(copies->fraction, 25.0 / 31.508, 0.001) << "16 lanes of 16 GT/s with 128b/130b";
  EXPECT_EQ(copies->verdict, Verdict::good);
}

TEST(ImportedProfile, is_compared_by_its_rates) {
  std::string slower = outputs::nvbandwidth_text;
  slower.replace(slower.find("25.00"), 5, "18.00");
  const Comparison comparison = compare(imported(outputs::nvbandwidth_text), imported(slower));
  EXPECT_EQ(comparison.count(Change::degraded), 1U);
  const auto degraded = std::ranges::find(comparison.figures, Change::degraded, &ComparedFigure::change);
  EXPECT_EQ(degraded->now.primitive, "burst.pinned.h2d");
  EXPECT_NEAR(degraded->slower.value, 25.0 / 18.0, 1e-9);
  EXPECT_FALSE(compare(imported(outputs::nvbandwidth_text), imported(outputs::nvbandwidth_text)).degraded());
  EXPECT_THROW(compare(imported(outputs::p2p), imported(outputs::comm_scope, {.gpu = "Tesla T4"})), Error);
}

TEST(ImportedProfile, of_several_numa_nodes_puts_the_fastest_link_first) {
  std::string text =
      "Test#,Transfer#,NumBytes,Src,Exe,Dst,CUs,BW(GB/s),Time(ms),SrcAddr,DstAddr\n"
      "1,0,67108864,C0,D0,G0,1,12.000,5.592,0x1,0x2\n"
      "2,0,67108864,C1,D0,G0,1,25.000,2.684,0x1,0x2\n";
  const Profile profile = imported(text, {.name = "node", .gpu = "A40"});
  EXPECT_EQ(profile.name, "node");
  EXPECT_EQ(profile.link(0).numa_node, 1);
  EXPECT_EQ(profile.links.size(), 2U);
}

}  // namespace
}  // namespace shiplap
