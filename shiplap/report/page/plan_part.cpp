#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/quantity_json.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

constexpr const char* why_intervals =
    "Predicted times with 90 % prediction intervals. The bound counts every byte and every item once, at the fastest "
    "rates.";

DataTable candidates_of(const JsonReader& candidates, double bound, std::size_t first_choice) {
  DataTable table{.title = "Candidates",
                  .note = why_intervals,
                  .columns = {"rank", "choice", "predicted", "over the bound", "note"},
                  .units = {"", "", "s"}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const JsonReader candidate = candidates.at(i);
    const Quantity predicted = quantity_of(candidate.at("predicted"));
    const bool tied = candidate.at("tied_with_fastest").boolean();
    table.rows.push_back(
        {number_cell(static_cast<double>(i + 1), std::to_string(i + 1)), to_string(choice_from_json(candidate)),
         time_cell(predicted),
         bound > 0 ? number_cell(predicted.value / bound, fmt::format("{:.3f}", predicted.value / bound)) : Cell("–"),
         i == first_choice ? "the plan's choice"
         : tied            ? "tie"
                           : ""});
  }
  return table;
}

/// The fastest candidate of each strategy: its name and time, fastest first.
std::vector<std::pair<std::string, double>> best_by_strategy(const JsonReader& candidates) {
  std::vector<std::pair<std::string, double>> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string strategy = candidates.at(i).at("strategy").string();
    if (std::ranges::find(best, strategy, &std::pair<std::string, double>::first) == best.end())
      best.emplace_back(strategy, quantity_of(candidates.at(i).at("predicted")).value);
  }
  std::ranges::stable_sort(best, {}, &std::pair<std::string, double>::second);
  return best;
}

DataTable refused_of(const JsonReader& refused) {
  DataTable table{.title = "Strategies that cannot do this job", .columns = {"strategy", "reason"}};
  for (std::size_t i = 0; i < refused.size(); ++i)
    table.rows.push_back({refused.at(i).at("strategy").string(), refused.at(i).at("reason").string()});
  return table;
}

}  // namespace

Part plan_part(const JsonReader& json, const std::string& source) {
  const std::string job = json.at("job").string();
  Part part{.section = {.title = fmt::format("Plan for {}", job), .source = source}};
  const JsonReader candidates = json.at("candidates");
  const JsonReader chosen = json.at("chosen");
  const Quantity predicted = quantity_of(chosen.at("predicted"));
  const std::string strategy = chosen.at("strategy").string();
  std::string summary = fmt::format("{} on profile {}: take {}, predicted to take {}", job, json.at("profile").string(),
                                    to_string(choice_from_json(chosen)), time_cell(predicted).text);
  for (const auto& [other, time] : best_by_strategy(candidates))
    if (other != strategy) {
      summary += fmt::format("; {} would take {} ({})", other, to_string(Seconds{time}),
                             signed_percent(time / predicted.value - 1));
      break;
    }
  part.summary.push_back(summary + ".");
  part.section.sentences.push_back(summary + ".");
  if (const auto shape = json.find("shape"))
    part.section.sentences.push_back(fmt::format(
        "The job moves {} in and {} out, from and to {} memory.", to_string(bytes_from_json(shape->at("bytes_in"))),
        to_string(bytes_from_json(shape->at("bytes_out"))), shape->at("memory").string()));
  part.section.sentences.push_back("In detail: " + json.at("why").string());
  part.section.sentences.push_back(fmt::format("The time of the kernel is {}.", json.at("kernel_cost").string()));
  part.section.figures.emplace_back(
      candidates_of(candidates, quantity_of(json.at("bound")).value, json.at("first_choice").unsigned_integer()));
  if (const JsonReader refused = json.at("refused"); refused.size() > 0)
    part.section.figures.emplace_back(refused_of(refused));
  return part;
}

}  // namespace shiplap::page
