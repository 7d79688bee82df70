#include "shiplap/report/svg_parts.hpp"

#include <fmt/format.h>

namespace shiplap {
namespace {

// The card brings its own background: a picture in a README cannot know the page's. Bars keep their colours in both.
constexpr const char* style_sheet = R"(<style>
  .card { fill: #ffffff; stroke: #d4d9e0; }
  .track { fill: #eef1f5; }
  .grid { stroke: #d4d9e0; stroke-width: 1; }
  .bound { stroke: #c2342b; stroke-width: 1.5; stroke-dasharray: 5 4; }
  .change { stroke: #5b6675; stroke-width: 1; stroke-dasharray: 3 3; }
  .curve { fill: none; stroke-width: 2; }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1d2530; }
  .title { font-size: 17px; font-weight: 600; }
  .heading { font-size: 13px; font-weight: 600; }
  .label { font-size: 13px; }
  .small { font-size: 12px; fill: #5b6675; }
  .red { font-size: 12px; fill: #c2342b; }
  .number { font-size: 11px; text-anchor: middle; pointer-events: none; }
  .on-dark { fill: #ffffff; }
  .on-light { fill: #14181f; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #161b22; stroke: #30363d; }
    .track { fill: #21272f; }
    .grid { stroke: #353c45; }
    .bound { stroke: #ff7b72; }
    .change { stroke: #9aa5b1; }
    text { fill: #e6edf3; }
    .small { fill: #9aa5b1; }
    .red { fill: #ff7b72; }
    .on-dark { fill: #ffffff; }
    .on-light { fill: #14181f; }
  }
</style>
)";

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string svg_text(double x, double y, std::string_view classes, std::string_view content, std::string_view anchor) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", classes, x, y,
                     anchor, xml_escape(content));
}

std::string svg_document(unsigned width, double height, std::string_view label, std::string_view body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
      "role=\"img\" aria-label=\"{2}\">\n{3}<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{4}\" height=\"{5:.0f}\" "
      "rx=\"8\"/>\n{6}</svg>\n",
      width, height, xml_escape(label), style_sheet, width - 1, height - 1, body);
}

}  // namespace shiplap
