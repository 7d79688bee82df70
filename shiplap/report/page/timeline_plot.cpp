#include "shiplap/report/page/timeline_plot.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "shiplap/core/quantity_json.hpp"
#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/rows.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

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
  if (op.span.end < op.span.start) json.at("end").fail("a time that is not before the start");
  op.chunk = static_cast<std::uint32_t>(json.at("chunk").unsigned_integer());
  op.bytes = bytes_from_json(json.at("bytes"));
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
