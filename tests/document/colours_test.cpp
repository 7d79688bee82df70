#include "shiplap/document/colours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap::document {
namespace {

using ::testing::HasSubstr;

/// WCAG relative luminance of "#rrggbb".
double luminance(std::string_view colour) {
  const auto channel = [&](std::size_t at) {
    const double c = std::stoi(std::string(colour.substr(at, 2)), nullptr, 16) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

double contrast(std::string_view a, std::string_view b) {
  const auto [darker, brighter] = std::minmax({luminance(a), luminance(b)});  // values: two arguments give references
  return (brighter + 0.05) / (darker + 0.05);
}

TEST(Colours, stand_out_from_their_background_and_carry_text) {
  for (const ThingColour& one : thing_colours()) {
    EXPECT_GE(contrast(one.light, "#ffffff"), 4.5) << one.thing;
    EXPECT_GE(contrast(one.dark, "#161b22"), 4.5) << one.thing;
    EXPECT_GE(contrast(one.dark, "#10141a"), 4.5) << one.thing;
    EXPECT_GE(contrast(lighter(one.light), "#14181f"), 4.5) << one.thing;
  }
}

TEST(Colours, every_strategy_has_its_own) {
  std::set<std::string_view> seen{colour_of("h2d"), colour_of("d2h"), colour_of("kernel")};
  EXPECT_EQ(seen.size(), 3u);
  for (const Strategy& strategy : strategies()) {
    EXPECT_NE(colour_of(strategy.name), "") << strategy.name;
    EXPECT_TRUE(seen.insert(colour_of(strategy.name)).second) << strategy.name;
  }
  EXPECT_EQ(colour_of("nothing of this name"), "");
}

TEST(Colours, are_variables_of_a_page_for_light_and_dark) {
  const std::string style = colour_variables();
  EXPECT_THAT(style, HasSubstr("--of-h2d: #2474c2;"));
  EXPECT_LT(style.find("#2474c2"), style.find("prefers-color-scheme: dark"));
  EXPECT_LT(style.find("prefers-color-scheme: dark"), style.find("--of-h2d: #6cb0f5;"));
}

TEST(Colours, lighter_is_nearer_to_white) { EXPECT_EQ(lighter("#000000"), "#4d4d4d"); }

}  // namespace
}  // namespace shiplap::document
