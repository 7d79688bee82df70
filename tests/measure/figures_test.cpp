#include "shiplap/measure/figures.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/measurements.hpp"

namespace shiplap {
namespace {

using testing::events;

TEST(Figures, are_the_time_of_one_op_more_where_there_are_several_counts) {
  const std::vector<Measurement> measured{
      events("burst.pinned.h2d", {{"bytes", 1 << 20}, {"copies", 8}}, 5 + 8 * 20.0),
      events("burst.pinned.h2d", {{"bytes", 1 << 20}, {"copies", 64}}, 5 + 64 * 20.0),
      events("launch.latency", {{"kernels", 1}}, 3),
      events("chain.d2h", {{"bytes", 1 << 18}, {"streams", 4}, {"count", 8}}, 100),
      events("chain.d2h", {{"bytes", 1 << 18}, {"streams", 4}, {"count", 40}}, 420)};
  const auto all = figures(measured);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(name_of(all[0]), "burst.pinned.h2d, 1 MiB");
  EXPECT_NEAR(in_microseconds(all[0].time.value), 20, 1e-9);
  EXPECT_EQ(all[0].bytes, 1_MiB);
  EXPECT_EQ(name_of(all[1]), "launch.latency");
  EXPECT_NEAR(in_microseconds(all[1].time.value), 3, 1e-9);
  EXPECT_EQ(name_of(all[2]), "chain.d2h, 256 KiB, 4 streams");
  EXPECT_NEAR(in_microseconds(all[2].time.value), 10, 1e-9);
  EXPECT_EQ(all[0].counts, (std::vector<double>{8, 64}));
  EXPECT_FALSE(all[2].bytes) << "a chain is not measured for its rate";
}

TEST(Figures, keep_what_was_measured_with_other_grids_and_widths_apart) {
  std::vector<Measurement> measured;
  for (const double blocks : {1., 16.})
    for (const double width : {4., 16.})
      for (const double count : {2., 7.})
        measured.push_back(events("mapped.read",
                                  {{"bytes", 8 << 20}, {"blocks", blocks}, {"width", width}, {"count", count}},
                                  count * 1000 / blocks + width));
  const auto all = figures(measured);
  ASSERT_EQ(all.size(), 4u);
  for (const Figure& figure : all)
    EXPECT_NEAR(in_microseconds(figure.time.value), 1000 / figure.arguments.at("blocks"), 1e-9) << name_of(figure);
  EXPECT_EQ(name_of(all[0]), "mapped.read, 1 block, 8 MiB, width 4");
}

TEST(Figures, of_copies_beside_kernels_count_the_bytes_of_the_copies) {
  const auto sized = figures(
      std::vector{events("copies.h2d.beside.read",
                         {{"bytes", 2 << 20}, {"blocks", 4}, {"width", 16}, {"copy", 16 << 20}, {"count", 1}}, 400)});
  ASSERT_EQ(sized.size(), 1u);
  EXPECT_EQ(sized[0].bytes, 16_MiB);
  EXPECT_EQ(name_of(sized[0]), "copies.h2d.beside.read, 4 blocks, 2 MiB, copies of 16 MiB, width 16");
}

TEST(Figures, of_both_directions_count_the_bytes_of_both_also_where_the_caches_were_flushed) {
  for (const auto& [primitive, directions] :
       {std::pair{"copy.pinned.both", 2}, std::pair{"copy.pageable.both.flushed", 2},
        std::pair{"copy.pinned.both.flushed", 2}, std::pair{"copy.pinned.h2d.flushed", 1}}) {
    const auto sized = figures(std::vector{events(primitive, {{"bytes", 1 << 20}}, 40)});
    ASSERT_EQ(sized.size(), 1u) << primitive;
    EXPECT_EQ(sized[0].bytes, Bytes{(1ull << 20) * static_cast<unsigned>(directions)}) << primitive;
  }
}

TEST(Figures, leave_out_what_was_not_verified) {
  Measurement lost = events("copy.pinned.h2d", {{"bytes", 4096}}, 4);
  lost.verified = false;
  EXPECT_TRUE(figures(std::vector{lost}).empty());
}

}  // namespace
}  // namespace shiplap
