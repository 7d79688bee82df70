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

/// "copy.pinned.h2d, 6 points: 5.535 µs to 4.842 ms, at most 55.44 GB/s (bytes 256 MiB)."
std::string measured_answer(std::span<const Measurement> measurements, bool is_simulated) {
  struct Shown {
    std::string name;
    double us = 0;
    std::string rate{};
  };
  std::vector<Shown> points;
  const std::set<std::string> names = names_of_measured(measurements);
  const Shown* fastest = nullptr;
  double best = 0;
  points.reserve(measurements.size());
  for (const Measurement& m : measurements) {
    if (m.samples_us.empty()) continue;
    const double us = median_estimate(figure_samples(m)).value;
    points.push_back({described_point(m, names.size() == 1), us, rate_text(m, us)});
    const std::optional<Bytes> bytes = bytes_of_run(m);
    if (!bytes || !(us > 0) || in_bytes(*bytes) / us <= best) continue;
    best = in_bytes(*bytes) / us;
    fastest = &points.back();
  }
  if (points.empty()) return "";
  const auto [least, most] = std::ranges::minmax(points, {}, &Shown::us);
  const std::string count = points.size() == 1 ? "1 point" : fmt::format("{} points", points.size());
  std::string text = names.size() == 1 ? fmt::format("{}, {}: ", *names.begin(), count)
                                       : fmt::format("{} primitives, {}: ", names.size(), count);
  text += to_string(microseconds(least.us));
  if (points.size() > 1) text += fmt::format(" to {}", to_string(microseconds(most.us)));
  if (is_simulated) text += " (simulated)";
  if (fastest != nullptr) text += fmt::format(", at most {} ({})", fastest->rate, fastest->name);
  return text + ".";
}

}  // namespace

std::string point_name(const Measurement& m) {
  std::string out = m.primitive;
  for (const auto& [name, value] : m.arguments) out += fmt::format(" {}={:.10g}", name, value);
  return out;
}

std::string measurements_report(std::span<const Measurement> measurements, const TextStyle& style,
                                const std::string& simulation) {
  Table table{.columns = {{"point", Align::left},
                          {"median", Align::right},
                          {"rate", Align::right},
                          {"spread", Align::right},
                          {"repeats", Align::right},
                          {"clock", Align::left},
                          {"bytes", Align::left}}};
  const bool has_one_primitive = names_of_measured(measurements).size() == 1;
  for (const Measurement& m : measurements) {
    if (m.samples_us.empty()) continue;
    const std::span<const double> samples = figure_samples(m);
    const Estimate us = median_estimate(samples);
    table.add({described_point(m, has_one_primitive),
               with_interval({microseconds(us.value), microseconds(us.low), microseconds(us.high)}),
               rate_text(m, us.value), percent(relative_spread(samples)), std::to_string(samples.size()), m.clock,
               m.verified ? "verified" : "–"});
  }
  if (table.empty()) return "";
  std::string text = bold_lines(wrap(measured_answer(measurements, !simulation.empty()), style.width), style);
  if (!simulation.empty()) text += wrap(simulation, style.width) + "\n";
  return text + "\n" + table.text(style);
}

std::string skips_report(const MeasureResult& result, const TextStyle& style) {
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
  for (const auto& [reason, names] : reasons)
    out += wrap(fmt::format("skipped, {}: {}", reason, names), style.width, "  ") + "\n";
  for (const FailedPoint& f : result.failed)
    out += wrap(fmt::format("failed {}: {}", f.point, f.reason), style.width, "  ") + "\n";
  return out;
}

}  // namespace shiplap
