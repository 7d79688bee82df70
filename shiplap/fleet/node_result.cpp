#include "shiplap/fleet/node_result.hpp"

#include "shiplap/core/formats.hpp"

namespace shiplap {
namespace {}  // namespace

NodeResult node_result_from_json(const JsonReader& json) {
  require_schema(json, formats::check);
  NodeResult result{.node = json.at("node").string(),
                    .gpu = json.at("gpu").string(),
                    .kind = json.at("profile").string(),
                    .verdict = verdict_from_json(json.at("verdict"))};
  if (const auto bus = json.find("pci_bus_id")) result.pci_bus_id = bus->string();
  const JsonReader busy = json.at("busy");
  for (std::size_t i = 0; i < busy.size(); ++i) result.busy.push_back(busy.at(i).string());
  result.figures = checked_figures_from_json(json.at("figures"));
  return result;
}

}  // namespace shiplap
