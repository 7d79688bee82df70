#include "shiplap/report/timeline_plot.hpp"

#include <utility>

#include "shiplap/document/table.hpp"
#include "shiplap/report/rows.hpp"

namespace shiplap::document {

Panel panel_of(const TimelineView& ops, std::string label) {
  Panel panel{.label = std::move(label)};
  for (const EngineRow& engine : engine_rows(ops)) {
    Row row{
        .label = engine.label, .detail = percent(engine.busy) + " busy", .lanes = engine.lanes, .thing = engine.thing};
    if (!engine.detail.empty()) row.detail += ", " + engine.detail;
    for (const shiplap::Bar& bar : engine.bars)
      row.bars.push_back({.name = ops[bar.op.index()].name,
                          .start = bar.start.count(),
                          .end = bar.end.count(),
                          .lane = bar.lane,
                          .chunk = bar.chunk});
    panel.rows.push_back(std::move(row));
  }
  return panel;
}

}  // namespace shiplap::document
