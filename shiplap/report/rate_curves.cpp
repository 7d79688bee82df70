#include "shiplap/report/rate_curves.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>

#include "shiplap/profile/topology.hpp"

namespace shiplap::document {
namespace {

constexpr std::size_t least_points = 2;

using PointOf = std::function<std::optional<Point>(const shiplap::Figure&)>;

/// `is_better` says whether the first of two points with the same argument counts.
std::vector<Series> curves(std::span<const shiplap::Figure> figures, const std::vector<NamedPrimitive>& primitives,
                           std::string_view argument, const PointOf& point_of,
                           const std::function<bool(const Point&, const Point&)>& is_better) {
  std::vector<Series> all;
  for (const NamedPrimitive& named : primitives) {
    std::map<double, Point> best;
    for (const shiplap::Figure& figure : figures) {
      const auto x = figure.arguments.find(std::string(argument));
      if (figure.primitive != named.primitive || x == figure.arguments.end()) continue;
      std::optional<Point> point = point_of(figure);
      if (!point) continue;
      point->x = x->second;
      point->label = name_of(figure);
      const auto found = best.find(x->second);
      if (found == best.end())
        best.emplace(x->second, *point);
      else if (is_better(*point, found->second))
        found->second = *point;
    }
    if (best.size() < least_points) continue;
    Series series{.name = named.name, .thing = named.thing, .dashes = named.dashes};
    for (const auto& [x, point] : best) series.points.push_back(point);
    all.push_back(std::move(series));
  }
  return all;
}

std::optional<Point> rate_point(const shiplap::Figure& figure) {
  if (!figure.bytes || !(figure.time.value > Seconds{0})) return std::nullopt;
  const double bytes = in_bytes(*figure.bytes);
  Point point{.y = bytes / figure.time.value.count()};
  if (figure.time.low > Seconds{0}) {
    point.low = bytes / figure.time.high.count();
    point.high = bytes / figure.time.low.count();
  }
  return point;
}

std::optional<Point> time_point(const shiplap::Figure& figure) {
  if (!(figure.time.value > Seconds{0})) return std::nullopt;
  return Point{.y = figure.time.value.count(), .low = figure.time.low.count(), .high = figure.time.high.count()};
}

}  // namespace

std::vector<Series> rate_curves(std::span<const shiplap::Figure> figures, const std::vector<NamedPrimitive>& primitives,
                                std::string_view argument) {
  return curves(figures, primitives, argument, rate_point, [](const Point& a, const Point& b) { return a.y > b.y; });
}

std::vector<Series> time_curves(std::span<const shiplap::Figure> figures, const std::vector<NamedPrimitive>& primitives,
                                std::string_view argument) {
  return curves(figures, primitives, argument, time_point, [](const Point& a, const Point& b) { return a.y < b.y; });
}

std::vector<Limit> link_limits(const Profile& profile) {
  const std::string link = condition(profile.conditions, "gpu.link");
  const double rate = pcie_link_rate(link);
  if (rate <= 0) return {};
  return {{.name = fmt::format("limit of each direction, {}", link), .y = rate}};
}

}  // namespace shiplap::document
