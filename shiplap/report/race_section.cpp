#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/report/choice_name.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

Seconds median_time(const Finalist& finalist) {
  return Seconds{finalist.seconds.empty() ? 0 : median(finalist.seconds)};
}

std::string outcome(const RaceResult& race, const Finalist& finalist) {
  if (!finalist.not_run.empty()) return "not run: " + finalist.not_run;
  if (&finalist == &race.best()) return "won";
  return finalist.dropped ? fmt::format("dropped after {} rounds", finalist.seconds.size()) : "as fast, within noise";
}

/// The finalists with the winner first, then by their times; those that did not run come last.
std::vector<const Finalist*> in_order(const RaceResult& race) {
  std::vector<const Finalist*> order;
  for (const Finalist& finalist : race.finalists) order.push_back(&finalist);
  std::ranges::stable_sort(order, {}, [&](const Finalist* finalist) {
    return std::pair(finalist != &race.best() ? finalist->seconds.empty() ? 2 : 1 : 0, median_time(*finalist));
  });
  return order;
}

Table table_of(const RaceResult& race, const std::vector<const Finalist*>& finalists,
               std::string (*name)(const Choice&)) {
  Table table{.columns = {{"choice", Align::left},
                          {"predicted", Align::right, "s"},
                          {race.simulated ? "simulated" : "observed", Align::right, "s"},
                          {"outcome", Align::left}}};
  if (!race.simulated) table.columns.push_back({"error", Align::right, "1"});  // a simulation has none against itself
  for (const Finalist* finalist : finalists) {
    const Seconds observed = median_time(*finalist);
    const bool has_run = observed > Seconds{0};
    std::vector<Cell> cells{name(finalist->choice), time_cell(finalist->predicted),
                            has_run ? time_cell(Interval<Seconds>::exact(observed)) : Cell("–"),
                            outcome(race, *finalist)};
    if (!race.simulated) cells.push_back(has_run ? change_cell(finalist->predicted.value / observed) : Cell("–"));
    table.add(std::move(cells));
  }
  return table;
}

/// The first finalist of each strategy.
std::vector<const Finalist*> one_of_each(std::vector<const Finalist*> finalists) {
  std::set<std::string> seen;
  std::erase_if(finalists, [&](const Finalist* finalist) { return !seen.insert(finalist->choice.strategy).second; });
  return finalists;
}

}  // namespace

Section race_section(const RaceView& view, const std::string& source) {
  const RaceResult& race = view.race;
  Section section{.title = fmt::format("Race of {}", view.workload), .source = source};
  Headline answer{.verdict = short_name(race.best().choice), .sentence = race.to_string() + "."};
  if (!answer.sentence.starts_with(answer.verdict)) answer.verdict.clear();
  if (const Seconds observed = median_time(race.best()); observed > Seconds{0})
    answer.numbers.push_back({to_string(observed), race.simulated ? "simulated" : "observed"});
  answer.numbers.push_back({time_cell(race.best().predicted).text, "predicted"});
  section.headlines.push_back(std::move(answer));
  section.sentences.push_back(fmt::format("{} on {}.", view.workload, view.device));
  if (!race.kept)
    section.sentences.push_back(fmt::format("The {}runs took {}, and the race with its preparation {}.",
                                            race.simulated ? "simulated " : "", to_string(race.ran),
                                            to_string(race.took)));
  const std::vector<const Finalist*> order = in_order(race);
  section.brief.emplace_back(table_of(race, one_of_each(order), short_name));
  section.figures.emplace_back(table_of(race, order, [](const Choice& choice) { return to_string(choice); }));
  return section;
}

}  // namespace shiplap::document
