#include "shiplap/other_tools/exported_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "shiplap/core/error.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

/// A link of 50 GB/s to the GPU and 40 GB/s to the host, L+o of 10 µs and g of 2 µs.
Profile plain() {
  Profile profile = planted_profile();
  LinkModel& link = profile.links.front();
  const auto direction = [](double rate) {
    return DirectionModel{
        .per_byte = Interval<PerByte>::exact({1 / (rate * 1e9)}),
        .costs = {{4_KiB, Interval<Seconds>::exact(microseconds(10)), Interval<Seconds>::exact(microseconds(2))}},
        .duplex = {}};
  };
  link.h2d = direction(50);
  link.d2h = direction(40);
  link.pageable.reset();
  return profile;
}

TEST(ExportedProfile, as_a_table_has_the_time_of_one_copy_by_direction_and_size) {
  std::istringstream text(exported_profile(plain(), ExportForm::csv));
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, "direction,memory,bytes,seconds,bytes_per_second,origin,profile_hash");
  std::size_t rows = 0;
  while (std::getline(text, line)) {
    ++rows;
    if (line.starts_with("d2h,pinned,1048576,")) {
      EXPECT_NEAR(std::stod(line.substr(19)), 10e-6 + 1048576 / 40e9, 1e-10);
    }
  }
  EXPECT_EQ(rows, 20u);
}

TEST(ExportedProfile, for_aisimulate_has_rates_in_gigabytes_and_a_latency_in_milliseconds) {
  const std::string text = exported_profile(plain(), ExportForm::aisimulate);
  EXPECT_THAT(text, HasSubstr("host_offload:\n  d2h_bandwidth_gbps: 40\n  h2d_bandwidth_gbps: 50\n"
                              "  latency_to_first_byte_ms: 0.01\n"));
}

// 2 µs and 2,000,000 bytes at 40 GB/s, which take 50 µs: inference-sim charges the tokens of a block over the rate.
TEST(ExportedProfile, for_inference_sim_counts_tokens_in_microseconds) {
  const std::string text = exported_profile(plain(), ExportForm::inference_sim, CacheBlock{Bytes{2'000'000}, 16});
  EXPECT_THAT(text, HasSubstr("--kv-transfer-bandwidth 0.3077 --kv-transfer-base-latency 10\n"));
}

TEST(ExportedProfile, wants_a_block_where_it_counts_them_and_nowhere_else) {
  EXPECT_THROW(exported_profile(plain(), ExportForm::inference_sim), UsageError);
  EXPECT_THROW(exported_profile(plain(), ExportForm::inference_sim, CacheBlock{0_B, 16}), UsageError);
  EXPECT_THROW(exported_profile(plain(), ExportForm::csv, CacheBlock{1_MiB, 16}), UsageError);
  Profile no_link = plain();
  no_link.links.clear();
  EXPECT_THROW(exported_profile(no_link, ExportForm::csv), Unsupported);
}

}  // namespace
}  // namespace shiplap
