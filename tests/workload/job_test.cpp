#include "shiplap/workload/job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/launches.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

KernelCost::Point point(std::uint64_t items, double us) { return {items, Interval<Seconds>::exact(microseconds(us))}; }

TEST(KernelCost, is_a_line_through_the_two_largest_points_and_never_below_the_smallest) {
  // A full GPU takes 10 µs + 1 µs an item; a launch that does not fill it takes 25 µs at least.
  const KernelCost cost{
      .points = {point(4, 25), point(32, 42), point(1000, 1010)}, .has_floor = true, .origin = "test"};
  EXPECT_NEAR(in_microseconds(cost.launch_time(2000)), 2010, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(500)), 510, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(20)), 30, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(10)), 25, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(1)), 25, 1e-9);
}

TEST(KernelCost, is_proportional_with_one_point_and_refused_without_any) {
  EXPECT_NEAR(in_microseconds(KernelCost{.points = {point(100, 50)}, .origin = ""}.launch_time(10)), 5, 1e-9);
  EXPECT_THROW(KernelCost{}.launch_time(10), Error);
}

TEST(Reach, of_a_mapping_that_throws_names_the_job_the_array_and_the_items) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1000);
  for (const bool is_exception : {true, false}) {
    job.arrays[0].reach.elements = [&](ItemRange) -> ElementRange {
      if (is_exception) throw std::out_of_range("no such row");
      throw 42;
    };
    const std::string message = message_of([&] { reach_of(job, job.arrays[0], {8, 2}); });
    for (const std::string& part : {job.name, job.arrays[0].name, std::string("8, 10")})
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    EXPECT_EQ(message.find("no such row") != std::string::npos, is_exception) << message;
  }
}

TEST(Split, covers_all_items_once_with_pieces_that_differ_by_at_most_one) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1000);
  for (const std::uint32_t chunks : {1u, 3u, 7u, 999u, 1000u}) {
    std::uint64_t next = 0;
    for (const ItemRange& range : cut_into_chunks(job, chunks)) {
      EXPECT_EQ(range.first, next);
      EXPECT_GE(range.count, 1000 / chunks);
      EXPECT_LE(range.count, 1000 / chunks + 1);
      next += range.count;
    }
    EXPECT_EQ(next, 1000u);
  }
}

TEST(Split, cuts_between_blocks_of_the_kernel) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 10'500);
  job.items_per_block = 1000;
  const auto ranges = cut_into_chunks(job, 3);
  EXPECT_EQ(ranges[0].count, 4000u);
  EXPECT_EQ(ranges[1].count, 3000u);
  EXPECT_EQ(ranges[2].count, 3500u);
  EXPECT_EQ(cut_into_chunks(job, 11)[0].count, 955u);  // more chunks than blocks
}

TEST(Split, gives_chunks_the_relative_sizes_of_a_ramp_in_whole_blocks) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1'000'000);
  job.items_per_block = 100;
  const auto sizes = [&](std::uint32_t chunks, const Ramp& ramp) {
    std::vector<double> blocks;
    std::uint64_t next = 0;
    for (const ItemRange& range : cut_into_chunks(job, chunks, ramp)) {
      EXPECT_EQ(range.first, next);
      EXPECT_EQ(range.count % 100, 0u);
      EXPECT_GT(range.count, 0u);
      next += range.count;
      blocks.push_back(static_cast<double>(range.count) / 100);
    }
    EXPECT_EQ(next, 1'000'000u);
    return blocks;
  };
  // 1 : 2 : 4 : 4 : 4 : 2 : 1, 18 parts of 10 000 blocks.
  const auto both = sizes(7, {.first = 0.25, .last = 0.25, .growth = 2});
  for (const auto& [chunk, parts] : {std::pair{0, 1.}, {1, 2.}, {2, 4.}, {4, 4.}, {5, 2.}, {6, 1.}})
    EXPECT_NEAR(both[static_cast<std::size_t>(chunk)], parts / 18 * 10'000, 1);
  const auto all_the_way = sizes(11, {.first = 0.5, .last = 1, .growth = std::pow(2, 0.1)});
  EXPECT_NEAR(all_the_way[10] / all_the_way[0], 2, 0.01);
  for (std::size_t c = 1; c < 11; ++c) EXPECT_NEAR(all_the_way[c] / all_the_way[c - 1], std::pow(2, 0.1), 0.01);
  EXPECT_EQ(cut_into_chunks(job, 10'000, {.first = 0.001, .last = 1, .growth = 1.5}).size(), 10'000u) << "a block each";
}

TEST(Split, refuses_more_chunks_than_a_plan_can_simulate_and_says_how_many_may_be) {
  const Job job{.items = 1 << 30, .name = "many"};
  EXPECT_EQ(cut_into_chunks(job, most_chunks).size(), most_chunks);
  try {
    cut_into_chunks(job, 1'000'000);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("`chunks` 1000000: a job is cut into at most 16384 chunks"),
              std::string::npos)
        << error.what();
  }
}

TEST(Split, refuses_ramps_that_are_none) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1000);
  for (const Ramp& ramp : {Ramp{0, 1, 2}, Ramp{1, 1.5, 2}, Ramp{0.5, 1, 1}, Ramp{-1, 1, 2}, Ramp{0.5, NAN, 2}})
    EXPECT_THROW(cut_into_chunks(job, 4, ramp), UsageError);
}

TEST(ByteRange, is_exact_for_arrays_whose_product_with_the_items_exceeds_64_bits) {
  Job job = in_out_job(Bytes{1ull << 43}, 1_B, milliseconds(1), (1ull << 40) + 1);
  const ByteRange last = owned_bytes(job, job.arrays[0], {job.items - 1, 1});
  EXPECT_EQ(last.offset.count + last.length.count, 1ull << 43);
  EXPECT_EQ(last.offset.count, (1ull << 43) - 8);  // floor(2^43 · 2^40 / (2^40 + 1))
}

TEST(KernelCost, takes_a_small_launch_as_long_as_its_busiest_multiprocessor) {
  // One block for each of 4 SMs takes 25 µs, and 10 more items 10 µs more.
  const KernelCost cost{
      .points = {point(4, 25), point(32, 42), point(1000, 1010)}, .has_floor = true, .origin = "measured"};
  EXPECT_NEAR(in_microseconds(cost.launch_time(21)), 34, 1e-9) << "as 24";
  EXPECT_NEAR(in_microseconds(cost.launch_time(24)), 34, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(33)), 46, 1e-9) << "as 36";
  EXPECT_NEAR(in_microseconds(cost.launch_time(1)), 25, 1e-9);
}

TEST(KernelCost, takes_pieces_of_a_launch_that_is_the_floor_as_long_as_all_of_it) {
  const KernelCost one{.points = {point(64, 15)}, .has_floor = true, .origin = "measured"};
  EXPECT_NEAR(in_microseconds(one.launch_time(64)), 15, 1e-9);
  EXPECT_NEAR(in_microseconds(one.launch_time(1)), 15, 1e-9);
  const KernelCost two{.points = {point(8, 230), point(32, 830)}, .has_floor = true, .origin = "measured"};
  EXPECT_NEAR(in_microseconds(two.launch_time(1)), 230, 1e-9);
  EXPECT_NEAR(in_microseconds(two.launch_time(20)), 630, 1e-9) << "as 24";
}

TEST(KernelCost, is_what_was_measured_where_a_launch_has_few_more_blocks_than_the_gpu_has_multiprocessors) {
  // 132 blocks of 1024 items, and 140 blocks: two for the busiest SM.
  const KernelCost cost{.points = {point(135168, 135), point(142976, 172)}, .has_floor = true, .origin = "measured"};
  EXPECT_NEAR(in_microseconds(cost.launch_time(142976)), 172, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(270336)), 172, 1e-9) << "two blocks each";
  EXPECT_NEAR(in_microseconds(cost.launch_time(270337)), 209, 1e-9) << "three for the busiest";
  EXPECT_NEAR(in_microseconds(cost.launch_time(71488)), 135, 1e-9);
}

TEST(KernelCost, is_no_slower_than_between_the_floor_and_the_next_point_where_small_launches_are_faster) {
  const KernelCost cost{
      .points = {point(30, 150), point(270, 875), point(7980, 22400)}, .has_floor = true, .origin = ""};
  EXPECT_NEAR(in_microseconds(cost.launch_time(30)), 150, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(120)), 150 + 90.0 / 240 * 725, 1e-9) << "the line from 270 on says 456";
  EXPECT_NEAR(in_microseconds(cost.launch_time(7980)), 22400, 1e-9);
}

TEST(KernelCost, of_what_the_cache_keeps_is_not_mixed_with_that_of_more) {
  // 1 µs an item beyond 1 µs up to 100 items, 3 µs an item in launches that the cache cannot hold.
  KernelCost cost{.points = {point(10, 11), point(100, 101), point(1000, 3000)},
                  .has_floor = true,
                  .cached_items = 100,
                  .origin = ""};
  EXPECT_NEAR(in_microseconds(cost.launch_time(5)), 11, 1e-9) << "the floor";
  EXPECT_NEAR(in_microseconds(cost.launch_time(50)), 51, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(100)), 101, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(110)), 1 + 2999 * 0.11, 1e-9) << "a line from 100 to 1000 says 133";
  EXPECT_NEAR(in_microseconds(cost.launch_time(1000)), 3000, 1e-9);
  EXPECT_NEAR(in_microseconds(cost.launch_time(50, 50)), 51, 1e-9) << "the cache keeps both";
  EXPECT_NEAR(in_microseconds(cost.launch_time(50, 60)), 1 + 2999 * 0.05, 1e-9) << "it keeps neither";
  cost = {.points = {point(100, 100), point(1000, 3000)}, .cached_items = 100, .origin = ""};
  EXPECT_NEAR(in_microseconds(cost.launch_time(50)), 50, 1e-9) << "without a floor";
  EXPECT_NEAR(in_microseconds(cost.launch_time(101)), 303, 1e-9)
      << "one point of what is kept says nothing of launches";
}

TEST(KernelCost, divides_the_work_of_threads_among_the_blocks_that_run_in_whole_rounds) {
  Job job = in_out_job(1_KiB, 1_KiB, milliseconds(1), 1000);
  job.items_per_block = 5;
  KernelCost& cost = job.cost;
  cost = {.points = {point(1000, 1000)}, .origin = "measured"};
  EXPECT_EQ(time_of_threads(job, 1000, 8), Seconds{0}) << "unknown";
  // Five rounds of four blocks.
  cost.limited = {{.items = 100, .blocks = 4, .work = Interval<Seconds>::exact(microseconds(600))}};
  EXPECT_NEAR(in_microseconds(time_of_threads(job, 200, 8)), 600, 1e-9);
  EXPECT_NEAR(in_microseconds(time_of_threads(job, 201, 8)), 720, 1e-9) << "one item more, one round more";
  EXPECT_NEAR(in_microseconds(kernel_time(job, 200, 8)), 600, 1e-9);
  EXPECT_NEAR(in_microseconds(kernel_time(job, 200, 800)), 200, 1e-9) << "never faster than without the limit";
  EXPECT_NEAR(in_microseconds(kernel_time(job, 200, 0)), 200, 1e-9);
}

TEST(KernelCost, follows_the_line_through_two_launches_with_few_blocks) {
  Job job = in_out_job(1_KiB, 1_KiB, milliseconds(1), 100);
  job.blocks_per_item_group = 32;
  const auto time = [](double us) { return Interval<Seconds>::exact(microseconds(us)); };
  job.cost = {
      .points = {point(100, 1000)},
      .limited = {{.items = 1, .blocks = 16, .work = time(400)}, {.items = 4, .blocks = 16, .work = time(1000)}},
      .origin = "measured"};
  EXPECT_NEAR(in_microseconds(time_of_threads(job, 1, 16)), 400, 1e-9);
  EXPECT_NEAR(in_microseconds(time_of_threads(job, 3, 16)), 800, 1e-9) << "what is done once counts once";
  EXPECT_NEAR(in_microseconds(time_of_threads(job, 3, 8)), 1600, 1e-9) << "half as many blocks, twice the rounds";
  EXPECT_NEAR(in_microseconds(time_of_threads(job, 11, 32)), 1200, 1e-9);
}

TEST(LaunchGrid, holds_as_many_blocks_as_the_runtime_says_where_it_was_asked) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 100000);
  job.items_per_block = 100;
  job.threads_per_block = 256;
  EXPECT_EQ(wave_of(job, 8192), 32u) << "by its threads";
  EXPECT_EQ(wave_of(job, 100), 1u);
  job.cost.resident_blocks = 8;
  EXPECT_EQ(wave_of(job, 8192), 8u) << "registers or shared memory are short";
}

KernelCost::ZeroCopy at_grid(std::uint64_t blocks, std::vector<std::pair<std::uint64_t, double>> alone,
                             std::vector<std::pair<std::uint64_t, double>> beside = {}) {
  KernelCost::ZeroCopy row{.in = true, .out = false, .blocks = blocks, .alone = {}, .beside = {}};
  for (const auto& [items, us] : alone) row.alone.push_back(point(items, us));
  for (const auto& [items, us] : beside) row.beside.push_back(point(items, us));
  return row;
}

TEST(KernelOnHostMemory, goes_along_the_lines_between_its_launches_and_below_the_least_in_proportion) {
  const KernelCost::ZeroCopy row = at_grid(0, {{100, 20}, {400, 50}, {1600, 290}}, {{100, 30}, {400, 45}});
  EXPECT_NEAR(in_microseconds(row.at(100)), 20, 1e-9);
  EXPECT_NEAR(in_microseconds(row.at(250)), 35, 1e-9);
  EXPECT_NEAR(in_microseconds(row.at(1000)), 170, 1e-9);
  EXPECT_NEAR(in_microseconds(row.at(2800)), 530, 1e-9) << "the last line goes on";
  EXPECT_NEAR(in_microseconds(row.at(50)), 10, 1e-9);
  EXPECT_NEAR(in_microseconds(row.beside_at(100)), 30, 1e-9);
  EXPECT_NEAR(in_microseconds(row.beside_at(400)), 50, 1e-9) << "never faster than alone";
  EXPECT_NEAR(in_microseconds(at_grid(0, {{100, 20}}).beside_at(200)), 40, 1e-9) << "nothing moves beside it";
}

TEST(KernelOnHostMemory, at_a_grid_between_two_is_in_proportion_to_the_smaller_and_no_faster_than_the_larger) {
  const KernelCost cost{.points = {point(1000, 5)},
                        .zero_copy = {at_grid(0, {{1000, 40}}), at_grid(32, {{1000, 100}}), at_grid(8, {{1000, 400}})},
                        .origin = "measured"};
  const auto us = [&](std::uint64_t blocks) {
    return in_microseconds(cost.zero_copy_at(true, false, blocks, 1000)->at(1000));
  };
  EXPECT_NEAR(us(0), 40, 1e-9);
  EXPECT_NEAR(us(32), 100, 1e-9);
  EXPECT_NEAR(us(64), 50, 1e-9) << "half of what 32 take";
  EXPECT_NEAR(us(500), 40, 1e-9) << "the link is full";
  EXPECT_NEAR(us(16), 200, 1e-9);
  EXPECT_NEAR(us(4), 800, 1e-9) << "half as many as the fewest";
  EXPECT_NEAR(us(2000), 40, 1e-9) << "more than it has is its own";
  EXPECT_FALSE(cost.zero_copy_at(true, true, 0, 1000)) << "not measured with its outputs there";
  const KernelCost own{.points = {point(1000, 5)}, .zero_copy = {at_grid(0, {{1000, 40}})}, .origin = "measured"};
  EXPECT_FALSE(own.zero_copy_at(true, false, 4, 1000)) << "nothing is known of smaller grids";
}

TEST(LaunchGrid, lets_small_kernels_run_side_by_side_only_as_far_as_their_cost_leaves_room) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 100000);
  job.items_per_block = 100;
  // 1000 blocks in all. As fast per item when small: uses the whole GPU with few blocks.
  EXPECT_EQ(launch_grid(job, 1000, 256 * 100, 100).full_rate_blocks, 10u);
  // Five times as slow per item: leaves four fifths.
  job.cost.points = {point(1, 50), point(50000, 500), point(100000, 1000)};
  job.cost.has_floor = true;
  const LaunchGrid slow = launch_grid(job, 1000, 256 * 100, 100);
  EXPECT_EQ(slow.blocks, 10u);
  EXPECT_EQ(slow.full_rate_blocks, 50u);
  // Two at once take as long as one launch of 2000 items, 50 µs, which is more than the 20 µs at the rate of all.
  EXPECT_EQ(launch_grid(job, 1000, 256 * 100, 2).full_rate_blocks, 20u);
  EXPECT_EQ(launch_grid(job, 1000, 256 * 100, 1).full_rate_blocks, 10u) << "nothing to share with";
}

TEST(LaunchGrid, never_lets_launches_use_more_than_the_rate_of_the_gpu_together) {
  // Proportional costs: whatever rounding makes of the times, no launch leaves a part of a block to others.
  for (std::uint64_t items = 2; items <= 300; ++items) {
    Job job = in_out_job(1_MiB, 1_MiB, milliseconds(25.12), items);
    const std::uint64_t chunk = (items + 3) / 4;
    EXPECT_EQ(launch_grid(job, chunk, 256 * 1000, 4).full_rate_blocks, chunk) << items;
  }
  // One block at 0.9 of the rate: two at once would need 1.8 times the rate.
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(9), 10);
  job.cost.points = {point(1, 1000), point(10, 9000)};
  EXPECT_EQ(launch_grid(job, 1, 256 * 1000, 10).full_rate_blocks, 1u);
}

}  // namespace
}  // namespace shiplap
