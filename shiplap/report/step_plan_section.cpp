#include <fmt/format.h>

#include <algorithm>

#include "shiplap/document/text.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap {
namespace document {
namespace {

Table table_of_passes(const StepPlanView& step) {
  Table table{.columns = {{"kernels", Align::left},
                          {"times", Align::right},
                          {"predicted", Align::right, "s"},
                          {"to the GPU", Align::right},
                          {"back", Align::right},
                          {"how", Align::left}}};
  for (const PassView& pass : step.passes)
    table.add({pass.kernels, count_cell(pass.times), time_cell(pass.predicted), to_string(pass.in), to_string(pass.out),
               pass.choice});
  return table;
}

std::string places_of(const StepPlanView& step) {
  std::string there;
  for (const StepArrayView& array : step.arrays)
    if (array.on_gpu) there += (there.empty() ? "" : ", ") + array.name;
  if (there.empty()) return "Every array passes through the GPU in chunks.";
  return fmt::format(
      "On the GPU as a whole: {}.{}", there,
      std::ranges::all_of(step.arrays, &StepArrayView::on_gpu) ? "" : " Other arrays pass through it in chunks.");
}

std::string parts_of_host(const StepPlanView& step) {
  std::string names;
  for (const std::string& name : step.host_parts) names += (names.empty() ? "" : ", ") + name;
  return fmt::format("The host runs {}{}.", names,
                     step.repeats > 1 ? fmt::format(", {} times in a step", step.repeats) : "");
}

}  // namespace

Section step_plan_section(const StepPlanView& step, const std::string& source) {
  Section section{.title = "Plan of the step " + step.name, .source = source};
  std::uint64_t passes = 0;
  for (const PassView& pass : step.passes) passes += pass.times;
  std::string answer = fmt::format("{} in {} pass{}: {} predicted", step.name, passes, passes == 1 ? "" : "es",
                                   with_interval(step.predicted));
  if (step.part_by_part > Seconds{0})
    answer += fmt::format(", {:.2f} times as fast as its kernels one by one", step.part_by_part / step.predicted.value);
  if (step.bound > Seconds{0}) answer += fmt::format(", {:.2f} times the bound", step.predicted.value / step.bound);
  section.headlines.push_back({.sentence = answer + ".",
                               .numbers = {{to_string(step.predicted.value), "predicted"},
                                           {to_string(step.in), "to the GPU"},
                                           {to_string(step.out), "back"}}});
  section.sentences.push_back(fmt::format("A step copies {} to the GPU and {} back, and uses {} of device memory.",
                                          to_string(step.in), to_string(step.out), to_string(step.device_memory)));
  section.sentences.push_back(places_of(step));
  if (!step.host_parts.empty()) section.sentences.push_back(parts_of_host(step));
  section.figures.emplace_back(table_of_passes(step));
  return section;
}

}  // namespace document

std::string StepPlan::explain() const { return document::text(document::step_plan_section(step_plan_view(*this))); }

}  // namespace shiplap
