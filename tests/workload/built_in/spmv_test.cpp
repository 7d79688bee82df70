// The matrix of spmv, its reference against the definition, and its verification.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using testing::WorkloadMemory;

TEST(Spmv, multiplies_rows_with_the_vector_whatever_the_cut) {
  struct Size {
    std::uint64_t rows, nonzeros;
  };
  for (const Size& size : {Size{2, 1}, Size{7, 12}, Size{100, 1}, Size{301, 9000}, Size{50, 625}}) {
    const auto rows = size.rows;
    const auto nonzeros = size.nonzeros;
    const Workload w = find_workload(fmt::format("spmv:rows={},nonzeros={}", rows, nonzeros), {});
    ASSERT_EQ(w.job.items, rows);
    WorkloadMemory memory(w);
    const auto expect_sums = [&] {
      std::vector<double> sums(rows);
      std::uint64_t row = 0;
      for (std::uint64_t k = 0; k < nonzeros; ++k) {
        while (memory.array<std::uint64_t>(0)[row + 1] <= k) ++row;
        const auto column = static_cast<std::uint64_t>(memory.array<std::int32_t>(1)[k]);
        sums[row] += double{memory.array<float>(2)[k]} * double{memory.array<float>(3)[column]};
      }
      for (row = 0; row < rows; ++row)
        ASSERT_EQ(double{memory.array<float>(4)[row]}, sums[row]) << w.job.name << ", row " << row;
    };
    memory.run({0, rows});
    expect_sums();
    w.fill(memory.arrays());
    memory.run_in_odd_chunks();
    expect_sums();
    EXPECT_EQ(w.verify(memory.arrays()), "");
  }
}

TEST(Spmv, is_as_dense_as_its_rows_have_nonzeros) {
  const Workload w = find_workload("spmv:rows=3000,nonzeros=100000", {});
  WorkloadMemory memory(w);
  const auto offsets = memory.array<std::uint64_t>(0);
  for (const ItemRange rows : {ItemRange{0, 100}, {700, 1}, {2900, 100}, {0, 3000}}) {
    const auto nonzeros = static_cast<double>(offsets[rows.first + rows.count] - offsets[rows.first]);
    EXPECT_NEAR(density(w.job, rows), nonzeros / static_cast<double>(rows.count) / (100000.0 / 3000), 1e-9);
  }
}

TEST(Spmv, has_sorted_distinct_columns_in_rows_that_become_shorter_by_three_to_one) {
  const Workload w = find_workload("spmv:rows=3000,nonzeros=100000", {});
  WorkloadMemory memory(w);
  const auto offsets = memory.array<std::uint64_t>(0);
  const auto columns = memory.array<std::int32_t>(1);
  EXPECT_EQ(offsets.front(), 0u);
  EXPECT_EQ(offsets.back(), 100000u);
  std::uint64_t changes = 0;
  for (std::uint64_t row = 0; row < 3000; ++row) {
    ASSERT_LE(offsets[row], offsets[row + 1]);
    for (std::uint64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
      ASSERT_LT(columns[k], 3000);
      ASSERT_GT(columns[k], k == offsets[row] ? -1 : columns[k - 1]);
    }
    if (row > 0 && offsets[row + 1] - offsets[row] != offsets[row] - offsets[row - 1]) ++changes;
  }
  EXPECT_GT(changes, 2500u);
  const auto part = [&](std::uint64_t first) {
    return static_cast<double>(reach_of(w.job, w.job.arrays[1], {first, 100}).length.count);
  };
  EXPECT_NEAR(part(0) / part(2900), 3.0, 0.3);
}

TEST(Spmv, is_verified_byte_by_byte) {
  testing::expect_that_every_byte_is_verified(find_workload("spmv:rows=40,nonzeros=200", {}));
}

TEST(Spmv, refuses_a_matrix_that_is_not_sparse_or_sums_that_float_does_not_hold) {
  EXPECT_THROW(find_workload("spmv:rows=100,nonzeros=2501", {}), UsageError);
  EXPECT_NO_THROW(find_workload("spmv:rows=100,nonzeros=2500", {}));
  EXPECT_THROW(find_workload("spmv:rows=2Mi,nonzeros=1Ti", {}), UsageError);
  EXPECT_THROW(find_workload("spmv:rows=1", {}), UsageError);
}

TEST(Spmv, takes_as_many_nonzeros_as_the_published_matrix_has) {
  const Workload w = find_workload("spmv", {});
  EXPECT_EQ(w.job.arrays[1].size, Bytes{4 * 17179869});
  EXPECT_EQ(w.job.items_per_block, 8u);
}

TEST(Spmv, refuses_more_columns_than_int32_can_number) {
  EXPECT_EQ(message_of<UsageError>([] { find_workload("spmv:rows=2Gi,nonzeros=2Gi", {}); }),
            "spmv: rows must be below 2^31, as columns are int32");
  EXPECT_NO_THROW(find_workload("spmv:rows=2147483647,nonzeros=2Gi", {}));
}

}  // namespace
}  // namespace shiplap
