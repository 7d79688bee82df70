#include "shiplap/report/svg.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/document/colours.hpp"
#include "tests/report/timelines.hpp"

namespace shiplap {
namespace {

using test::diagonal;
using test::Drawn;

/// "" when every tag is closed in order, attributes are quoted and no bare & or < stands in the text; else what is
/// wrong.
std::string xml_problem(const std::string& text) {
  static const std::regex tag(
      R"(<(/?)([A-Za-z]+)((?:\s+[A-Za-z][A-Za-z0-9:-]*="[^"<&]*(?:&[a-z]+;[^"<&]*)*")*)\s*(/?)>)");
  std::vector<std::string> open;
  bool root_seen = false;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '<') {
      std::smatch match;
      const std::string rest = text.substr(at, text.find('>', at) - at + 1);
      if (!std::regex_match(rest, match, tag)) return "not a tag: " + rest;
      if (match[1] == "/") {
        if (open.empty() || open.back() != match[2]) return "closes what is not open: " + rest;
        open.pop_back();
      } else if (match[4] != "/") {
        if (open.empty() && root_seen) return "a second root: " + rest;
        root_seen = true;
        open.push_back(match[2]);
      }
      at += rest.size();
      continue;
    }
    if (text[at] == '&' && !std::regex_search(text.substr(at, 6), std::regex("^&(amp|lt|gt|quot);"))) return "bare &";
    ++at;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

struct Rect {
  double x, y, width, height;
};

std::vector<Rect> op_rects(const std::string& picture) {
  static const std::regex rect(
      R"re(<rect class="op [^"]*" x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)")re");
  std::vector<Rect> rects;
  for (std::sregex_iterator it(picture.begin(), picture.end(), rect), end; it != end; ++it)
    rects.push_back({std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]), std::stod((*it)[4])});
  return rects;
}

std::string draw(const Drawn& d, const SvgOptions& options = {}) {
  const std::array panels{SvgPanel{"predicted", d.schedule, d.timeline}};
  return svg(panels, options);
}

TEST(Svg, is_well_formed_even_when_names_hold_markup) {
  const std::string picture = draw(diagonal(12, milliseconds(1)), {.title = "a < b & \"c\"", .subtitle = "x > y"});
  EXPECT_EQ(xml_problem(picture), "");
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_NE(picture.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
}

TEST(Svg, shows_every_op_of_every_panel_once) {
  const Drawn a = diagonal(32, milliseconds(1));
  const Drawn b = diagonal(7, milliseconds(3));
  const std::array panels{SvgPanel{"predicted", a.schedule, a.timeline}, SvgPanel{"observed", b.schedule, b.timeline}};
  const std::string picture = svg(panels);
  EXPECT_EQ(xml_problem(picture), "");
  EXPECT_EQ(op_rects(picture).size(), 3u * 32 + 3 * 7);
  EXPECT_LT(picture.find("predicted"), picture.find("observed"));
  for (const char* label : {"H2D copies", "kernels", "D2H copies", "busy", ">ms<"})
    EXPECT_NE(picture.find(label), std::string::npos) << label;
}

TEST(Svg, bars_of_one_row_never_overlap) {
  std::map<double, double> right_edge;
  for (const Rect& r : op_rects(draw(diagonal(200, microseconds(50))))) {
    const auto edge = right_edge.find(r.y);
    if (edge != right_edge.end()) {
      EXPECT_GE(r.x, edge->second - 0.011);  // coordinates have two digits behind the point
    }
    right_edge[r.y] = r.x + r.width;
  }
  EXPECT_EQ(right_edge.size(), 3u);
}

TEST(Svg, equal_times_are_equally_wide_and_stay_inside) {
  const auto rects = op_rects(draw(diagonal(16, milliseconds(1)), {.width = 960}));
  for (const Rect& r : rects) {
    EXPECT_NEAR(r.width, rects.front().width, 0.011);
    EXPECT_LT(r.x + r.width, 960);
  }
}

TEST(Svg, needs_nothing_from_elsewhere_and_brings_its_own_background_for_both_themes) {
  const std::string picture = draw(diagonal(3, milliseconds(1)));
  EXPECT_EQ(picture.find("href"), std::string::npos);
  EXPECT_EQ(picture.find("@import"), std::string::npos);
  EXPECT_EQ(picture.find("<script"), std::string::npos);
  EXPECT_NE(picture.find("class=\"card\""), std::string::npos);
  EXPECT_NE(picture.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(Svg, draws_the_bound_where_asked_for) {
  EXPECT_EQ(draw(diagonal(3, milliseconds(1))).find("class=\"bound\""), std::string::npos);
  const std::string picture = draw(diagonal(3, milliseconds(1)), {.bound = milliseconds(4)});
  EXPECT_NE(picture.find("class=\"bound\""), std::string::npos);
  EXPECT_NE(picture.find("bound 4.000 ms"), std::string::npos);
}

/// WCAG relative luminance of "#rrggbb".
double luminance(const std::string& colour) {
  const auto channel = [&](std::size_t at) {
    const double c = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

TEST(Svg, chunk_numbers_stand_out_from_their_bars) {
  // One chunk's bar and its number. 4.5 is WCAG's ratio for text.
  const std::string picture = draw(diagonal(16, milliseconds(1)));
  static const std::regex pair(
      R"re(fill="(#[0-9a-f]{6})"><title>[^<]*</title></rect>\s*<text class="number (on-[a-z]+)")re");
  int seen = 0;
  for (std::sregex_iterator it(picture.begin(), picture.end(), pair), end; it != end; ++it, ++seen) {
    const double bar = luminance((*it)[1]);
    const double text = (*it)[2] == "on-dark" ? 1.0 : luminance("#14181f");
    const double ratio = (std::max(bar, text) + 0.05) / (std::min(bar, text) + 0.05);
    EXPECT_GE(ratio, 4.5) << (*it)[1] << " " << (*it)[2];
  }
  EXPECT_EQ(seen, 48);
}

TEST(Svg, bars_of_each_direction_and_of_kernels_have_the_colour_of_pages) {
  const std::string picture = draw(diagonal(4, milliseconds(1)));
  static const std::regex bar(R"re(<rect class="op chunk-(\d+)"[^>]* y="([0-9.]+)"[^>]* fill="(#[0-9a-f]{6})")re");
  std::map<double, std::vector<std::string>> rows;  // from top to bottom: H2D copies, kernels, D2H copies
  for (std::sregex_iterator it(picture.begin(), picture.end(), bar), end; it != end; ++it)
    if (std::stoi((*it)[1]) % 2 == 0) rows[std::stod((*it)[2])].push_back((*it)[3]);
  ASSERT_EQ(rows.size(), 3u);
  auto row = rows.begin();
  for (const char* thing : {"h2d", "kernel", "d2h"}) {
    for (const std::string& colour : row->second) EXPECT_EQ(colour, document::colour_of(thing)) << thing;
    ++row;
  }
}

TEST(Svg, refuses_a_timeline_without_single_ops) {
  Drawn d = diagonal(2, milliseconds(1));
  d.timeline.spans.clear();
  EXPECT_THROW(draw(d), Error);
}

}  // namespace
}  // namespace shiplap
