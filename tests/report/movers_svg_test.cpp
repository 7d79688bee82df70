#include "shiplap/report/movers_svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MoverTable table_of(std::vector<std::uint64_t> counts, bool regular = false) {
  return mover_table(planted_profile(), {.regular = regular, .counts = std::move(counts), .crossover_counts = {}});
}

std::size_t number_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

struct Point {
  double x = 0;
  double y = 0;
};
/// The points of a curve in one of the two plots.
std::vector<Point> curve(const std::string& svg, const std::string& kind, std::size_t plot) {
  const std::regex pattern("class=\"curve " + kind + "\"[^>]*points=\"([^\"]*)\"");
  std::sregex_iterator found(svg.begin(), svg.end(), pattern);
  std::advance(found, plot);
  std::istringstream numbers((*found)[1].str());
  std::vector<Point> points;
  for (Point p; numbers >> p.x && numbers.ignore() && numbers >> p.y;) points.push_back(p);
  return points;
}

TEST(MoversSvg, has_a_curve_for_each_kind_of_mover_in_both_directions) {
  const std::string svg = movers_svg(table_of({1024}), 1024);
  for (const std::string kind : {"copies", "batch", "kernel"}) EXPECT_EQ(number_of(svg, "curve " + kind + "\""), 2u);
  EXPECT_EQ(number_of(svg, "curve strided"), 0u) << "the blocks are not regular";
  EXPECT_EQ(number_of(movers_svg(table_of({1024}, true), 1024), "curve strided"), 2u);
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_THAT(svg, HasSubstr("Rate of moving 1024 scattered blocks"));
}

TEST(MoversSvg, draws_rates_in_proportion_to_their_height) {
  const std::string svg = movers_svg(table_of({64, 1024}), 64);
  for (const std::size_t plot : {0u, 1u}) {
    const std::vector<Point> batch = curve(svg, "batch", plot);
    const std::vector<Point> copies = curve(svg, "copies", plot);
    ASSERT_EQ(batch.size(), 15u);
    const auto rate = [&](Mover::Kind kind, std::size_t i) {
      const Bytes size = 256_B * (std::uint64_t{1} << i);
      return in_bytes(size) * 64 / planted_block_cost({.kind = kind}, plot == 0, size, 64).time.count();
    };
    // Two points of a curve give the scale of the axis and the height of its zero. All others must fit them.
    const double per_px = (rate(Mover::Kind::batch, 14) - rate(Mover::Kind::batch, 6)) / (batch[6].y - batch[14].y);
    const double zero = batch[14].y + rate(Mover::Kind::batch, 14) / per_px;
    for (const std::size_t i : {2u, 6u, 10u, 14u}) {
      EXPECT_NEAR(batch[i].y, zero - rate(Mover::Kind::batch, i) / per_px, 0.2) << i;
      EXPECT_NEAR(copies[i].y, zero - rate(Mover::Kind::copies, i) / per_px, 0.2) << i;
      EXPECT_EQ(copies[i].x, batch[i].x);
    }
    for (std::size_t i = 1; i < batch.size(); ++i)
      EXPECT_NEAR(batch[i].x - batch[i - 1].x, batch[1].x - batch[0].x, 0.11);
  }
}

TEST(MoversSvg, marks_the_sizes_at_which_another_kind_becomes_the_best) {
  const MoverTable table = table_of({1024});
  const std::string svg = movers_svg(table, 1024);
  std::size_t changes = 0;
  for (const Crossovers& found : table.crossovers)
    for (std::size_t i = 1; i < found.best.size(); ++i) {
      if (found.best[i].mover->kind == found.best[i - 1].mover->kind) continue;
      ++changes;
      EXPECT_THAT(svg, HasSubstr(">" + to_string(found.best[i].block) + "</text>"));
    }
  EXPECT_GT(changes, 0u);
  EXPECT_EQ(number_of(svg, "class=\"change\""), changes);
}

TEST(MoversSvg, shows_hostile_names_as_text) {
  Profile profile = planted_profile();
  profile.name = "<script>alert(1)</script>";
  const MoverTable table = mover_table(profile, {.crossover_counts = {}});
  EXPECT_THAT(movers_svg(table, 1024), Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace shiplap
