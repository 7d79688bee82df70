#include "shiplap/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "shiplap/document/colours.hpp"
#include "shiplap/report/rows.hpp"
#include "shiplap/report/svg_parts.hpp"

namespace shiplap {
namespace {

constexpr double margin = 24;
constexpr double label_width = 92;
constexpr double busy_width = 132;
constexpr double row_height = 28;
constexpr double row_gap = 6;
constexpr double panel_heading = 26;
constexpr double panel_gap = 16;

struct Panel {
  const SvgPanel* source;
  std::vector<EngineRow> rows;
};

/// Writes the parts of the picture from top to bottom.
class Canvas {
 public:
  Canvas(std::vector<Panel> panels, const SvgOptions& options) : panels_(std::move(panels)), options_(options) {
    for (const Panel& panel : panels_) {
      end_ = std::max(end_, last_end(panel.source->timeline));
    }
    if (options.bound) end_ = std::max(end_, *options.bound);
    axis_ = time_axis(end_, 10);
  }

  std::string picture() {
    double y = margin;
    if (!options_.title.empty()) {
      y += 16;
      text(margin, y, "title", options_.title);
      y += 6;
    }
    if (!options_.subtitle.empty()) {
      y += 15;
      text(margin, y, "small", options_.subtitle);
      y += 6;
    }
    if (options_.bound) y += 16;
    const double top = y + 4;
    for (const Panel& panel : panels_) y = draw(panel, y);
    const double bottom = y - row_gap + 6;
    grid(top, bottom);
    if (options_.bound) bound(top, bottom);
    y = bottom + 18;
    numbers(y);
    y += 30;
    legend(y);
    y += margin - 4;
    return document(y);
  }

 private:
  double plot_left() const { return margin + label_width; }
  double plot_width() const { return options_.width - 2 * margin - label_width - busy_width; }
  double x(Seconds t) const { return plot_left() + (end_.count() > 0 ? t / end_ * plot_width() : 0); }

  void text(double at_x, double at_y, const char* classes, std::string_view content, const char* anchor = "start") {
    body_ += svg_text(at_x, at_y, classes, content, anchor);
  }

  double draw(const Panel& panel, double y) {
    y += panel_gap;
    text(margin, y + 12, "heading", panel.source->label);
    text(plot_left() + plot_width(), y + 12, "small", to_string(panel.source->timeline.makespan), "end");
    if (&panel == panels_.data()) text(plot_left() + plot_width() + 12, y + 12, "small", "busy");
    y += panel_heading - 6;
    for (const EngineRow& row : panel.rows) {
      const double middle = y + row_height / 2 + 4.5;
      text(margin, middle, "label", row.label);
      fmt::format_to(std::back_inserter(body_),
                     "<rect class=\"track\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\"/>\n",
                     plot_left(), y, plot_width(), row_height);
      for (const Bar& bar : row.bars) draw(panel, row, bar, y);
      text(plot_left() + plot_width() + 12, middle, "label", fmt::format("{:.0f} %", row.busy * 100));
      if (!row.detail.empty()) text(options_.width - margin, middle, "small", row.detail, "end");
      y += row_height + row_gap;
    }
    return y;
  }

  void draw(const Panel& panel, const EngineRow& row, const Bar& bar, double y) {
    const double height = row_height / row.lanes;
    const double left = x(bar.start);
    const double width = std::max(x(bar.end) - left, 0.4);
    const double gap = width > 3 ? 0.8 : 0;  // separates neighbours; thin bars get no gap, so that they stay visible
    const std::string colour(document::colour_of(row.thing));
    const bool is_light = bar.chunk % 2 == 1;
    const double top = y + bar.lane * height;
    fmt::format_to(std::back_inserter(body_),
                   "<rect class=\"op chunk-{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" rx=\"{}\" "
                   "fill=\"{}\"><title>{}, {} to {} {}</title></rect>\n",
                   bar.chunk, left, top, width - gap, row.lanes > 1 ? height - 1 : height, width > 6 ? 2 : 0,
                   is_light ? document::lighter(colour) : colour, xml_escape(describe(panel.source->schedule, bar.op)),
                   fmt::format("{:.4g}", bar.start.count() * axis_.per_second),
                   fmt::format("{:.4g}", bar.end.count() * axis_.per_second), axis_.unit);
    const std::string number = std::to_string(bar.chunk);
    if (height >= 14 && width > 7.0 * static_cast<double>(number.size()) + 5)
      text(left + width / 2, top + height / 2 + 4, is_light ? "number on-light" : "number on-dark", number, "middle");
  }

  void grid(double top, double bottom) {
    std::string lines;
    for (const double tick : axis_.ticks) {
      const double at = x(Seconds{tick / axis_.per_second});
      fmt::format_to(std::back_inserter(lines),
                     "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", at, top,
                     bottom);
    }
    body_ = lines + body_;
  }

  void bound(double top, double bottom) {
    const double at = x(*options_.bound);
    fmt::format_to(std::back_inserter(body_),
                   "<line class=\"bound\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", at, top - 6,
                   bottom);
    const bool right_half = at > plot_left() + plot_width() / 2;
    text(right_half ? at - 5 : at + 5, top - 2, "red", fmt::format("bound {}", to_string(*options_.bound)),
         right_half ? "end" : "start");
  }

  void numbers(double y) {
    for (const double tick : axis_.ticks)
      text(x(Seconds{tick / axis_.per_second}), y, "small", axis_.label(tick), "middle");
    text(plot_left() + plot_width() + 12, y, "small", axis_.unit);
  }

  void legend(double y) {
    text(plot_left(), y, "small", fmt::format("number: {}, every other one is lighter", options_.numbers));
    text(options_.width - margin, y, "small", "busy: share of the time; rate while busy", "end");
  }

  std::string document(double height) const {
    return svg_document(options_.width, height, options_.title.empty() ? "timeline" : options_.title, body_);
  }

  std::vector<Panel> panels_;
  const SvgOptions& options_;
  Seconds end_{0};
  Axis axis_;
  std::string body_;
};

}  // namespace

std::string svg(std::span<const SvgPanel> panels, const SvgOptions& options) {
  std::vector<Panel> laid_out;
  for (const SvgPanel& panel : panels)
    laid_out.push_back({&panel, engine_rows(timeline_view(panel.schedule, panel.timeline))});
  return Canvas(std::move(laid_out), options).picture();
}

}  // namespace shiplap
