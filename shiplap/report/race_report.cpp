#include "shiplap/report/race_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "shiplap/core/statistics.hpp"
#include "shiplap/report/choice_name.hpp"
#include "shiplap/report/rows.hpp"

namespace shiplap {
namespace {

std::string outcome(const RaceResult& result, std::size_t f) {
  const Finalist& finalist = result.finalists[f];
  if (!finalist.not_run.empty()) return "not run: " + finalist.not_run;
  if (f == result.winner) return "won";
  return finalist.dropped ? fmt::format("dropped after {} rounds", finalist.seconds.size()) : "as fast, within noise";
}

}  // namespace

std::string race_report(const std::string& job, const RaceResult& result, const TextStyle& style,
                        document::Detail detail) {
  std::vector<std::size_t> order(result.finalists.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t f) {
    const Finalist& finalist = result.finalists[f];
    return f == result.winner ? 0.0 : finalist.seconds.empty() ? 1e9 : median(finalist.seconds);
  };
  std::ranges::stable_sort(order, {}, key);
  const bool shows_all = detail == document::Detail::all;
  if (!shows_all) {
    std::set<std::string> seen;
    std::erase_if(order, [&](std::size_t f) { return !seen.insert(result.finalists[f].choice.strategy).second; });
  }
  Table table{.columns = {{"choice", Align::left},
                          {"predicted", Align::right},
                          {result.simulated ? "simulated" : "observed", Align::right},
                          {"outcome", Align::left}}};
  if (!result.simulated) table.columns.push_back({"error", Align::right});  // a simulation has none against itself
  for (const std::size_t f : order) {
    const Finalist& finalist = result.finalists[f];
    const bool has_run = !finalist.seconds.empty();
    const Seconds observed{has_run ? median(finalist.seconds) : 0};
    std::vector<Cell> cells{shows_all ? to_string(finalist.choice) : document::short_name(finalist.choice),
                            with_interval(finalist.predicted), has_run ? to_string(observed) : "–", outcome(result, f)};
    if (!result.simulated) cells.emplace_back(has_run ? signed_percent(finalist.predicted.value / observed - 1) : "–");
    table.add(std::move(cells));
  }
  std::string text = wrap(result.to_string(), style.width) + ".\n" + wrap("Job: " + job, style.width) + "\n\n" +
                     table.text(style) + "\n";
  if (!result.kept)
    text += wrap(fmt::format("the {}runs took {}, and the race with its preparation {}",
                             result.simulated ? "simulated " : "", to_string(result.ran), to_string(result.took)),
                 style.width) +
            "\n";
  if (order.size() < result.finalists.size())
    text += fmt::format("\n--all shows all {} candidates.\n", result.finalists.size());
  return text;
}

}  // namespace shiplap
