#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "shiplap/core/error.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using testing::WorkloadMemory;

// Bin by bin: a value is found in the sorted pixels of its frame.
std::vector<std::uint32_t> counts_of(std::span<const std::uint8_t> frames, std::uint64_t pixels) {
  std::vector<std::uint32_t> counts;
  for (std::uint64_t first = 0; first < frames.size(); first += pixels) {
    const auto frame = frames.subspan(first, pixels);
    std::vector<std::uint8_t> sorted(frame.begin(), frame.end());
    std::ranges::sort(sorted);
    for (unsigned value = 0; value < 256; ++value) {
      const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), static_cast<std::uint8_t>(value));
      counts.push_back(static_cast<std::uint32_t>(end - begin));
    }
  }
  return counts;
}

TEST(Histogram, counts_every_value_of_every_frame_whole_and_in_chunks) {
  for (const char* data : {"uniform", "degenerate", "mixed"})
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{7, 5}, std::pair{64, 48}, std::pair{131, 67}})
      for (const std::uint64_t chunk : {7, 3, 1}) {
        WorkloadMemory w("histogram:frames=7,width=" + std::to_string(width) + ",height=" + std::to_string(height) +
                         ",data=" + data);
        EXPECT_NE(w.verify(), "") << "the kernel has not run yet";
        w.run(chunk);
        EXPECT_EQ(w.verify(), "") << w.job().name;
        const auto counted = w.array<std::uint32_t>(1);
        EXPECT_EQ(std::vector(counted.begin(), counted.end()),
                  counts_of(w.array<std::uint8_t>(0), static_cast<std::uint64_t>(width) * height));
      }
}

TEST(Histogram, has_the_values_that_are_asked_for) {
  const auto values_of_frame = [](WorkloadMemory& w, std::uint64_t frame) {
    const auto pixels = w.array<std::uint8_t>(0).subspan(frame * 10000, 10000);
    return std::set<std::uint8_t>(pixels.begin(), pixels.end()).size();
  };
  WorkloadMemory uniform("histogram:frames=3,width=100,height=100");
  WorkloadMemory degenerate("histogram:frames=3,width=100,height=100,data=degenerate");
  WorkloadMemory mixed("histogram:frames=3,width=100,height=100,data=mixed");
  for (std::uint64_t frame = 0; frame < 3; ++frame) {
    EXPECT_EQ(values_of_frame(uniform, frame), 256u);
    EXPECT_EQ(values_of_frame(degenerate, frame), 1u);
    EXPECT_EQ(values_of_frame(mixed, frame), frame < 2 ? 256u : 1u);
  }
}

TEST(Histogram, finds_a_single_wrong_byte_in_outputs_and_in_inputs) {
  WorkloadMemory w("histogram:frames=3,width=300,height=250,data=mixed");
  w.run(2);
  ASSERT_EQ(w.verify(), "");
  for (const std::size_t byte : {0, 65535, 65536, 149999, 150000, 3 * 75000 - 1})
    EXPECT_TRUE(w.finds_wrong_byte(0, byte));
  for (std::size_t byte = 0; byte < 3 * 1024; byte += 41) EXPECT_TRUE(w.finds_wrong_byte(1, byte));
}

TEST(Histogram, refuses_frames_that_no_bin_can_count_and_copies_that_lanes_cannot_share) {
  EXPECT_THROW(find_workload("histogram:width=65536,height=65536", {}), UsageError);
  EXPECT_THROW(find_workload("histogram:copies=3", {}), UsageError);
  EXPECT_THROW(find_workload("histogram:copies=64", {}), UsageError);
  EXPECT_EQ(with_size("histogram", Bytes{26 << 20}), "histogram:frames=67");
}

}  // namespace
}  // namespace shiplap
