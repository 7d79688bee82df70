#include "shiplap/cluster/share_job.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "shiplap/cluster/share.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/workload/launches.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t row_width = 96;

/// A smoother that reads two rows above and one below, scales by a table that every rank has whole, and uses scratch.
/// Values depend on global indices, so that a kernel that sees local ones is found out.
template <class Described>
Job smoothing(const Described& arrays, std::uint64_t rows) {
  return arrays.template scratch<std::uint32_t>("sums", rows * row_width)
      .host_kernel([rows](Chunk chunk, View<const std::uint32_t> u, View<std::uint32_t> out,
                          View<const std::uint32_t> table, View<std::uint32_t> sums) {
        for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
          for (std::uint64_t column = 0; column < row_width; ++column) {
            const std::uint64_t at = row * row_width + column;
            sums[at] = u[at] + (row > 1 ? u[at - 2 * row_width] : 7) + (row + 1 < rows ? 3 * u[at + row_width] : 11);
            out[at] = sums[at] * table[row % table.size()] + static_cast<std::uint32_t>(at);
          }
      });
}

std::vector<std::uint32_t> smoothed_serially(const std::vector<std::uint32_t>& u, std::uint64_t rows,
                                             const std::vector<std::uint32_t>& table) {
  std::vector<std::uint32_t> out(u.size());
  for (std::uint64_t at = 0; at < u.size(); ++at) {
    const std::uint64_t row = at / row_width;
    const std::uint32_t sum =
        u[at] + (row > 1 ? u[at - 2 * row_width] : 7) + (row + 1 < rows ? 3 * u[at + row_width] : 11);
    out[at] = sum * table[row % table.size()] + static_cast<std::uint32_t>(at);
  }
  return out;
}

std::vector<std::uint32_t> counting_up(std::uint64_t size) {
  std::vector<std::uint32_t> result(size);
  std::iota(result.begin(), result.end(), 17u);
  return result;
}

void run_planted(const Job& job) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const Node node = load_or_measure(*device);
  run(*device, plan(node, job, {.check_reach = true}), job);
}

const std::vector<ItemRange> uneven_shares{{0, 1}, {1, 2}, {3, 0}, {3, 40}, {43, 18}};
constexpr std::uint64_t all_rows = 61;

TEST(JobOfShare, writes_what_the_whole_job_writes_from_arrays_that_are_whole) {
  const auto u = counting_up(all_rows * row_width);
  const auto table = counting_up(5);
  std::vector<std::uint32_t> out(u.size(), 0);
  const Job whole =
      smoothing(Job{all_rows, "smooth"}.in("u", u, halo(2, 1)).out("out", out).broadcast("table", table), all_rows);
  for (const ItemRange& items : uneven_shares)
    if (items.count > 0) run_planted(job_of_share(whole, items));
  EXPECT_EQ(out, smoothed_serially(u, all_rows, table));
}

TEST(JobOfShare, writes_what_the_whole_job_writes_from_distributed_arrays) {
  const auto u = counting_up(all_rows * row_width);
  const auto table = counting_up(5);
  const Job whole = smoothing(Job{all_rows, "smooth"}
                                  .shaped<const std::uint32_t>("u", Role::in, u.size(), halo(2, 1))
                                  .shaped<std::uint32_t>("out", Role::out, u.size())
                                  .broadcast("table", table),
                              all_rows);
  std::vector<std::uint32_t> joined;
  for (const ItemRange& items : uneven_shares) {
    if (items.count == 0) continue;
    const ElementRange reach = elements_of_share(whole, "u", items);
    std::vector<std::uint32_t> own(u.begin() + static_cast<std::ptrdiff_t>(reach.first),
                                   u.begin() + static_cast<std::ptrdiff_t>(reach.first + reach.count));
    // The output has room before its elements, as a buffer that is swapped with the input has.
    std::vector<std::uint32_t> written(reach.count, 0);
    run_planted(job_of_share(whole, items,
                             {local_part("u", View(own.data(), reach.first, reach.count)),
                              local_part("out", View(written.data(), reach.first, reach.count))}));
    const auto first = static_cast<std::ptrdiff_t>(items.first * row_width - reach.first);
    joined.insert(joined.end(), written.begin() + first,
                  written.begin() + first + static_cast<std::ptrdiff_t>(items.count * row_width));
  }
  EXPECT_EQ(joined, smoothed_serially(u, all_rows, table));
}

/// Sums of rows of different lengths; row 4 and row 5 have no elements.
struct Rows {
  std::vector<std::uint64_t> offsets{0, 3, 4, 9, 30, 30, 30, 31, 60};
  std::vector<std::uint32_t> values = counting_up(60);
  std::vector<std::uint32_t> sums = std::vector<std::uint32_t>(8, 99);

  Job job() {
    const auto reach = mapped_by([this](ItemRange r) {
      return ElementRange{offsets[r.first], offsets[r.first + r.count] - offsets[r.first]};
    });
    return Job{8, "sums"}
        .in("values", values, reach)
        .out("sums", sums)
        .host_kernel([this](Chunk chunk, View<const std::uint32_t> v, View<std::uint32_t> s) {
          for (std::uint64_t row = chunk.first; row < chunk.end(); ++row) {
            s[row] = 0;
            for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) s[row] += v[i];
          }
        });
  }
};

TEST(JobOfShare, maps_elements_of_rows_without_any) {
  Rows rows;
  for (const ItemRange items : {ItemRange{0, 3}, ItemRange{3, 1}, ItemRange{4, 2}, ItemRange{6, 2}})
    run_planted(job_of_share(rows.job(), items));
  for (std::size_t row = 0; row < 8; ++row) {
    std::uint32_t sum = 0;
    for (std::uint64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) sum += rows.values[i];
    EXPECT_EQ(rows.sums[row], sum) << row;
  }
}

TEST(JobOfShare, takes_the_blocks_of_its_items) {
  const std::vector<std::uint32_t> pool = counting_up(64);
  const std::vector<std::uint16_t> list{7, 3, 0, 15, 4, 4, 9, 1};
  std::vector<std::uint32_t> by_list(32, 0);
  std::vector<std::uint32_t> by_stride(32, 0);
  const auto copy = [](Chunk chunk, View<const std::uint32_t> from, View<std::uint32_t> to) {
    for (std::uint64_t i = 8 * chunk.first; i < 8 * chunk.end(); ++i) to[i] = from[i];
  };
  const Job listed = Job{4, "listed"}.in("blocks", pool, blocks(list, 16_B)).out("to", by_list).host_kernel(copy);
  const Job regular =
      Job{4, "regular"}.in("blocks", pool, strided(8, 16_B, 32_B)).out("to", by_stride).host_kernel(copy);
  for (const ItemRange items : {ItemRange{0, 1}, ItemRange{1, 3}}) {
    run_planted(job_of_share(listed, items));
    run_planted(job_of_share(regular, items));
  }
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(by_list[i], pool[list[i / 4] * 4 + i % 4]) << i;
    EXPECT_EQ(by_stride[i], pool[i / 4 * 8 + i % 4]) << i;
  }
}

TEST(JobOfShare, keeps_a_prefix_as_a_resident_array) {
  const auto u = counting_up(40);
  std::vector<std::uint32_t> out(40, 0);
  const Job whole = Job{10, "prefix"}
                        .in("u", u)
                        .out("out", out)
                        .prefix_of<std::uint32_t>("u", "front", 8)
                        .host_kernel([](Chunk chunk, auto v, auto o, auto front) {
                          for (std::uint64_t i = 4 * chunk.first; i < 4 * chunk.end(); ++i) o[i] = v[i] + front[i % 8];
                        });
  for (const ItemRange items : {ItemRange{0, 4}, ItemRange{4, 6}}) run_planted(job_of_share(whole, items));
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(out[i], u[i] + u[i % 8]) << i;
}

TEST(JobOfShare, has_the_cost_and_the_work_of_its_items) {
  Rows rows;
  const Job whole =
      DescribedJob<>(rows.job()).with_flops(6000).with_device_traffic(Bytes{1200}).kernel_time(milliseconds(60));
  const Job part = job_of_share(whole, {6, 2});  // 30 of 60 elements in 2 of 8 rows
  EXPECT_DOUBLE_EQ(part.flops, 3000);
  EXPECT_EQ(part.device_traffic, Bytes{600});
  EXPECT_NEAR(in_milliseconds(kernel_time(part, 2, 0)), 30, 1e-9);
  const Job even = Job{.items = 8, .name = "even"}
                       .shaped<const float>("x", Role::in, 8)
                       .shaped<float>("y", Role::out, 8)
                       .kernel_time(milliseconds(60));
  EXPECT_NEAR(in_milliseconds(kernel_time(job_of_share(even, {6, 2}), 2, 0)), 15, 1e-9);
}

TEST(JobOfShare, refuses_what_ranks_cannot_share) {
  std::vector<float> x(8, 1);
  std::vector<float> sum(1, 0);
  const Job carried = Job{8, "sum"}.in("x", x).carried("sum", sum);
  EXPECT_THAT(message_of<UsageError>([&] {
                job_of_share(carried, {0, 4});
              }),
              HasSubstr("sum: array sum is carried from one chunk to the next"));
  const Job plain = Job{8, "plain"}.in("x", x, halo(1, 1)).out("y", sum.data(), 1);
  EXPECT_THAT(message_of<UsageError>([&] { job_of_share(plain, {3, 0}); }), HasSubstr("a rank without items"));
  EXPECT_THAT(message_of<UsageError>([&] {
                job_of_share(plain, {3, 6});
              }),
              HasSubstr("items [3, 9), and the job has 8"));
  const auto hold = [&](const std::string& name, std::uint64_t first, std::uint64_t count) {
    return message_of<UsageError>([&] {
      job_of_share(plain, {3, 2}, {local_part(name, View(x.data(), first, count))});
    });
  };
  EXPECT_THAT(hold("z", 2, 4), HasSubstr("no array of the job has that name"));
  EXPECT_THAT(hold("x", 3, 2), HasSubstr("reach the elements [2, 6) of x, and it holds [3, 5)"));
  std::vector<double> wide(8);
  EXPECT_THAT(message_of<UsageError>([&] {
                job_of_share(plain, {3, 2}, {local_part("x", View(wide.data(), 0, wide.size()))});
              }),
              HasSubstr("the elements held of x have 8 B and those of the job 4 B"));
  EXPECT_THAT(message_of<UsageError>([&] { elements_of_share(plain, "z", {0, 1}); }), HasSubstr("has the name z"));
}

TEST(NodeTimesOfAPlan, are_those_of_plans_between_the_points) {
  const auto device = open("virtual:h200");
  const Node node = load_or_measure(*device);
  const std::uint64_t rows = 8192;
  const Job job = Job{rows, "stencil"}
                      .shaped<const float>("u", Role::in, rows * 8192, halo(1, 1))
                      .shaped<float>("out", Role::out, rows * 8192)
                      .host_kernel([](Chunk, auto, auto) {});
  const NodeTimes times = node_times(node, job, 4);
  for (const std::uint64_t items : {1500u, 2600u, 5000u})
    EXPECT_NEAR(times.at(static_cast<double>(items)) / planned_point(node, job, {1000, items}).time, 1, 0.02) << items;
}

TEST(JobOfShare, refuses_blocks_that_a_rank_holds_a_part_of) {
  const std::vector<float> pool(64);
  std::vector<float> own(16);
  const std::vector<std::uint16_t> list{7, 3, 0, 15};
  const Job whole = Job{4, "listed"}.in("blocks", pool, blocks(list, 16_B)).shaped<float>("to", Role::out, 16);
  EXPECT_THAT(message_of<UsageError>([&] {
                job_of_share(whole, {0, 2}, {local_part("blocks", View(own.data(), 0, own.size()))});
              }),
              HasSubstr("listed: blocks is an array of blocks, whose pool must be whole on every rank"));
}

// Alone, each item reads one element more than its neighbours leave it together.
TEST(JobOfShare, refuses_a_mapping_that_gives_items_more_than_all_of_them_together) {
  const auto more_alone = mapped_by([](ItemRange r) { return ElementRange{r.first, r.count == 1 ? 2 : r.count}; });
  const Job whole = Job{8, "greedy"}.shaped<const float>("x", Role::in, 9, more_alone).shaped<float>("y", Role::out, 8);
  const Job share = job_of_share(whole, {2, 4});
  const Array& x = share.arrays.front();
  EXPECT_EQ(reach_of(share, x, {0, 4}).length, Bytes{16});
  EXPECT_EQ(reach_of(share, x, {2, 1}).length, Bytes{8}) << "the elements of item 3 too";
  EXPECT_THAT(message_of<UsageError>([&] {
                reach_of(share, x, {3, 1});
              }),
              HasSubstr("the mapping of x gives some of the items [2, 6) elements that it does not give all of them"));
}

}  // namespace
}  // namespace shiplap
