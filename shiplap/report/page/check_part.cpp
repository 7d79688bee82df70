#include <fmt/format.h>

#include "shiplap/report/page/check_table.hpp"
#include "shiplap/report/page/sections.hpp"

namespace shiplap::page {
Part check_part(const JsonReader& json, const std::string& source) {
  Part part{.section = {.title = fmt::format("Check of {} on {}", json.at("gpu").string(), json.at("node").string()),
                        .source = source}};
  const JsonReader busy = json.at("busy");
  for (std::size_t i = 0; i < busy.size(); ++i)
    part.section.sentences.push_back(fmt::format("Somebody else used the node: {}.", busy.at(i).string()));
  if (verdict_from_json(json.at("verdict")) == Verdict::busy)
    part.summary.push_back(fmt::format("{} was busy, so it was not judged.", json.at("node").string()));
  const std::vector<CheckedFigure> figures = checked_figures_from_json(json.at("figures"));
  const bool is_measured = json.at("origin").string() == to_string(Origin::measured);
  const std::string node = fmt::format("{} {}", json.at("node").string(), json.at("gpu").string());
  if (const std::string health = health_sentence(node, figures); !health.empty() && is_measured)
    part.summary.push_back(health);
  part.section.figures.emplace_back(check_table(figures));
  return part;
}

}  // namespace shiplap::page
