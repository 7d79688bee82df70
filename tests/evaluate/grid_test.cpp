#include "shiplap/evaluate/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

std::size_t count(const std::vector<Choice>& choices, std::string_view strategy) {
  return static_cast<std::size_t>(std::ranges::count(choices, strategy, &Choice::strategy));
}

TEST(Grid, of_streams_is_layouts_times_chunks_without_what_is_the_same_schedule) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1024);
  // 9 numbers of chunks in 3 layouts; 1, 2 and 4 chunks on 4 streams are those on a stream each.
  EXPECT_EQ(count(grid_of(job, {.strategies = {"streams"}}, 132), "streams"), 3u * 9 - 3);
  EXPECT_EQ(grid_of(job, {.strategies = {"streams"}, .chunks = {1, 8}, .layouts = {{Layout::few}}}, 132).size(), 2u);
}

TEST(Grid, of_kernels_that_access_host_memory_is_grids_times_chunks) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1024);
  const auto all = grid_of(job, {}, 132);
  EXPECT_EQ(count(all, "implicit"), 8u) << "8, 16, 24, 32, 48, 64, 132 blocks and the kernel's own";
  EXPECT_EQ(count(all, "hybrid"), 8u * 4);
  EXPECT_EQ(count(all, "explicit"), 1u);
  EXPECT_EQ(count(grid_of(job, {}, 20), "implicit"), 4u) << "8, 16, 20 blocks and the kernel's own";
  Job own_grid = job;
  own_grid.any_grid = false;
  EXPECT_EQ(count(grid_of(own_grid, {}, 132), "implicit"), 1u);
}

TEST(Grid, leaves_out_chunks_that_the_job_cannot_be_cut_into) {
  for (const Choice& choice : grid_of(in_out_job(1_KiB, 1_KiB, milliseconds(1), 10), {}, 132))
    EXPECT_LE(choice.chunks, 10u);
}

TEST(Grid, has_the_strategies_of_the_memory_that_the_arrays_are_in) {
  Job job = in_out_job(64_MiB, 64_MiB, milliseconds(1), 1 << 20);
  const auto names = [&](MemoryKind memory) {
    for (Array& array : job.arrays) array.memory = memory;
    std::set<std::string> found;
    for (const Choice& choice : grid_of(job, {}, 132)) found.insert(choice.strategy);
    return found;
  };
  EXPECT_EQ(names(MemoryKind::pageable), (std::set<std::string>{"pageable", "staged"}));
  EXPECT_EQ(names(MemoryKind::managed), (std::set<std::string>{"managed", "managed-prefetch"}));
  EXPECT_FALSE(grid_of(job, {.strategies = {"managed-implicit"}}, 132).empty());
  EXPECT_THROW(grid_of(job, {.strategies = {"managed", "managed-implicit"}}, 132), UsageError);
  EXPECT_EQ(names(MemoryKind::pinned),
            (std::set<std::string>{"explicit", "streams", "implicit", "hybrid", "hybrid-mirror"}));
}

TEST(Grid, cuts_few_items_into_what_divides_them) {
  std::set<std::uint32_t> counts;
  for (const Choice& choice : grid_of(in_out_job(1_MiB, 1_MiB, milliseconds(1), 42),
                                      {.strategies = {"streams"}, .layouts = {{Layout::three}}}, 132))
    counts.insert(choice.chunks);
  EXPECT_EQ(counts, (std::set<std::uint32_t>{1, 2, 3, 6, 7, 14, 21, 42}));
}

TEST(Grid, stages_by_every_number_of_threads_and_submits_to_emulated_gpus_breadth_first) {
  Job job = in_out_job(64_MiB, 64_MiB, milliseconds(1), 1 << 20);
  const auto emulated =
      grid_of(job, {.strategies = {"streams"}, .chunks = {4}, .layouts = {{Layout::one_engine}}}, 132);
  ASSERT_EQ(emulated.size(), 1u);
  EXPECT_EQ(emulated[0].order, IssueOrder::breadth);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  const auto staged = grid_of(job, {.strategies = {"staged"}, .chunks = {8, 32}, .threads = {1, 3}}, 132);
  ASSERT_EQ(staged.size(), 4u);
  EXPECT_EQ(staged[0].threads + staged[1].threads + staged[2].threads + staged[3].threads, 8u);
}

TEST(Grid, refuses_an_unknown_strategy) {
  EXPECT_THROW(grid_of(in_out_job(1_KiB, 1_KiB, milliseconds(1), 10), {.strategies = {"magic"}}, 1), UsageError);
}

TEST(Grid, has_at_least_a_thousand_points_over_the_default_sizes_of_both_workloads) {
  std::size_t points = 0;
  for (const Bytes size : {1_MiB, 4_MiB, 16_MiB, 64_MiB, 256_MiB, 1_GiB})
    for (const char* name : {"scalar-add", "saxpy"})
      points += grid_of(find_workload(with_size(name, size), {}).job, {}, 132).size();
  EXPECT_GE(points, 1000u);
  EXPECT_LE(grid_of(find_workload(with_size("saxpy", 1_GiB), {}).job, {}, 132).size(), 80u)
      << "making a GiB ready and verifying it takes long";
}

TEST(WithSize, gives_every_array_about_the_size_and_leaves_stated_sizes_alone) {
  for (const char* name : {"saxpy", "scalar-add", "scalar-add:iterations=7"})
    for (const Array& array : find_workload(with_size(name, 4_MiB), {}).job.arrays)
      EXPECT_EQ(array.size, 4_MiB) << name;
  EXPECT_EQ(with_size("saxpy:n=1Ki", 4_MiB), "saxpy:n=1Ki");
  EXPECT_EQ(with_size("scalar-add:iterations=2,in=1KiB,out=1KiB", 4_MiB), "scalar-add:iterations=2,in=1KiB,out=1KiB");
  EXPECT_EQ(with_size("mine.json", 4_MiB), "mine.json");
}

}  // namespace
}  // namespace shiplap
