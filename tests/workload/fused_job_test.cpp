#include "shiplap/workload/fused_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t rows = 12;

Array shape(const char* name, Role role, Reach reach = {}) {
  return {.name = name, .role = role, .size = Bytes{rows * 8}, .element = Bytes{8}, .reach = std::move(reach)};
}
Job job(const char* name, std::vector<Array> arrays, double microseconds = 0) {
  Job result;
  result.items = rows;
  result.name = name;
  result.arrays = std::move(arrays);
  if (microseconds > 0) result.cost.points = {{rows, Interval<Seconds>::exact(Seconds{microseconds * 1e-6})}};
  return result;
}
const auto all_needed = [](const Array&) { return true; };
const auto none_needed = [](const Array&) { return false; };
Job fused(const std::vector<Job>& jobs, const std::function<bool(const Array&)>& is_needed = all_needed) {
  return fuse(jobs, is_needed);
}
std::string refusal(const std::vector<Job>& jobs) {
  return message_of([&] { fused(jobs); });
}

TEST(FusedJob, has_each_array_once_with_the_role_of_all_kernels_together) {
  const Job both = fused({job("a", {shape("x", Role::in), shape("y", Role::out)}),
                          job("b", {shape("y", Role::in), shape("x", Role::in), shape("z", Role::out)})});
  ASSERT_EQ(both.arrays.size(), 3u);
  EXPECT_EQ(both.name, "a+b");
  EXPECT_EQ(both.arrays[0].role, Role::in);
  EXPECT_EQ(both.arrays[1].role, Role::out) << "y is needed, and comes from nowhere";
  EXPECT_EQ(both.arrays[2].role, Role::out);
}

TEST(FusedJob, keeps_on_the_gpu_what_nobody_needs_afterwards) {
  const Job both = fused({job("a", {shape("x", Role::in), shape("y", Role::out)}),
                          job("b", {shape("y", Role::in), shape("z", Role::out)})},
                         [](const Array& array) { return array.name == "z"; });
  EXPECT_EQ(both.arrays[1].role, Role::scratch);
}

TEST(FusedJob, computes_a_halo_twice_where_the_next_kernel_reads_it) {
  const Job both = fused({job("a", {shape("x", Role::in, halo(1, 0)), shape("y", Role::out)}),
                          job("b", {shape("y", Role::in, halo(2, 3)), shape("z", Role::out)})});
  EXPECT_EQ(both.arrays[0].reach.before, 3u);
  EXPECT_EQ(both.arrays[0].reach.after, 3u);
  EXPECT_TRUE(both.arrays[1].private_halo);
  EXPECT_EQ(both.arrays[1].reach.before, 2u);
  EXPECT_EQ(both.arrays[1].reach.after, 3u);
  EXPECT_FALSE(both.arrays[2].private_halo);
}

// Two arrays in turn, as in time steps of a stencil: the halo grows by one for each kernel.
TEST(FusedJob, tiles_time_steps_over_two_arrays_in_turn) {
  const Job there = job("there", {shape("u", Role::in, halo(1, 1)), shape("v", Role::out)}, 10);
  const Job back = job("back", {shape("v", Role::in, halo(1, 1)), shape("u", Role::out)}, 10);
  const Job five = fused({there, back, there, back, there}, [](const Array& array) { return array.name == "v"; });
  ASSERT_EQ(five.arrays.size(), 4u) << "u, two scratch arrays in turn, and v";
  EXPECT_EQ(five.arrays[0].role, Role::in);
  EXPECT_EQ(five.arrays[0].reach.before, 5u);
  EXPECT_EQ(std::ranges::count(five.arrays, Role::scratch, &Array::role), 2);
  EXPECT_EQ(std::ranges::count(five.arrays, Role::out, &Array::role), 1);
  // Rows of the five kernels for a chunk of one: 9, 7, 5, 3, 1; over all rows 12 each.
  EXPECT_NEAR(five.cost.launch_time(1).count(), (9 + 7 + 5 + 3 + 1) * 10e-6 / rows, 1e-9);
  EXPECT_NEAR(five.cost.launch_time(rows).count(), 50e-6, 1e-9);
}

TEST(FusedJob, is_refused_where_a_chunk_cannot_pass_through) {
  const Job a = job("a", {shape("x", Role::in), shape("y", Role::out)});
  EXPECT_THAT(refusal({a, job("b", {shape("y", Role::broadcast), shape("z", Role::out)})}),
              HasSubstr("needs all of y"));
  EXPECT_THAT(refusal({job("a", {shape("x", Role::in), shape("s", Role::carried)}),
                       job("b", {shape("s", Role::broadcast), shape("z", Role::out)})}),
              HasSubstr("needs all of s"));
  EXPECT_THAT(refusal({a, job("b", {shape("y", Role::in, halo(1, 1)), shape("x", Role::out)})}),
              HasSubstr("x is read with a halo and written in one pass"));
  EXPECT_THAT(refusal({job("a", {shape("x", Role::inout)}),
                       job("b", {shape("x", Role::in, halo(1, 0)), shape("z", Role::out)})}),
              HasSubstr("a updates x in place"));
  const Reach all_rows = mapped_by([](ItemRange range) { return ElementRange{range.first, range.count}; });
  EXPECT_THAT(refusal({job("a", {shape("x", Role::in), shape("y", Role::out), shape("w", Role::out, all_rows)}),
                       job("b", {shape("y", Role::in, halo(1, 0)), shape("z", Role::out)})}),
              HasSubstr("w is written by a mapping"));
  Job seven = a;
  seven.items = 7;
  EXPECT_THAT(refusal({a, seven}), HasSubstr("7"));
}

TEST(FusedJob, updates_in_place_what_all_kernels_access_by_items_of_their_own) {
  const Job both = fused({job("a", {shape("x", Role::in), shape("y", Role::out)}),
                          job("b", {shape("y", Role::in), shape("x", Role::out)})},
                         none_needed);
  EXPECT_EQ(both.arrays[0].role, Role::inout);
  EXPECT_EQ(both.arrays[1].role, Role::scratch);
}

TEST(FusedJob, takes_items_in_groups_where_one_job_has_more_of_them) {
  Job fine = job("fine", {shape("y", Role::in, halo(3, 0)), shape("z", Role::out)}, 6);
  fine.items = 2 * rows;
  fine.cost.points = {{2 * rows, Interval<Seconds>::exact(Seconds{6e-6})}};
  for (Array& array : fine.arrays) array.size = Bytes{2 * rows * 8};
  Job coarse = job("coarse", {shape("x", Role::in), shape("y", Role::out)}, 12);
  for (Array& array : coarse.arrays) array.size = Bytes{2 * rows * 8};
  const Job both = fused({coarse, fine});
  EXPECT_EQ(both.items, rows);
  EXPECT_EQ(both.arrays[0].reach.before, 2u) << "three of the fine items are in two of the coarse ones";
  EXPECT_NEAR(both.cost.launch_time(rows).count(), 18e-6, 1e-12);
}

TEST(FusedJob, refuses_arrays_that_share_a_part_of_their_memory) {
  std::vector<std::byte> memory(rows * 16);
  Array x = shape("x", Role::in);
  Array y = shape("y", Role::out);
  x.data = memory.data();
  y.data = memory.data() + 8;
  EXPECT_THROW(is_same_array(x, y), UsageError);
  y.data = memory.data() + rows * 8;
  EXPECT_FALSE(is_same_array(x, y));
  y.data = x.data;
  EXPECT_TRUE(is_same_array(x, y));
}

}  // namespace
}  // namespace shiplap
