#include <fmt/format.h>

#include <algorithm>

#include "shiplap/document/text.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap {
namespace document {
namespace {

/// A step is as fast as it can be with more memory where it takes at most this much longer.
constexpr double as_fast = 1.01;

Table table_of_points(const LayerPlanView& plan) {
  Table table{.columns = {{"memory", Align::right},
                          {"a step", Align::right, "s"},
                          {"bound", Align::right, "s"},
                          {"over the bound", Align::right}}};
  for (const LayerPoint& point : plan.points)
    table.add({to_string(point.memory), to_string(point.predicted), to_string(point.bound),
               point.bound > Seconds{0} ? fmt::format("{:.2f}", point.predicted / point.bound) : "–"});
  return table;
}

/// "With 23 GiB and more, a step takes as long as its kernels."
std::string knee_of(const LayerPlanView& plan) {
  const Seconds least = plan.points.back().predicted;
  const auto knee =
      std::ranges::find_if(plan.points, [&](const LayerPoint& point) { return point.predicted <= least * as_fast; });
  return fmt::format("From {} on, more memory brings nothing: a step takes {}.", to_string(knee->memory),
                     to_string(knee->predicted));
}

}  // namespace

Section layer_plan_section(const LayerPlanView& plan, const std::string& source) {
  Section section{.title = "Plan of the model " + plan.name, .source = source};
  std::string answer =
      fmt::format("{}: {} a step predicted with {}", plan.name, with_interval(plan.predicted), to_string(plan.memory));
  if (plan.bound > Seconds{0})
    answer += fmt::format(", {:.2f} times the bound ({})", plan.predicted.value / plan.bound,
                          plan.bound > plan.compute ? "link" : "kernels");
  section.headlines.push_back({.sentence = answer + ".",
                               .numbers = {{to_string(plan.predicted.value), "a step"},
                                           {to_string(plan.streamed), "to the GPU"},
                                           {to_string(plan.kept), "stay there"}}});
  const Bytes all = plan.kept + plan.streamed;
  section.sentences.push_back(
      plan.streamed.count == 0
          ? fmt::format("All {} of weights stay on the GPU.", to_string(all))
          : fmt::format("Of {} of weights, {} stay on the GPU{}. {} cross the link in each step, through a ring of {}.",
                        to_string(all), to_string(plan.kept), plan.kept.count > 0 ? ", spread over the layers" : "",
                        to_string(plan.streamed), to_string(plan.ring)));
  if (plan.fixed.count > 0)
    section.sentences.push_back(fmt::format(
        "{} more are on the GPU all the time, such as buffers and weights that layers share.", to_string(plan.fixed)));
  if (plan.streamed.count > 0)
    section.sentences.push_back(
        fmt::format("The first step takes {}; later ones find weights on their way.", to_string(plan.first)));
  if (plan.compute == Seconds{0})
    section.sentences.push_back("The times of the layers are not known, so this is the time of the copies alone.");
  if (!plan.points.empty()) {
    section.sentences.push_back(knee_of(plan));
    section.figures.emplace_back(table_of_points(plan));
  }
  return section;
}

}  // namespace document

std::string LayerPlan::explain() const { return document::text(document::layer_plan_section(layer_plan_view(*this))); }

}  // namespace shiplap
