#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using testing::WorkloadMemory;

// From the definition in whole numbers, by division.
std::uint8_t gray_of(std::span<const std::uint8_t> rgb, std::uint64_t pixel) {
  return static_cast<std::uint8_t>((77u * rgb[3 * pixel] + 150u * rgb[3 * pixel + 1] + 29u * rgb[3 * pixel + 2] + 128) /
                                   256);
}

TEST(Grayscale, weighs_and_counts_as_it_says_whole_and_in_chunks) {
  for (const bool both : {false, true})
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{7, 5}, std::pair{64, 48}, std::pair{131, 67}})
      for (const std::uint64_t chunk : {5, 2, 1}) {
        WorkloadMemory w("grayscale:frames=5,width=" + std::to_string(width) + ",height=" + std::to_string(height) +
                         (both ? ",output=both" : ""));
        ASSERT_EQ(w.job().arrays.size(), both ? 3u : 2u);
        EXPECT_NE(w.verify(), "") << "the kernel has not run yet";
        w.run(chunk);
        EXPECT_EQ(w.verify(), "") << w.job().name;
        const std::uint64_t pixels = static_cast<std::uint64_t>(width) * height;
        std::vector<std::uint32_t> expected(5 * 256);
        for (std::uint64_t p = 0; p < 5 * pixels; ++p) {
          const std::uint8_t gray = gray_of(w.array<std::uint8_t>(0), p);
          ++expected[p / pixels * 256 + gray];
          if (both) {
            ASSERT_EQ(w.array<std::uint8_t>(2)[p], gray);
          }
        }
        const auto histograms = w.array<std::uint32_t>(1);
        EXPECT_EQ(std::vector(histograms.begin(), histograms.end()), expected);
      }
}

TEST(Grayscale, is_within_one_of_the_weights_of_rec_601) {
  WorkloadMemory w("grayscale:frames=1,width=256,height=256,output=both");
  w.run(1);
  const auto rgb = w.array<std::uint8_t>(0);
  for (std::uint64_t p = 0; p < 65536; ++p) {
    const double luma = 0.299 * rgb[3 * p] + 0.587 * rgb[3 * p + 1] + 0.114 * rgb[3 * p + 2];
    ASSERT_LE(std::abs(w.array<std::uint8_t>(2)[p] - luma), 1.0);
  }
}

TEST(Grayscale, finds_a_single_wrong_byte_in_outputs_and_in_inputs) {
  WorkloadMemory w("grayscale:frames=3,width=300,height=250,output=both");
  w.run(2);
  ASSERT_EQ(w.verify(), "");
  for (const std::size_t byte : {0, 65536, 149999, 3 * 3 * 75000 - 1}) EXPECT_TRUE(w.finds_wrong_byte(0, byte));
  for (std::size_t byte = 0; byte < 3 * 1024; byte += 97) EXPECT_TRUE(w.finds_wrong_byte(1, byte));
  for (const std::size_t byte : {0, 1, 65535, 65536, 3 * 75000 - 1}) EXPECT_TRUE(w.finds_wrong_byte(2, byte));
}

}  // namespace
}  // namespace shiplap
