#include "shiplap/report/measurements_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/figures.hpp"

namespace shiplap {

namespace {

/// The argument as people write it: sizes with binary units.
std::string argument_text(const std::string& name, double value) {
  const bool is_size = name == "bytes" || name == "copy" || name == "pool" || name == "block";
  return is_size ? to_string(Bytes{static_cast<std::uint64_t>(value)}) : fmt::format("{:.10g}", value);
}

/// The primitive and its arguments, as in "copy.pinned.h2d bytes 4 KiB"; without the primitive where `is_only` says
/// that all points have the same one, unless there are no arguments.
std::string described_point(const Measurement& m, bool is_only) {
  std::string point = is_only && !m.arguments.empty() ? "" : m.primitive;
  for (const auto& [name, value] : m.arguments)
    point += fmt::format("{}{} {}", point.empty() ? "" : " ", name, argument_text(name, value));
  return point;
}

std::set<std::string> names_of_measured(std::span<const Measurement> measurements) {
  std::set<std::string> names;
  for (const Measurement& m : measurements)
    if (!m.samples_us.empty()) names.insert(m.primitive);
  return names;
}

/// The rate of a point that moves bytes, summed over both directions; "" for other points.
std::string rate_text(const Measurement& m, double us) {
  const std::optional<Bytes> bytes = bytes_of_run(m);
  return bytes && us > 0 ? to_string(*bytes / microseconds(us)) : "";
}

/// What a table says of a point.
struct MeasuredPoint {
  std::string primitive;
  std::string name{};  ///< name of the point, without its primitive where all have the same one
  double us = 0;
  double bytes_per_us = 0;  ///< 0 where no bytes are moved
  std::string rate{};
};

std::vector<MeasuredPoint> measured_points(std::span<const Measurement> measurements) {
  const bool has_one_primitive = names_of_measured(measurements).size() == 1;
  std::vector<MeasuredPoint> points;
  points.reserve(measurements.size());
  for (const Measurement& m : measurements) {
    if (m.samples_us.empty()) continue;
    const double us = median_estimate(figure_samples(m)).value;
    const std::optional<Bytes> bytes = bytes_of_run(m);
    points.push_back({m.primitive, described_point(m, has_one_primitive), us,
                      bytes && us > 0 ? in_bytes(*bytes) / us : 0, rate_text(m, us)});
  }
  return points;
}

std::string times_of(std::span<const MeasuredPoint> points) {
  const auto [least, most] = std::ranges::minmax(points, {}, &MeasuredPoint::us);
  return points.size() == 1
             ? to_string(microseconds(least.us))
             : fmt::format("{} to {}", to_string(microseconds(least.us)), to_string(microseconds(most.us)));
}

std::string count_of(std::size_t points) { return points == 1 ? "1 point" : fmt::format("{} points", points); }

/// "copy.pinned.h2d, 6 points: 5.535 µs to 4.842 ms, at most 55.44 GB/s (bytes 256 MiB)."
std::string measured_answer(std::span<const MeasuredPoint> points, std::size_t primitives, bool is_simulated) {
  const MeasuredPoint& fastest = *std::ranges::max_element(points, {}, &MeasuredPoint::bytes_per_us);
  std::string text =
      fmt::format("{}, {}: {}", primitives == 1 ? points.front().primitive : fmt::format("{} primitives", primitives),
                  count_of(points.size()), times_of(points));
  if (is_simulated) text += " (simulated)";
  if (!fastest.rate.empty()) text += fmt::format(", at most {} ({})", fastest.rate, fastest.name);
  return text + ".";
}

constexpr std::size_t rows_of_a_screen = 14;

/// A row for each primitive, of at most a screen, and a line on what is not shown.
std::string by_primitive(std::span<const MeasuredPoint> points, const TextStyle& style) {
  Table table{.columns = {{"primitive", Align::left},
                          {"points", Align::right},
                          {"shortest", Align::right},
                          {"longest", Align::right},
                          {"highest rate", Align::right}}};
  std::size_t left_out = 0;
  while (!points.empty()) {
    const auto others = std::ranges::find_if(
        points, [&](const MeasuredPoint& point) { return point.primitive != points.front().primitive; });
    const auto same = points.first(static_cast<std::size_t>(others - points.begin()));
    points = points.subspan(same.size());
    if (table.rows.size() == rows_of_a_screen) {
      ++left_out;
      continue;
    }
    const auto [least, most] = std::ranges::minmax(same, {}, &MeasuredPoint::us);
    table.add({same.front().primitive, std::to_string(same.size()), to_string(microseconds(least.us)),
               to_string(microseconds(most.us)), std::ranges::max(same, {}, &MeasuredPoint::bytes_per_us).rate});
  }
  const std::string more = left_out == 0 ? "" : fmt::format("{} more primitives, and ", left_out);
  return table.text(style) + fmt::format("\n--all shows {}every point.\n", more);
}

}  // namespace

std::string point_name(const Measurement& m) {
  std::string out = m.primitive;
  for (const auto& [name, value] : m.arguments) out += fmt::format(" {}={:.10g}", name, value);
  return out;
}

std::string measurements_report(std::span<const Measurement> measurements, const TextStyle& style,
                                const std::string& simulation, document::Detail detail) {
  const std::vector<MeasuredPoint> points = measured_points(measurements);
  if (points.empty()) return "";
  const std::size_t primitives = names_of_measured(measurements).size();
  std::string text = bold_lines(wrap(measured_answer(points, primitives, !simulation.empty()), style.width), style);
  if (!simulation.empty()) text += wrap(simulation, style.width) + "\n";
  if (primitives > 1 && points.size() > rows_of_a_screen && detail != document::Detail::all)
    return text + "\n" + by_primitive(points, style);
  Table table{.columns = {{"point", Align::left},
                          {"median", Align::right},
                          {"rate", Align::right},
                          {"spread", Align::right},
                          {"repeats", Align::right},
                          {"clock", Align::left},
                          {"bytes", Align::left}}};
  const bool all = detail == document::Detail::all;
  const std::size_t step = all ? 1 : 1 + (points.size() - 1) / rows_of_a_screen;  // and the last point
  std::size_t at = 0;
  for (const Measurement& m : measurements) {
    if (m.samples_us.empty()) continue;
    const MeasuredPoint& point = points[at++];
    if ((at - 1) % step != 0 && at != points.size()) continue;
    const std::span<const double> samples = figure_samples(m);
    const Estimate us = median_estimate(samples);
    table.add({point.name, with_interval({microseconds(us.value), microseconds(us.low), microseconds(us.high)}),
               point.rate, percent(relative_spread(samples)), std::to_string(samples.size()), m.clock,
               m.verified ? "verified" : "–"});
  }
  text += "\n" + table.text(style);
  return step == 1 ? text : text + fmt::format("\n--all shows all {} points.\n", points.size());
}

std::string skips_report(const MeasureResult& result, document::Detail detail, const TextStyle& style) {
  std::string out;
  // Primitives are grouped by the reason, and reasons stand in the order in which they came up.
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const SkippedPrimitive& s : result.skipped) {
    const auto same = std::ranges::find(reasons, s.reason, &std::pair<std::string, std::string>::first);
    if (same == reasons.end())
      reasons.emplace_back(s.reason, s.primitive);
    else
      same->second += ", " + s.primitive;
  }
  if (detail != document::Detail::all && result.skipped.size() > 1) {
    out +=
        fmt::format("{} primitives were skipped; shiplap measure --all says which, and why\n", result.skipped.size());
    reasons.clear();
  }
  for (const auto& [reason, names] : reasons)
    out += wrap(fmt::format("skipped, {}: {}", reason, names), style.width, "  ") + "\n";
  for (const FailedPoint& f : result.failed)
    out += wrap(fmt::format("failed {}: {}", f.point, f.reason), style.width, "  ") + "\n";
  return out;
}

}  // namespace shiplap
