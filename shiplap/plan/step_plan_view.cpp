#include "shiplap/plan/step_plan_view.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap {

template <class V, Like<PassView> R>
void describe(V& v, R& pass) {
  v.field("kernels", pass.kernels, "names of the kernels that a chunk passes through");
  v.field("times", pass.times, "how many passes of a step are of this kind", one_or_more<std::uint64_t>);
  v.field("choice", pass.choice, "how each is cut");
  v.field("predicted", pass.predicted, "predicted time of one alone");
  v.field("in", pass.in, "bytes that one copies to the GPU");
  v.field("out", pass.out, "bytes that one copies back");
}

template <class V, Like<StepArrayView> R>
void describe(V& v, R& array) {
  v.field("name", array.name, "name of the array");
  v.field("size", array.size, "size of the array");
  v.field("on_gpu", array.on_gpu, "whether memory on the GPU holds all of it");
}

template <class V, Like<StepPlanView> R>
void describe(V& v, R& step) {
  v.header(formats::step);
  v.field("name", step.name, "name of the step");
  v.field("predicted", step.predicted, "predicted time of a step, with its prediction interval");
  v.or_null("part_by_part", step.part_by_part, "time of its kernels one after the other, each planned alone");
  v.field("bound", step.bound, "no way to run it takes less");
  v.field("in", step.in, "bytes that a step copies to the GPU");
  v.field("out", step.out, "bytes that a step copies back");
  v.field("device_memory", step.device_memory, "device memory that it uses");
  v.field("host_parts", step.host_parts, "names of the parts of the host, in their order");
  v.field("repeats", step.repeats, "how often all parts run in a step", one_or_more<std::uint64_t>);
  v.field("passes", step.passes, "kinds of passes, in the order of their first one");
  v.field("arrays", step.arrays, "arrays of the step");
}

namespace {

std::string joined(std::span<const std::string> names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "+") + name;
  return all;
}

/// "a+b" of a and b, "(a+b) x3+a" of a, b, a, b, a, b and a.
std::string folded(std::span<const std::string> names) {
  for (std::size_t period = 1; 2 * period <= names.size(); ++period) {
    if (!std::ranges::equal(names.subspan(period), names.first(names.size() - period))) continue;
    const std::size_t times = names.size() / period;
    const std::string rest = joined(names.subspan(times * period));
    return (period == 1 ? names[0] : "(" + joined(names.first(period)) + ")") + " x" + std::to_string(times) +
           (rest.empty() ? "" : "+" + rest);
  }
  return joined(names);
}

std::string kernels_of(const StepPlan& plan, std::size_t kind) {
  const StepPass& first = *std::ranges::find(plan.passes, kind, &StepPass::kind);
  std::vector<std::string> names;
  for (std::size_t p = first.first; p < first.first + first.parts; ++p)
    names.push_back(plan.parts[p % plan.parts.size()]);
  return folded(names);
}

}  // namespace

StepPlanView step_plan_view(const StepPlan& plan) {
  StepPlanView view{.name = plan.name,
                    .predicted = plan.predicted,
                    .part_by_part = plan.part_by_part,
                    .bound = plan.bound,
                    .in = plan.in,
                    .out = plan.out,
                    .device_memory = plan.device_memory};
  for (std::size_t k = 0; k < plan.kinds.size(); ++k) {
    const KindOfPass& kind = plan.kinds[k];
    view.passes.push_back({.kernels = kernels_of(plan, k),
                           .times = static_cast<std::uint64_t>(std::ranges::count(plan.passes, k, &StepPass::kind)),
                           .choice = to_string(kind.choice),
                           .predicted = kind.predicted,
                           .in = kind.in,
                           .out = kind.out});
  }
  for (const std::size_t number : plan.kernels)
    if (number >= plan.kinds.size()) view.host_parts.push_back(plan.parts[number - plan.kinds.size()]);
  view.repeats = plan.repeats;
  for (std::size_t a = 0; a < plan.arrays.arrays.size(); ++a) {
    const Array& array = plan.arrays.arrays[a].array;
    view.arrays.push_back({.name = array.name, .size = array.size, .on_gpu = bool(plan.at_home[a])});
  }
  return view;
}

Json to_json(const StepPlanView& view) { return write_record(view); }
void from_json(const JsonReader& json, StepPlanView& view) { read_record(json, view); }
Json json_schema(const StepPlanView&) {
  return document_schema<StepPlanView>("shiplap step", "A planned step: to_json(step_plan_view(plan)).");
}

}  // namespace shiplap
