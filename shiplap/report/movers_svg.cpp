#include "shiplap/report/movers_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "shiplap/document/colours.hpp"
#include "shiplap/report/svg_parts.hpp"

namespace shiplap {
namespace {

constexpr unsigned picture_width = 960;
constexpr double picture_margin = 24;
constexpr double axis_width = 44;
constexpr double plot_width = 404;
constexpr double plot_height = 260;
constexpr double plot_top = 116;
constexpr unsigned ticks_of_rate = 6;

struct Curve {
  Mover::Kind kind;
  const char* label;
  std::string_view colour() const { return document::colour_of(name_of(kind)); }
};
constexpr std::array curves{Curve{Mover::Kind::copies, "a copy for each block"}, Curve{Mover::Kind::batch, "batch"},
                            Curve{Mover::Kind::strided, "strided copy"},
                            Curve{Mover::Kind::kernel, "kernel, best grid"}};

/// The rate of the fastest mover of a kind; nullopt when the row has none.
std::optional<double> best_rate(const MoverRow& row, Mover::Kind kind) {
  std::optional<double> best;
  for (const MoverTime& m : row.movers)
    if (m.mover.kind == kind) best = std::max(best.value_or(0), in_gigabytes_per_second(m.rate));
  return best;
}

/// Numbers of ticks are round: 0, 10, 20 … GB/s.
double step_of_ticks(double highest) {
  const double least = std::max(highest, 1e-3) / ticks_of_rate;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= least) return step * power;
  return 10 * power;
}

/// One plot: rates over sizes of a block, of one direction.
class RatePlot {
 public:
  RatePlot(const MoverTable& table, std::uint64_t blocks, bool to_device, double left, double highest)
      : left_(left), step_(step_of_ticks(highest)), highest_(step_ * std::ceil(highest / step_)) {
    for (const MoverRow& row : table.rows)
      if (row.set.blocks == blocks && row.set.to_device == to_device) rows_.push_back(&row);
    for (const Crossovers& found : table.crossovers)
      if (found.blocks == blocks && found.to_device == to_device) crossovers_ = &found;
    body_ += svg_text(left, plot_top - 26, "heading", to_device ? "H2D (gather)" : "D2H (scatter)");
  }

  std::string draw() {
    axes();
    changes();
    for (const Curve& curve : curves) draw(curve);
    return body_;
  }

 private:
  double x(Bytes block) const {
    const double part = std::log2(in_bytes(block) / in_bytes(smallest_crossover)) /
                        std::log2(in_bytes(largest_crossover) / in_bytes(smallest_crossover));
    return left_ + axis_width + part * (plot_width - axis_width);
  }
  double y(double rate) const { return plot_top + plot_height * (1 - rate / highest_); }
  void line(const char* classes, double x1, double y1, double x2, double y2) {
    fmt::format_to(std::back_inserter(body_),
                   "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", classes, x1, y1,
                   x2, y2);
  }

  void axes() {
    for (double rate = 0; rate <= highest_ * 1.0001; rate += step_) {
      line("grid", x(smallest_crossover), y(rate), x(largest_crossover), y(rate));
      body_ += svg_text(left_ + axis_width - 8, y(rate) + 4, "small", fmt::format("{:g}", rate), "end");
    }
    body_ += svg_text(left_, plot_top - 8, "small", "GB/s");
    for (Bytes block = smallest_crossover; block <= largest_crossover; block = block * 4)
      body_ += svg_text(x(block), plot_top + plot_height + 18, "small", to_string(block), "middle");
  }

  void changes() {
    if (crossovers_ == nullptr) return;
    for (std::size_t i = 1; i < crossovers_->best.size(); ++i) {
      const MoverFrom& from = crossovers_->best[i];
      const std::optional<Mover>& before = crossovers_->best[i - 1].mover;
      if (from.mover && before && from.mover->kind == before->kind) continue;
      line("change", x(from.block), plot_top, x(from.block), plot_top + plot_height);
      body_ += svg_text(x(from.block), plot_top - 4, "small", to_string(from.block), "middle");
    }
  }

  void draw(const Curve& curve) {
    std::string points;
    for (const MoverRow* row : rows_)
      if (const auto rate = best_rate(*row, curve.kind))
        fmt::format_to(std::back_inserter(points), "{}{:.1f},{:.1f}", points.empty() ? "" : " ", x(row->set.block),
                       y(*rate));
    if (points.empty()) return;
    fmt::format_to(std::back_inserter(body_),
                   "<polyline class=\"curve {}\" stroke=\"{}\" points=\"{}\"><title>{}</title></polyline>\n",
                   name_of(curve.kind), curve.colour(), points, curve.label);
  }

  double left_;
  double step_;
  double highest_;
  std::vector<const MoverRow*> rows_;
  const Crossovers* crossovers_ = nullptr;
  std::string body_;
};

double highest_rate(const MoverTable& table, std::uint64_t blocks) {
  double highest = 0;
  for (const MoverRow& row : table.rows)
    for (const MoverTime& m : row.movers)
      if (row.set.blocks == blocks) highest = std::max(highest, in_gigabytes_per_second(m.rate));
  return highest;
}

std::string legend(const MoverTable& table, std::uint64_t blocks, double at_y) {
  std::string text;
  double at = picture_margin;
  for (const Curve& curve : curves) {
    const bool is_drawn = std::ranges::any_of(
        table.rows, [&](const MoverRow& row) { return row.set.blocks == blocks && best_rate(row, curve.kind); });
    if (!is_drawn) continue;
    fmt::format_to(std::back_inserter(text),
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"16\" height=\"4\" fill=\"{}\"/>\n", at, at_y - 6,
                   curve.colour());
    text += svg_text(at + 22, at_y, "small", curve.label);
    at += 180;
  }
  return text +
         svg_text(picture_width - picture_margin, at_y, "small", "dashed: another mover becomes the best", "end");
}

}  // namespace

std::string movers_svg(const MoverTable& table, std::uint64_t blocks) {
  const double highest = highest_rate(table, blocks);
  std::string body = svg_text(
      picture_margin, picture_margin + 16, "title",
      fmt::format("Rate of moving {} scattered block{}, by the size of a block", blocks, blocks == 1 ? "" : "s"));
  body += svg_text(
      picture_margin, picture_margin + 38, "small",
      fmt::format("profile {} ({}), a pool in {} memory{}", table.profile, table.profile_origin,
                  to_string(table.question.pool), table.question.regular ? ", blocks at equal distances" : ""));
  body += RatePlot(table, blocks, true, picture_margin, highest).draw();
  body += RatePlot(table, blocks, false, picture_width / 2.0 + picture_margin, highest).draw();
  const double below = plot_top + plot_height + 48;
  body += legend(table, blocks, below);
  return svg_document(picture_width, below + picture_margin, fmt::format("rate of movers for {} blocks", blocks), body);
}

}  // namespace shiplap
