#include "experiments/published_sweep/evaluation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

/// The largest number of parameters of a model (`fit_simulation`).
constexpr std::size_t least_points = 16;

struct Predicted {
  PublishedPoint point;
  double error = 0;
};

PublishedErrors errors_of(const std::vector<Predicted>& predictions) {
  PublishedErrors out{.count = predictions.size()};
  std::vector<double> sizes;
  std::vector<double> errors;
  for (const Predicted& p : predictions) {
    errors.push_back(p.error);
    sizes.push_back(std::abs(p.error));
    if (sizes.back() < std::abs(out.worst)) continue;
    out.worst = p.error;
    out.worst_at = p.point;
  }
  out.median = median(sizes);
  out.percentile_95 = quantile(sizes, 0.95);
  out.bias = median(errors);
  return out;
}

template <class Value>
std::vector<PublishedGroup> groups(const std::vector<Predicted>& predictions, Value value) {
  std::map<std::uint64_t, std::vector<Predicted>> by;
  for (const Predicted& p : predictions) by[value(p.point)].push_back(p);
  std::vector<PublishedGroup> out;
  for (const auto& [key, members] : by) out.push_back({key, errors_of(members)});
  return out;
}

struct Split {
  std::vector<PublishedPoint> training;
  std::vector<PublishedPoint> held_out;
};

template <class Fit>
PublishedModel evaluated(std::string name, std::string form, const Fit& fit, const Split& split) {
  const auto predictions = [&](const std::vector<PublishedPoint>& points) {
    std::vector<Predicted> out;
    for (const PublishedPoint& p : points) out.push_back({p, predict(fit, p) / p.time - 1});
    return out;
  };
  PublishedModel model;
  model.name = std::move(name);
  model.form = std::move(form);
  model.training = errors_of(predictions(split.training));
  if (split.held_out.empty()) return model;
  const auto held_out = predictions(split.held_out);
  model.held_out = errors_of(held_out);
  model.by_size = groups(held_out, [](const PublishedPoint& p) { return p.size; });
  model.by_streams = groups(held_out, [](const PublishedPoint& p) { return p.streams; });
  model.by_calls = groups(held_out, [](const PublishedPoint& p) { return p.calls; });
  model.by_chunk = groups(held_out, [](const PublishedPoint& p) { return 4 * p.size / p.streams; });
  return model;
}

Json json_of(const PublishedErrors& e) {
  return {{"points", e.count},
          {"median", e.median},
          {"percentile_95", e.percentile_95},
          {"worst", e.worst},
          {"worst_at", {{"calls", e.worst_at.calls}, {"size", e.worst_at.size}, {"streams", e.worst_at.streams}}},
          {"bias", e.bias}};
}

Json json_of(const std::vector<PublishedGroup>& groups, std::string_view quantity) {
  Json out = Json::array();
  for (const PublishedGroup& group : groups) {
    Json one = {{quantity, group.value}};
    one.update(json_of(group.errors));
    out.push_back(std::move(one));
  }
  return out;
}

Json json_of(const van_werkhoven_2014::Direction& d) {
  return {{"latency_overhead", quantity_json(d.latency_overhead)},
          {"per_byte", quantity_json(d.per_byte.seconds * 1e9, "ns/B")},
          {"gap", quantity_json(d.gap)}};
}

Json parameters_of(const PublishedEvaluation& e) {
  return {{"simulation",
           {{"profile", to_json(e.simulation.profile)},
            {"latency_per_call", quantity_json(e.simulation.kernel.latency_per_call.value)},
            {"per_element", quantity_json(e.simulation.kernel.per_element.value)},
            {"per_element_and_call", quantity_json(e.simulation.kernel.per_element_and_call.value)},
            {"converged", e.simulation.converged}}},
          {"eq 5",
           {{"h2d", json_of(e.eq5.h2d)},
            {"d2h", json_of(e.eq5.d2h)},
            {"per_element_and_call", quantity_json(e.eq5.per_element_and_call)},
            {"converged", e.eq5.converged}}},
          {"Gómez-Luna",
           {{"per_byte", quantity_json(e.gomez_luna.per_byte.seconds * 1e9, "ns/B")},
            {"per_stream", quantity_json(e.gomez_luna.per_stream)},
            {"per_element_and_call", quantity_json(e.gomez_luna.per_element_and_call)},
            {"converged", e.gomez_luna.converged}}}};
}

}  // namespace

PublishedEvaluation evaluate_published(const PublishedData& data, const TrainingRule& rule) {
  Split split;
  for (const PublishedPoint& p : data.points) (rule.covers(p) ? split.training : split.held_out).push_back(p);
  if (split.training.size() < least_points)
    throw Error(fmt::format("{}: {} point(s) of at most {} elements and {} streams to fit, expected {} or more",
                            data.name, split.training.size(), rule.largest_size, rule.most_streams, least_points));
  PublishedEvaluation out{.data = data.name,
                          .rule = rule,
                          .simulation = fit_simulation(split.training, data.name),
                          .eq5 = fit_eq5(split.training),
                          .gomez_luna = fit_gomez_luna(split.training),
                          .models = {}};
  out.models.push_back(evaluated("simulation", "simulated schedule", out.simulation, split));
  out.models.push_back(evaluated("eq 5", "van Werkhoven 2014, two copy engines", out.eq5, split));
  out.models.push_back(evaluated("Gómez-Luna", "max(t_T, t_E + t_T/n) + t_sc·n", out.gomez_luna, split));
  return out;
}

Json to_json(const PublishedEvaluation& e) {
  Json models = Json::array();
  for (const PublishedModel& m : e.models) {
    Json one = {{"model", m.name}, {"form", m.form}, {"training", json_of(m.training)}};
    one["held_out"] = m.held_out ? json_of(*m.held_out) : Json(nullptr);
    one["held_out_by_size"] = json_of(m.by_size, "size");
    one["held_out_by_streams"] = json_of(m.by_streams, "streams");
    one["held_out_by_calls"] = json_of(m.by_calls, "calls");
    one["held_out_by_chunk"] = json_of(m.by_chunk, "bytes");
    models.push_back(std::move(one));
  }
  return {{"schema", formats::published_evaluation.schema},
          {"version", formats::published_evaluation.version},
          {"data", e.data},
          {"fitted_on", {{"largest_size", e.rule.largest_size}, {"most_streams", e.rule.most_streams}}},
          {"parameters", parameters_of(e)},
          {"models", std::move(models)}};
}

}  // namespace shiplap::experiments::published_sweep
