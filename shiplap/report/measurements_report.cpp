#include "shiplap/report/measurements_report.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// The rate of a point that moves bytes, summed over both directions; "" for other points.
std::string rate_text(const Measurement& m, double us) {
  const std::optional<Bytes> bytes = bytes_of_run(m);
  return bytes && us > 0 ? to_string(*bytes / microseconds(us)) : "";
}

}  // namespace

std::string point_name(const Measurement& m) {
  std::string out = m.primitive;
  for (const auto& [name, value] : m.arguments) out += fmt::format(" {}={:.10g}", name, value);
  return out;
}

std::string measurements_report(std::span<const Measurement> measurements, const TextStyle& style) {
  Table table{.columns = {{"point", Align::left},
                          {"median", Align::right},
                          {"rate", Align::right},
                          {"spread", Align::right},
                          {"repeats", Align::right},
                          {"clock", Align::left},
                          {"bytes", Align::left}}};
  for (const Measurement& m : measurements) {
    if (m.samples_us.empty()) continue;
    const std::span<const double> samples = figure_samples(m);
    const Estimate us = median_estimate(samples);
    std::string point = m.primitive;
    for (const auto& [name, value] : m.arguments) point += fmt::format(" {} {}", name, argument_text(name, value));
    table.add({std::move(point), with_interval({microseconds(us.value), microseconds(us.low), microseconds(us.high)}),
               rate_text(m, us.value), percent(relative_spread(samples)), std::to_string(samples.size()), m.clock,
               m.verified ? "verified" : "–"});
  }
  return table.empty() ? "" : table.text(style);
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
