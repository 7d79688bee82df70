#include <fmt/format.h>

#include "shiplap/report/page/check_table.hpp"
#include "shiplap/report/page/sections.hpp"

namespace shiplap::page {
namespace {

Verdict verdict_of(const JsonReader& json) {
  const std::string text = json.string();
  for (const Verdict verdict : {Verdict::good, Verdict::low, Verdict::bad, Verdict::busy, Verdict::unknown})
    if (to_string(verdict) == text) return verdict;
  json.fail("a verdict: good, low, bad, busy or unknown");
}

double number_or_0(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? found->non_negative() : 0;
}

}  // namespace

Part check_part(const JsonReader& json, const std::string& source) {
  Part part{.section = {.title = fmt::format("Check of {} on {}", json.at("gpu").string(), json.at("node").string()),
                        .source = source}};
  const JsonReader busy = json.at("busy");
  for (std::size_t i = 0; i < busy.size(); ++i)
    part.section.sentences.push_back(fmt::format("Somebody else used the node: {}.", busy.at(i).string()));
  if (verdict_of(json.at("verdict")) == Verdict::busy)
    part.summary.push_back(fmt::format("{} was busy, so it was not judged.", json.at("node").string()));
  std::vector<CheckedFigure> figures;
  const JsonReader rows = json.at("figures");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JsonReader row = rows.at(i);
    const auto causes = row.find("causes");
    figures.push_back({.what = row.at("what").string(),
                       .measured = row.at("measured_text").string(),
                       .limit = row.at("limit_text").string(),
                       .fraction = number_or_0(row, "fraction"),
                       .expected = number_or_0(row, "expected"),
                       .verdict = verdict_of(row.at("verdict")),
                       .causes = causes ? causes->string() : ""});
  }
  if (const std::string weakest = weakest_sentence(figures); !weakest.empty()) part.summary.push_back(weakest);
  part.section.figures.emplace_back(check_table(figures));
  return part;
}

}  // namespace shiplap::page
