#include "shiplap/document/figure_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap::document {
namespace {

TEST(FigureJson, sorts_the_points_of_a_curve_and_leaves_others_in_their_order) {
  Series series{.name = "a", .points = {{.x = 3, .y = 30}, {.x = 1, .y = 10}}};
  const Json line = to_json(Figure(Plot{.series = {series}}));
  EXPECT_EQ(line.at("series").at(0).at("x"), Json::array({1.0, 3.0}));
  EXPECT_EQ(line.at("series").at(0).at("y"), Json::array({10.0, 30.0}));
  EXPECT_FALSE(line.at("series").at(0).contains("low")) << "no point has an interval";
  series.is_line = false;
  EXPECT_EQ(to_json(Figure(Plot{.series = {series}})).at("series").at(0).at("x"), Json::array({3.0, 1.0}));
}

TEST(FigureJson, what_is_no_number_is_null) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Json json = to_json(Figure(Plot{.series = {{.points = {{.x = 1, .y = nan}}}}, .limits = {{"l", nan}}}));
  EXPECT_TRUE(json.at("series").at(0).at("y").at(0).is_null());
  EXPECT_TRUE(json.at("limits").empty());
}

TEST(FigureJson, keeps_seven_digits) {
  const Json json = to_json(Figure(Plot{.series = {{.points = {{.x = 0.123456789, .y = 1.0 / 3}}}}}));
  EXPECT_EQ(json.at("series").at(0).at("x").at(0).dump(), "0.1234568");
}

TEST(FigureJson, a_table_is_html_and_no_data) { EXPECT_THROW(to_json(Figure(Table{})), Error); }

TEST(PlotJson, is_read_as_it_was_written) {
  const Plot plot{.title = "times",
                  .x = {.label = "size", .unit = "B", .logarithmic = true},
                  .y = {.label = "time", .unit = "s"},
                  .series = {{.name = "here",
                              .points = {{.x = 1, .y = 2, .low = 1.5, .high = 2.5, .label = "a"}, {.x = 3, .y = 4}}},
                             {.name = "published", .points = {{.x = 1, .y = 7}}, .is_line = false}},
                  .limits = {{.name = "link", .y = 9}},
                  .has_diagonal = true};
  const Json json = to_json(plot);
  EXPECT_EQ(to_json(Form<Plot>::read(JsonReader(json, "file"))), json);
}

}  // namespace
}  // namespace shiplap::document
