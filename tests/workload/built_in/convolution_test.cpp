// The reference of convolution against the definition, and its verification.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using testing::WorkloadMemory;

TEST(Convolution, sums_the_neighbours_times_the_filter_whatever_the_cut) {
  struct Size {
    std::uint64_t height, width, filter;
  };
  for (const Size& size : {Size{1, 1, 1}, Size{7, 5, 17}, Size{37, 70, 4}, Size{33, 65, 3}, Size{40, 1, 2}}) {
    const auto height = size.height;
    const auto width = size.width;
    const auto filter = size.filter;
    const Workload w =
        find_workload(fmt::format("convolution:height={},width={},filter={}", height, width, filter), {});
    ASSERT_EQ(w.job.items, height);
    WorkloadMemory memory(w);
    const auto expect_sums = [&] {
      const auto in = memory.array<float>(0);
      const auto weights = memory.array<float>(1);
      for (std::uint64_t y = 0; y < height; ++y)
        for (std::uint64_t x = 0; x < width; ++x) {
          double sum = 0;
          for (std::uint64_t t = 0; t < filter * filter; ++t)
            sum += double{in[(y + t / filter) * (width + filter - 1) + x + t % filter]} * double{weights[t]};
          ASSERT_EQ(double{memory.array<float>(2)[y * width + x]}, sum) << w.job.name << ", " << y << ", " << x;
        }
    };
    memory.run({0, height});
    expect_sums();
    w.fill(memory.arrays());
    memory.run_in_odd_chunks();
    expect_sums();
    EXPECT_EQ(w.verify(memory.arrays()), "");
  }
}

TEST(Convolution, is_verified_byte_by_byte) {
  testing::expect_that_every_byte_is_verified(find_workload("convolution:height=19,width=13,filter=5", {}));
}

TEST(Convolution, names_the_element_that_is_wrong) {
  const Workload w = find_workload("convolution:height=19,width=13,filter=5", {});
  WorkloadMemory memory(w);
  memory.run({0, 19});
  memory.array<float>(2)[5 * 13 + 7] += 1;
  memory.array<float>(2)[6 * 13 + 2] += 1;
  EXPECT_NE(w.verify(memory.arrays()).find("row 5, column 7"), std::string::npos) << w.verify(memory.arrays());
}

TEST(Convolution, reaches_the_rows_that_the_filter_covers) {
  const Workload w = find_workload("convolution:height=100,width=48,filter=17", {});
  EXPECT_EQ(w.job.arrays[0].size, Bytes{4 * 116 * 64});
  const ByteRange part = reach_of(w.job, w.job.arrays[0], {10, 20});
  EXPECT_EQ(part.offset, Bytes{4 * 10 * 64});
  EXPECT_EQ(part.length, Bytes{4 * 36 * 64});
}

TEST(Convolution, refuses_a_filter_that_does_not_fit_into_shared_memory) {
  EXPECT_THROW(find_workload("convolution:filter=65", {}), UsageError);
  EXPECT_NO_THROW(find_workload("convolution:filter=64", {}));
}

TEST(Convolution, refuses_images_whose_pixels_int32_cannot_count) {
  for (const char* side : {"width", "height"}) {
    const std::string text = std::string("convolution:") + side + "=";
    EXPECT_EQ(message_of<UsageError>([&] { find_workload(text + "2147483584", {}); }),
              "convolution: height and width must be below 2^31 - 64");
    EXPECT_NO_THROW(find_workload(text + "2147483583", {}));
  }
}

}  // namespace
}  // namespace shiplap
