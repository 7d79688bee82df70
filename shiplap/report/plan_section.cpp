#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/record.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

constexpr const char* why_intervals =
    "Predicted times with 90 % prediction intervals. The bound counts every byte and every item once, at the fastest "
    "rates.";

Table candidates_of(const JsonReader& candidates, double bound, const Choice& chosen) {
  Table table{.title = "Candidates",
              .notes = {why_intervals},
              .columns = {{"rank"}, {"choice"}, {"predicted", Align::automatic, "s"}, {"over the bound"}, {"note"}}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const JsonReader candidate = candidates.at(i);
    const Quantity predicted = quantity_of(candidate.at("predicted"));
    const bool tied = candidate.at("tied_with_fastest").boolean();
    table.add({count_cell(i + 1), to_string(Form<Choice>::read(candidate)), time_cell(predicted),
               bound > 0 ? Cell(fmt::format("{:.3f}", predicted.value / bound), predicted.value / bound) : Cell("–"),
               Form<Choice>::read(candidate) == chosen ? "the plan's choice"
               : tied                                  ? "tie"
                                                       : ""});
  }
  return table;
}

/// The fastest candidate of one strategy.
struct Best {
  std::string strategy;
  Quantity predicted;
};

/// The fastest candidate of each strategy, fastest first.
std::vector<Best> best_by_strategy(const JsonReader& candidates) {
  std::vector<Best> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string strategy = candidates.at(i).at("strategy").string();
    if (std::ranges::find(best, strategy, &Best::strategy) == best.end())
      best.push_back({strategy, positive_quantity_of(candidates.at(i).at("predicted"))});
  }
  std::ranges::stable_sort(best, {}, [](const Best& one) { return one.predicted.value; });
  return best;
}

/// Whether two prediction intervals overlap.
bool overlap(const Quantity& a, const Quantity& b) {
  return a.low.value_or(a.value) <= b.high.value_or(b.value) && b.low.value_or(b.value) <= a.high.value_or(a.value);
}

/// What pinning costs, for a plan that pins pageable arrays; "" for any other.
std::string pinning_of(const JsonReader& json) {
  if (!json.at("pins").boolean()) return "";
  return fmt::format("The arrays are pageable, and pinning them takes {} once, which is not in these times.",
                     to_string(Seconds{quantity_of(json.at("pinning")).value}));
}

Table refused_of(const JsonReader& refused) {
  Table table{.title = "Strategies that cannot do this job", .columns = {{"strategy"}, {"reason"}}};
  for (std::size_t i = 0; i < refused.size(); ++i)
    table.add({refused.at(i).at("strategy").string(), refused.at(i).at("reason").string()});
  return table;
}

}  // namespace

Section plan_section(const JsonReader& json, const std::string& source) {
  const std::string job = json.at("job").string();
  Section section{.title = fmt::format("Plan for {}", job), .source = source};
  const JsonReader candidates = json.at("candidates");
  const JsonReader chosen = json.at("chosen");
  const Quantity predicted = positive_quantity_of(chosen.at("predicted"));
  const std::string strategy = chosen.at("strategy").string();
  std::string summary = fmt::format("{} on profile {}: take {}, predicted to take {}", job, json.at("profile").string(),
                                    to_string(Form<Choice>::read(chosen)), time_cell(predicted).text);
  for (const auto& [other, time] : best_by_strategy(candidates))
    if (other != strategy) {
      summary += fmt::format("; {} is predicted to take {} ({}{})", other, to_string(Seconds{time.value}),
                             signed_percent(time.value / predicted.value - 1),
                             overlap(time, predicted) ? ", a tie: the prediction intervals overlap" : "");
      break;
    }
  summary += ".";
  if (const std::string pinning = pinning_of(json); !pinning.empty()) summary += " " + pinning;
  section.headlines.push_back(summary);
  if (const auto shape = json.find("shape"))
    section.sentences.push_back(fmt::format(
        "The job moves {} in and {} out, and runs from {} memory.", to_string(bytes_from_json(shape->at("bytes_in"))),
        to_string(bytes_from_json(shape->at("bytes_out"))), shape->at("memory").string()));
  section.sentences.push_back("In detail: " + json.at("why").string());
  section.sentences.push_back(fmt::format("The time of the kernel is {}.", json.at("kernel_cost").string()));
  section.figures.emplace_back(
      candidates_of(candidates, positive_quantity_of(json.at("bound")).value, Form<Choice>::read(chosen)));
  if (const JsonReader refused = json.at("refused"); refused.size() > 0)
    section.figures.emplace_back(refused_of(refused));
  return section;
}

}  // namespace shiplap::document
