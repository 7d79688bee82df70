// Shares of a job on a real GPU: the kernel sees indices of the whole job, and the times of a job without data are
// measured.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "shiplap/cluster/node_times.hpp"
#include "shiplap/cluster/share_job.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using SharesOnGpu = testing::OnGpu;

constexpr std::uint64_t share_rows = 900;
constexpr std::uint64_t share_columns = 1000;

__host__ __device__ unsigned shared_value(View<const unsigned> u, View<const unsigned> table, std::uint64_t row,
                                          std::uint64_t column) {
  const std::uint64_t at = row * share_columns + column;
  const unsigned above = row > 1 ? u[at - 2 * share_columns] : 0;
  const unsigned below = row + 1 < share_rows ? u[at + share_columns] : 0;
  return above + 2 * u[at] + 3 * below + table[row % 7] + static_cast<unsigned>(at);
}

__global__ void shared_stencil(Chunk chunk, View<const unsigned> u, View<const unsigned> table, View<unsigned> out) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t row = chunk.first + blockIdx.y;
  if (column < share_columns) out[row * share_columns + column] = shared_value(u, table, row, column);
}

Job shared_stencil_job(const std::vector<unsigned>& table) {
  return Job{share_rows, "shares"}
      .shaped<const unsigned>("u", Role::in, share_rows * share_columns, halo(2, 1))
      .broadcast("table", table)
      .shaped<unsigned>("out", Role::out, share_rows * share_columns)
      .kernel([](cudaStream_t stream, Chunk chunk, auto u, auto t, auto out) {
        const dim3 grid(static_cast<unsigned>((share_columns + 255) / 256), static_cast<unsigned>(chunk.count));
        shared_stencil<<<grid, 256, 0, stream>>>(chunk, u, t, out);
      });
}

TEST_F(SharesOnGpu, write_what_the_whole_job_writes) {
  const Node node = node_of(*device, find_profile("h200"));
  std::vector<unsigned> u(share_rows * share_columns);
  std::iota(u.begin(), u.end(), 5u);
  std::vector<unsigned> table{2, 3, 5, 7, 11, 13, 17};
  const Job whole = shared_stencil_job(table);
  const View<const unsigned> all(u.data(), 0, u.size());
  for (const ItemRange items : {ItemRange{0, 1}, ItemRange{1, 400}, ItemRange{401, 499}}) {
    const ElementRange reach = elements_of_share(whole, "u", items);
    pinned_vector<unsigned> own(*device, reach.count);
    std::copy_n(u.begin() + static_cast<std::ptrdiff_t>(reach.first), reach.count, own.begin());
    pinned_vector<unsigned> out(*device, items.count * share_columns);
    const Job part = job_of_share(whole, items,
                                  {local_part("u", View(own.data(), reach.first, own.size())),
                                   local_part("out", View(out.data(), items.first * share_columns, out.size()))});
    run(*device, plan(node, part), part);
    for (std::uint64_t row = items.first; row < items.first + items.count; ++row)
      for (std::uint64_t column = 0; column < share_columns; ++column)
        ASSERT_EQ(out[(row - items.first) * share_columns + column],
                  shared_value(all, View<const unsigned>(table.data(), 0, table.size()), row, column))
            << "row " << row << ", column " << column;
  }
}

TEST_F(SharesOnGpu, have_times_of_a_job_without_data) {
  const Node node = node_of(*device, find_profile("h200"));
  const std::vector<unsigned> table(7, 1);
  const NodeTimes times = node_times(node, shared_stencil_job(table), 2);
  EXPECT_GE(times.points().size(), 3u);
  EXPECT_GT(times.at(share_rows), times.at(share_rows / 4.0));
}

}  // namespace
}  // namespace shiplap
