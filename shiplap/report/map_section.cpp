#include <fmt/format.h>

#include <algorithm>

#include "shiplap/report/sections.hpp"

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

}  // namespace

Section map_section(const StrategyMap& map, const std::vector<Mark>& marks) {
  Section section{.title = fmt::format("Which strategy for which job? (profile {})", map.profile)};
  section.sentences.push_back(
      fmt::format("Jobs whose arrays live in {} memory, with {:.0f} % of their bytes going in and the rest coming out. "
                  "The colour is "
                  "the strategy that is predicted to be fastest; the number is by how much the next best one is "
                  "slower. Faint cells are "
                  "ties: the prediction intervals of the two overlap. \"≈\" is a difference below 2 %.",
                  to_string(map.question.memory), map.question.in_fraction * 100));
  section.sentences.emplace_back(
      "The map tries chunks of one size in three streams. A plan also tries other layouts and chunks of several sizes, "
      "which gains up to 2 %.");
  MapPlot plot{.title = "The fastest strategy over size and kernel time",
               .note = "Move the point: click, drag, or use the arrow keys.",
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
