#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/core/record.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/report/timeline_plot.hpp"

namespace shiplap::document {
namespace {

std::vector<std::string> strings_of(const JsonReader& json) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < json.size(); ++i) all.push_back(json.at(i).string());
  return all;
}

Cell step_cell(const JsonReader& time, bool is_bound) {
  const Quantity quantity = quantity_of(time);
  return is_bound ? Cell("≥ " + to_string(Seconds{quantity.value}), quantity.value) : time_cell(quantity);
}

std::string how_of(const JsonReader& advice, const std::vector<std::string>& languages) {
  std::string text;
  const JsonReader how = advice.at("how");
  for (std::size_t i = 0; i < how.size(); ++i)
    if (const std::string language = how.at(i).at("language").string();
        std::ranges::find(languages, language) != languages.end())
      text += fmt::format("{}{}: {}", text.empty() ? "" : " ", language, how.at(i).at("text").string());
  return text;
}

Table table_of(const JsonReader& advice, double step, const std::vector<std::string>& languages) {
  Table table{.title = "Advice",
              .notes = {"Each line with those above it. \"≥\" is a bound: the step takes at least as long."},
              .columns = {{"rank"},
                          {"change"},
                          {"step", Align::automatic, "s"},
                          {"saved", Align::automatic, "1"},
                          {"allowed if"},
                          {"how"}}};
  for (std::size_t i = 0; i < advice.size(); ++i) {
    const JsonReader one = advice.at(i);
    const bool is_bound = one.at("bound").boolean();
    const double with_before = quantity_of(one.at("with_before")).value;
    table.add({count_cell(i + 1), fmt::format("{}: {}", one.at("rule").string(), one.at("what").string()),
               step_cell(one.at("with_before"), is_bound), percent_cell(1 - with_before / step),
               one.at("allowed_if").string(), how_of(one, languages)});
  }
  return table;
}

}  // namespace

Section advice_section(const JsonReader& json, const std::string& source) {
  const std::string program = json.at("program").string();
  const double step = quantity_of(json.at("step")).value;
  const JsonReader advice = json.at("advice");
  const std::string refused = json.at("refused").string();
  Section section{.title = fmt::format("Advice for {}", program), .source = source};
  section.sentences.push_back(fmt::format(
      "On {}, profile {}: a step takes {} as recorded ({} steps), and {} in the simulation of the recording ({}).",
      json.at("gpu").string(), json.at("profile").string(), to_string(Seconds{step}),
      json.at("steps").unsigned_integer(), to_string(Seconds{quantity_of(json.at("simulated")).value}),
      signed_percent(quantity_of(json.at("fidelity")).value)));
  if (!refused.empty()) {
    section.headlines.push_back({.sentence = fmt::format("{}: no advice. {}", program, refused)});
    section.sentences.push_back("No advice: " + refused);
  } else if (advice.size() == 0) {
    section.headlines.push_back(
        {.sentence = fmt::format("{}: nothing to gain. {}", program, json.at("limit").string())});
    section.sentences.push_back("Nothing to gain. " + json.at("limit").string());
  } else {
    if (!(step > 0)) json.at("step").fail("a time above 0");
    std::vector<std::string> rules;
    for (std::size_t i = 0; i < advice.size(); ++i) rules.push_back(advice.at(i).at("rule").string());
    const JsonReader last = advice.at(advice.size() - 1);
    const std::string at_least = last.at("bound").boolean() ? "at least " : "";
    const std::string advised = to_string(Seconds{quantity_of(last.at("with_before")).value});
    const std::string recorded = to_string(Seconds{step});
    section.headlines.push_back(
        {.sentence = fmt::format("{}: with \"{}\" a step would take {}{} instead of {}.", program,
                                 fmt::join(rules, "\", \""), at_least, advised, recorded),
         .numbers = {{recorded, "a step as recorded"}, {advised, at_least + "with all advice, predicted"}}});
    section.sentences.push_back("With all advice: " + json.at("limit").string());
    section.figures.emplace_back(table_of(advice, step, strings_of(json.at("languages"))));
  }
  TimelinePlot plot{
      .title = "Timeline: the recorded steps above the advised ones",
      .note = "Both are simulated. A row for each engine, a bar for each op, every other step is lighter."};
  if (const auto recorded = json.find("recorded_timeline"))
    plot.panels.push_back(panel_of(Form<TimelineView>{}.read(*recorded), "recorded"));
  if (const auto advised = json.find("advised_timeline"))
    plot.panels.push_back(panel_of(Form<TimelineView>{}.read(*advised), "advised"));
  if (!plot.panels.empty()) section.figures.emplace_back(std::move(plot));
  return section;
}

}  // namespace shiplap::document
