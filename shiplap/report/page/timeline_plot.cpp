#include "shiplap/report/page/timeline_plot.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "shiplap/core/quantity_json.hpp"
#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/rows.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

constexpr Seconds longest_timeline{24 * 3600.0};
constexpr std::uint64_t most_bytes = 1ull << 50;  // sums over many ops stay numbers of 64 bits

Engine engine_of(const JsonReader& json) {
  const std::string name = json.string();
  for (std::size_t i = 0; i < engine_count; ++i)
    if (to_string(static_cast<Engine>(i)) == name) return static_cast<Engine>(i);
  json.fail("the name of an engine, such as \"copy H2D\"");
}

TimedOp op_of(const JsonReader& json) {
  TimedOp op;
  op.span = {.start = Seconds{quantity_of(json.at("start")).value},
             .end = Seconds{quantity_of(json.at("end")).value},
             .engine = engine_of(json.at("engine"))};
  json.at("start").at("value").non_negative();
  if (op.span.end > longest_timeline) json.at("end").fail("a time of at most a day");
  if (op.span.end < op.span.start) json.at("end").fail("a time that is not before the start");
  const std::uint64_t chunk = json.at("chunk").unsigned_integer();
  if (chunk > std::numeric_limits<std::uint32_t>::max()) json.at("chunk").fail("a number below 2^32");
  op.chunk = static_cast<std::uint32_t>(chunk);
  op.bytes = bytes_from_json(json.at("bytes"));
  if (op.bytes.count > most_bytes) json.at("bytes").fail("at most 1 PiB");
  return op;
}

}  // namespace

Panel panel_of(const JsonReader& ops, std::string label) {
  std::vector<TimedOp> timed;
  for (std::size_t i = 0; i < ops.size(); ++i) timed.push_back(op_of(ops.at(i)));
  Panel panel{.label = std::move(label)};
  for (const EngineRow& engine : engine_rows(timed)) {
    Row row{.label = engine.label, .detail = percent(engine.busy) + " busy", .lanes = engine.lanes};
    if (!engine.detail.empty()) row.detail += ", " + engine.detail;
    for (const shiplap::Bar& bar : engine.bars)
      row.bars.push_back({.name = ops.at(bar.op.value).at("op").string(),
                          .start = bar.start.count(),
                          .end = bar.end.count(),
                          .lane = bar.lane,
                          .chunk = bar.chunk});
    panel.rows.push_back(std::move(row));
  }
  return panel;
}

}  // namespace shiplap::page
