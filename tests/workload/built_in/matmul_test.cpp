// The reference of matmul against the definition, and its verification.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "shiplap/core/error.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using testing::WorkloadMemory;

TEST(Matmul, sums_the_products_of_rows_and_columns_whatever_the_cut) {
  struct Size {
    std::uint64_t m, n, p;
  };
  for (const Size& size : {Size{1, 1, 1}, Size{37, 45, 29}, Size{130, 68, 9}, Size{8, 128, 64}}) {
    const auto m = size.m;
    const auto n = size.n;
    const auto p = size.p;
    const Workload w = find_workload(fmt::format("matmul:m={},n={},p={}", m, n, p), {});
    ASSERT_EQ(w.job.items, m);
    WorkloadMemory memory(w);
    const auto expect_products = [&] {
      const auto a = memory.array<float>(0);
      const auto b = memory.array<float>(1);
      for (std::uint64_t i = 0; i < m; ++i)
        for (std::uint64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::uint64_t k = p; k-- > 0;) sum += double{a[i * p + k]} * double{b[k * n + j]};
          ASSERT_EQ(double{memory.array<float>(2)[i * n + j]}, sum) << w.job.name << ", " << i << ", " << j;
        }
    };
    memory.run({0, m});
    expect_products();
    w.fill(memory.arrays());
    memory.run_in_odd_chunks();
    expect_products();
    EXPECT_EQ(w.verify(memory.arrays()), "");
  }
}

TEST(Matmul, is_verified_byte_by_byte_although_it_is_not_computed_again) {
  testing::expect_that_every_byte_is_verified(find_workload("matmul:m=19,n=13,p=11", {}));
}

TEST(Matmul, names_the_element_that_is_wrong) {
  const Workload w = find_workload("matmul:m=19,n=13,p=11", {});
  WorkloadMemory memory(w);
  memory.run({0, 19});
  for (const float wrong : {0.25f, -0.0f, 1e30f, std::numeric_limits<float>::quiet_NaN()}) {
    float& element = memory.array<float>(2)[5 * 13 + 7];
    const float right = std::exchange(element, wrong);
    EXPECT_NE(w.verify(memory.arrays()).find("row 5, column 7"), std::string::npos) << w.verify(memory.arrays());
    element = right;
  }
  // Two wrong elements whose sum is right.
  memory.array<float>(2)[5 * 13 + 7] += 1;
  memory.array<float>(2)[5 * 13 + 9] -= 1;
  EXPECT_NE(w.verify(memory.arrays()).find("row 5, column 7"), std::string::npos);
}

TEST(Matmul, has_tiles_that_fill_a_gpu_and_blocks_for_all_of_them) {
  struct Case {
    const char* name;
    std::uint64_t tile, blocks_per_item_group;
  };
  for (const auto& [name, tile, blocks_per_item_group] :
       {Case{"matmul", 128, 32}, Case{"matmul:p=2048", 128, 16}, Case{"matmul:p=1024", 128, 8},
        Case{"matmul:p=512", 64, 8}, Case{"matmul:p=256", 32, 8}, Case{"matmul:p=256,n=65", 32, 3}}) {
    const Workload w = find_workload(name, {});
    EXPECT_EQ(w.job.items_per_block, tile) << name;
    EXPECT_EQ(w.job.blocks_per_item_group, blocks_per_item_group) << name;
  }
}

TEST(Matmul, refuses_sums_that_float_does_not_hold) {
  EXPECT_THROW(find_workload("matmul:p=1048577,m=1,n=1", {}), UsageError);
  EXPECT_NO_THROW(find_workload("matmul:p=1048576,m=1,n=1", {}));
}

}  // namespace
}  // namespace shiplap
