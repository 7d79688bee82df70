// Curves are columns of tables, in base units, and every one that a paper lists is drawn on a device that can do all.
#include "experiments/curves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "tests/experiments/virtual_bench.hpp"

namespace shiplap::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const document::Plot& plot) {
  std::vector<std::string> names;
  for (const document::Series& series : plot.series) names.push_back(series.name);
  return names;
}
std::vector<double> xs_of(const document::Series& series) {
  std::vector<double> xs;
  for (const document::Point& point : series.points) xs.push_back(point.x);
  return xs;
}
std::vector<double> ys_of(const document::Series& series) {
  std::vector<double> ys;
  for (const document::Point& point : series.points) ys.push_back(point.y);
  return ys;
}

/// The plots of one table.
std::vector<document::Plot> plots_of_table(const Curves& curves, Figure table) {
  const std::array all{curves};
  Experiment experiment;
  experiment.curves = all;
  Reproduction made;
  made.steps["one"].result.figures = {std::move(table)};
  return plots_of(experiment, made);
}

TEST(Curves, are_columns_over_a_column_in_base_units_and_published_ones_are_points) {
  const auto plots = plots_of_table(
      {.table = "t", .x = "size", .y_label = "time", .y = {"here", "published", "rate"}},
      {.id = "t",
       .where = "Fig. 9",
       .title = "copies",
       .columns = {{"size", ""}, {"here", "ms"}, {"published", "ms"}, {"rate", "GB/s"}},
       .rows = {{std::string("4 KiB"), 2.0, 3.0, 1.0}, {std::string("1 MiB"), 4.0, {}, 1.0}, {{}, 5.0, 5.0, 5.0}}});
  ASSERT_EQ(plots.size(), 1u);
  const document::Plot& plot = plots.front();
  EXPECT_EQ(plot.title, "Fig. 9: copies");
  EXPECT_EQ(plot.x.unit, "B");
  EXPECT_EQ(plot.y.unit, "s");
  ASSERT_THAT(names_of(plot), ElementsAre("here", "published")) << "rates have another unit than times";
  EXPECT_THAT(xs_of(plot.series[0]), ElementsAre(4096, 1048576)) << "a row without a size is no point";
  EXPECT_THAT(ys_of(plot.series[0]), ElementsAre(2e-3, 4e-3));
  EXPECT_TRUE(plot.series[0].is_line);
  EXPECT_THAT(xs_of(plot.series[1]), ElementsAre(4096)) << "a cell without a value is no point";
  EXPECT_FALSE(plot.series[1].is_line);
}

TEST(Curves, are_rows_where_the_names_of_columns_are_the_abscissas) {
  const auto plots =
      plots_of_table({.table = "t", .x_label = "streams", .y = {"in *"}, .each = {"elements"}},
                     {.id = "t",
                      .columns = {{"elements", ""}, {"in 1", ""}, {"in 32", ""}, {"in streams", ""}},
                      .rows = {{std::string("2^19"), 1.0, 0.5, 7.0}, {std::string("2^29"), 1.0, 2.0, 7.0}}});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].x.label, "streams");
  EXPECT_THAT(names_of(plots[0]), ElementsAre("elements 2^19", "elements 2^29"));
  EXPECT_THAT(xs_of(plots[0].series[1]), ElementsAre(1, 32));
  EXPECT_THAT(ys_of(plots[0].series[1]), ElementsAre(1, 2));
}

TEST(Curves, of_one_column_are_told_apart_by_the_values_of_others) {
  const auto plots = plots_of_table(
      {.table = "t", .x = "streams", .y = {"time"}, .each = {"p"}},
      {.id = "t",
       .columns = {{"p", ""}, {"streams", ""}, {"time", "s"}},
       .rows = {{std::string("256"), std::string("none"), 9.0}, {std::string("256"), 2.0, 8.0}, {512.0, 2.0, 7.0}}});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_THAT(names_of(plots[0]), ElementsAre("p 256, time", "p 512, time"));
  EXPECT_THAT(xs_of(plots[0].series[0]), ElementsAre(2)) << "without streams there is no abscissa";
}

TEST(Curves, read_powers_of_two_and_shares_as_numbers) {
  const auto plots =
      plots_of_table({.table = "t", .x = "elements", .y = {"error"}},
                     {.id = "t", .columns = {{"elements", ""}, {"error", "%"}}, .rows = {{std::string("2^19"), 50.0}}});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_THAT(xs_of(plots[0].series[0]), ElementsAre(524288));
  EXPECT_THAT(ys_of(plots[0].series[0]), ElementsAre(0.5));
  EXPECT_EQ(plots[0].y.unit, "1");
}

TEST(Curves, without_points_are_no_plot) {
  EXPECT_THAT(plots_of_table({.table = "t", .x = "a", .y = {"b"}}, {.id = "t", .columns = {{"a", ""}, {"b", ""}}}),
              IsEmpty());
  EXPECT_THAT(
      plots_of_table({.table = "t", .x = "a", .y = {"b"}}, {.id = "t", .columns = {{"b", ""}}, .rows = {{1.0}}}),
      IsEmpty())
      << "the abscissas are missing";
  EXPECT_THAT(plots_of_table({.table = "other", .x = "a", .y = {"b"}}, {.id = "t"}), IsEmpty());
}

TEST(Curves, of_every_paper_are_drawn_on_a_device_that_can_do_what_the_paper_does) {
  // These tables are of what one GPU in one socket has not: another GPU, another NUMA node.
  const std::set<std::string_view> left_out{"fig6_nodes", "fig8"};
  for (const Experiment& experiment : experiments()) {
    const Reproduction made = reproduced(experiment, VirtualBench("h200").bench);
    for (const Curves& curves : experiment.curves) {
      Experiment one = experiment;
      one.curves = {&curves, 1};
      const bool is_drawn = !plots_of(one, made).empty();
      EXPECT_TRUE(is_drawn || left_out.contains(curves.table)) << experiment.name << ": " << curves.table;
    }
  }
}

TEST(Curves, have_published_points_where_times_or_gains_are_published) {
  const Reproduction eth = reproduced(find_experiment("eth2025"), VirtualBench("gh200-2025-269302").bench, {"fig3"});
  std::size_t with_points = 0;
  for (const document::Plot& plot : plots_of(find_experiment("eth2025"), eth))
    with_points += std::ranges::any_of(plot.series, [](const document::Series& s) { return !s.is_line; }) ? 1 : 0;
  EXPECT_EQ(with_points, 2u) << "the best of each number of calls, and the times";
}

}  // namespace
}  // namespace shiplap::experiments
