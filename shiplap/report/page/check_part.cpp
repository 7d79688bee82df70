#include <fmt/format.h>

#include "shiplap/report/page/check_table.hpp"
#include "shiplap/report/page/sections.hpp"

namespace shiplap::page {

Part check_part(const NodeResult& check, const std::string& source) {
  Part part{.section = {.title = fmt::format("Check of {} on {}", check.gpu, check.node), .source = source}};
  for (const std::string& by : check.busy)
    part.section.sentences.push_back(fmt::format("Somebody else used the node: {}.", by));
  if (check.verdict == Verdict::busy)
    part.summary.push_back(fmt::format("{} was busy, so it was not judged.", check.node));
  const std::string health = health_sentence(fmt::format("{} {}", check.node, check.gpu), check.figures);
  if (!health.empty() && check.origin == Origin::measured) part.summary.push_back(health);
  part.section.figures.emplace_back(check_table(check.figures));
  return part;
}

}  // namespace shiplap::page
