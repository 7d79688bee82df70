#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shiplap/report/sections.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap::document {
namespace {

std::size_t number_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

/// The choice without its strategy, which has a column of its own.
std::string parameters_of(const Choice& choice) {
  const std::string text = to_string(choice);
  const std::string before = choice.strategy + ", ";
  return text.starts_with(before) ? text.substr(before.size()) : text == choice.strategy ? "" : text;
}

/// How sure the map is: in how many cells the predictions do not tell which of the two fastest is faster, and why.
std::string certainty_of(const StrategyMap& map) {
  std::size_t compared = 0;
  std::size_t open = 0;
  std::size_t with_zero_copy = 0;
  double above = 0;
  for (const MapCell& cell : map.cells) {
    if (cell.best.size() < 2) continue;
    ++compared;
    if (cell.best[1].predicted.low > cell.best[0].predicted.high) continue;
    ++open;
    bool has_zero_copy = false;
    for (const MapChoice& one : {cell.best[0], cell.best[1]})
      if (find_strategy(one.choice.strategy).zero_copy) {
        has_zero_copy = true;
        above = std::max(above, one.predicted.high / one.predicted.value - 1);
      }
    if (has_zero_copy) ++with_zero_copy;
  }
  if (open == 0) return "";
  std::string text = fmt::format(
      "In {} of {} cells the 90 % prediction intervals of the two fastest overlap, so the profile alone does not prove "
      "which one is faster.",
      open, compared);
  if (with_zero_copy > 0)
    text += fmt::format(
        " In {} one of the two is zero-copy: nobody has measured such a kernel on this node, so its interval "
        "reaches up to {:.0f} % above the prediction.",
        with_zero_copy == open ? "all of them" : fmt::format("{} of them", with_zero_copy), above * 100);
  return text + " A race on the node settles it (shiplap tune).";
}

}  // namespace

Section map_section(const StrategyMap& map, const std::vector<Mark>& marks) {
  Section section{.title = fmt::format("Which strategy for which job? (profile {}{})", map.profile,
                                       map.profile_origin == Origin::measured
                                           ? ""
                                           : fmt::format(", {}", to_string(map.profile_origin)))};
  section.sentences.push_back(fmt::format(
      "Jobs whose arrays live in {} memory, with {:.0f} % of their bytes going in and the rest coming out. "
      "The colour is the strategy that is predicted to be fastest, and the number is what the second best "
      "loses. Hatched cells are nearly even: the second best, whose colour the stripes have, loses less than "
      "2 %.",
      to_string(map.question.memory), map.question.in_fraction * 100));
  if (std::string certainty = certainty_of(map); !certainty.empty()) section.sentences.push_back(std::move(certainty));
  section.sentences.emplace_back(
      "The map tries chunks of one size in three streams. A plan also tries other layouts and chunks of several sizes, "
      "which gains up to 2 %.");
  MapPlot plot{.title = "The fastest strategy over size and kernel time",
               .note = "Move the point: click, drag, or use the arrow keys. The table below has all strategies there.",
               .x = {.label = "bytes in and out", .unit = "B", .logarithmic = true},
               .y = {.label = "kernel time", .unit = "s", .logarithmic = true},
               .marks = marks};
  for (const Bytes size : map.question.sizes) plot.xs.push_back(in_bytes(size));
  for (const Seconds kernel : map.question.kernels) plot.ys.push_back(kernel.count());
  for (const MapCell& cell : map.cells) {
    std::vector<MapTime> times;
    for (const MapChoice& best : cell.best)
      times.push_back({.strategy = number_of(plot.strategies, best.choice.strategy),
                       .choice = parameters_of(best.choice),
                       .time = best.predicted.value.count(),
                       .low = best.predicted.low.count(),
                       .high = best.predicted.high.count()});
    plot.cells.push_back(std::move(times));
  }
  section.figures.emplace_back(std::move(plot));
  return section;
}

}  // namespace shiplap::document
