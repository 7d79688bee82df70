#include "shiplap/report/transfers_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/limits.hpp"
#include "shiplap/report/csv.hpp"

namespace shiplap {
namespace {

/// A way to move bytes, with the primitives that measure it.
struct TransferWay {
  const char* name;
  std::array<const char*, 3> primitives;  ///< primitives for H2D, D2H and duplex; null where there is none
};
constexpr std::array transfer_ways{
    TransferWay{"pinned, copy engine", {"copy.pinned.h2d", "copy.pinned.d2h", "copy.pinned.both"}},
    TransferWay{"pinned, copies in a row", {"burst.pinned.h2d", "burst.pinned.d2h", nullptr}},
    TransferWay{"pinned, not in the CPU's caches",
                {"copy.pinned.h2d.flushed", "copy.pinned.d2h.flushed", "copy.pinned.both.flushed"}},
    TransferWay{"pinned by the driver", {"copy.driver_pinned.h2d", "copy.driver_pinned.d2h", nullptr}},
    TransferWay{"write-combined", {"copy.write_combined.h2d", "copy.write_combined.d2h", nullptr}},
    TransferWay{"mapped, kernels (zero-copy)", {"mapped.read", "mapped.write", "mapped.both"}},
    TransferWay{"pageable", {"copy.pageable.h2d", "copy.pageable.d2h", "copy.pageable.both"}},
    TransferWay{"pageable, not in the CPU's caches",
                {"copy.pageable.h2d.flushed", "copy.pageable.d2h.flushed", "copy.pageable.both.flushed"}},
    TransferWay{"pageable through pinned rings", {"staged.h2d", "staged.d2h", nullptr}},
    TransferWay{"managed, prefetch", {"prefetch.h2d", "prefetch.d2h", "prefetch.both"}},
    TransferWay{"managed, on demand", {"demand.h2d", "demand.d2h", "demand.both"}},
};

struct Rate {
  double bytes_per_second = 0;
  double limit = 0;  ///< 0: unknown
  std::string at;
};

/// The best rate at the largest size, over all numbers of threads and grids that were measured.
std::optional<Rate> rate_of(std::span<const Figure> figures, const char* primitive) {
  if (primitive == nullptr) return std::nullopt;
  Bytes largest;
  for (const Figure& f : figures)
    if (f.primitive == primitive && f.bytes) largest = std::max(largest, *f.bytes);
  std::optional<Rate> best;
  for (const Figure& f : figures) {
    if (f.primitive != primitive || f.bytes != largest || f.time.value <= Seconds{0}) continue;
    const double rate = static_cast<double>(f.bytes->count) / f.time.value.count();
    if (best && best->bytes_per_second >= rate) continue;
    best = Rate{rate, f.limit.value_or(0), to_string(Bytes{static_cast<std::uint64_t>(f.arguments.at("bytes"))})};
    if (const auto threads = f.arguments.find("threads"); threads != f.arguments.end())
      best->at += fmt::format(", {:.0f} thread{}", threads->second, threads->second == 1 ? "" : "s");
  }
  return best;
}

}  // namespace

std::string transfers_report(std::span<const Figure> all, const TextStyle& style) {
  std::vector<std::array<std::optional<Rate>, 3>> rates;
  std::array<double, 3> best{};
  std::array<double, 3> worst{};
  std::array<std::size_t, 3> known{};
  for (const TransferWay& way : transfer_ways) {
    auto& row = rates.emplace_back();
    for (std::size_t d = 0; d < row.size(); ++d) {
      row[d] = rate_of(all, way.primitives[d]);
      if (!row[d]) continue;
      const double rate = row[d]->bytes_per_second;
      best[d] = known[d] == 0 ? rate : std::max(best[d], rate);
      worst[d] = known[d] == 0 ? rate : std::min(worst[d], rate);
      ++known[d];
    }
  }
  std::array<double, 3> limits{};
  Table table{.columns = {{"GB/s"}, {"H2D", Align::right}, {"D2H", Align::right}, {"duplex", Align::right}, {"at"}}};
  for (std::size_t w = 0; w < transfer_ways.size(); ++w) {
    std::vector<Cell> cells{transfer_ways[w].name};
    std::vector<std::string> at;
    bool any = false;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!rates[w][d]) {
        cells.push_back("–  ");
        continue;
      }
      any = true;
      const double rate = rates[w][d]->bytes_per_second;
      const char* mark = known[d] > 1 && rate == best[d] ? " ▲" : known[d] > 1 && rate == worst[d] ? " ▼" : "  ";
      const double limit = rates[w][d]->limit;
      if (limit > 0) limits[d] = limit;
      cells.push_back(fmt::format("{:.2f}{}{}", rate * 1e-9,
                                  limit > 0 ? fmt::format(" {:3.0f} %", 100 * rate / limit) : std::string(), mark));
      if (std::ranges::find(at, rates[w][d]->at) == at.end()) at.push_back(rates[w][d]->at);
    }
    cells.push_back(fmt::format("{}", fmt::join(at, "; ")));
    if (any) table.add(std::move(cells));
  }
  if (table.empty()) return "";
  if (std::ranges::any_of(limits, [](double limit) { return limit > 0; })) {
    std::vector<Cell> cells{"limit of the link"};
    for (const double limit : limits) cells.push_back(limit > 0 ? fmt::format("{:.2f}  ", limit * 1e-9) : "–  ");
    cells.emplace_back("");
    table.add(std::move(cells));
  }
  return "\n" + bold("ways to move bytes, each at its largest size", style) + "\n" + table.text(style, "  ") +
         "  ▲ best, ▼ worst of a direction; duplex: the sum of the two directions\n";
}

std::string measurements_csv(std::span<const Measurement> measurements, const Conditions& conditions) {
  std::string out =
      "primitive,arguments,clock,samples,set_aside,median_us,low_us,high_us,mean_us,standard_deviation_us,"
      "coefficient_of_variation,verified,held_by,effective_gb_s,limit_gb_s\n";
  for (const Measurement& m : measurements) {
    if (m.samples_us.empty()) continue;
    std::string arguments;
    for (const auto& [name, value] : m.arguments)
      arguments += fmt::format("{}{}={}", arguments.empty() ? "" : " ", name, value);
    const std::span<const double> samples = figure_samples(m);
    const Estimate us = median_estimate(samples);
    const double average = mean(samples);
    const double deviation = standard_deviation(samples);
    std::string bandwidth;
    std::string limit;
    if (const auto bytes = bytes_of_run(m); bytes && us.value > 0) {
      bandwidth = fmt::format("{:.6g}", static_cast<double>(bytes->count) / us.value * 1e-3);
      const Figure figure{.primitive = m.primitive, .arguments = m.arguments, .time = {}, .bytes = bytes};
      if (const auto most = limit_of(figure, conditions)) limit = fmt::format("{:.6g}", *most * 1e-9);
    }
    out += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},{}\n", m.primitive, arguments,
                       m.clock, samples.size(), m.samples_us.size() - samples.size(), us.value, us.low, us.high,
                       average, deviation, average > 0 ? deviation / average : 0, m.verified ? "true" : "false",
                       m.held_by.empty() ? "" : csv_quoted(m.held_by), bandwidth, limit);
  }
  return out;
}

}  // namespace shiplap
