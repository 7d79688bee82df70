#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

constexpr std::size_t most_worst_points = 50;

/// A verified point with its observed median.
struct Observed {
  const EvaluatedWorkload* workload;
  const EvaluatedPoint* point;
  double seconds;

  double error() const { return point->predicted.value.count() / seconds - 1; }
};

std::vector<Observed> observed_points(const Evaluation& evaluation) {
  std::vector<Observed> all;
  for (const EvaluatedWorkload& workload : evaluation.workloads)
    for (const EvaluatedPoint& point : workload.points)
      if (point.verified && !point.samples_ms.empty())
        all.push_back({&workload, &point, milliseconds(median(point.samples_ms)).count()});
  return all;
}

Plot predicted_beside_observed(const std::vector<Observed>& points) {
  Plot plot{.title = "Predicted beside observed time",
            .note = "A point on the dashed line is predicted exactly.",
            .x = {.label = "observed", .unit = "s", .logarithmic = true},
            .y = {.label = "predicted", .unit = "s", .logarithmic = true},
            .has_diagonal = true};
  std::map<std::string, Series> by_strategy;
  for (const Observed& one : points) {
    Series& series = by_strategy[one.point->choice.strategy];
    series.points.push_back({.x = one.seconds,
                             .y = one.point->predicted.value.count(),
                             .label = fmt::format("{}, {}: {}", label(*one.workload), to_string(one.point->choice),
                                                  signed_percent(one.error()))});
  }
  for (auto& [strategy, series] : by_strategy) {
    series.name = strategy;
    series.is_line = false;
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// For each model, which part of the points has an error of at most x.
Plot error_distribution(const std::vector<Observed>& points) {
  Plot plot{.title = "Distribution of errors",
            .note = "Which part of the points has at most this absolute error, for each model.",
            .x = {.label = "absolute error", .unit = "1", .logarithmic = true},
            .y = {.label = "points", .unit = "1"}};
  std::map<std::string, std::vector<double>> errors;
  for (const Observed& one : points)
    for (const ModelTime& model : one.point->models)
      errors[model.model].push_back(std::abs(model.time.count() / one.seconds - 1));
  for (auto& [model, values] : errors) {
    std::ranges::sort(values);
    Series series{.name = model};
    for (std::size_t i = 0; i < values.size(); ++i)
      series.points.push_back({.x = values[i], .y = static_cast<double>(i + 1) / static_cast<double>(values.size())});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

DataTable models_table(const std::vector<ModelErrors>& models) {
  DataTable table{
      .title = "Errors of each model",
      .note = "Predicted over observed minus 1, of steady points. Each model has the points that it can predict.",
      .columns = {"model", "points", "steady", "median", "95th percentile", "worst", "intervals cover"}};
  for (const ModelErrors& m : models)
    table.rows.push_back({m.name, number_cell(static_cast<double>(m.all.points), std::to_string(m.all.points)),
                          number_cell(static_cast<double>(m.steady.points), std::to_string(m.steady.points)),
                          number_cell(m.steady.median, percent(m.steady.median)),
                          number_cell(m.steady.p95, percent(m.steady.p95)),
                          number_cell(m.steady.worst, percent(m.steady.worst)),
                          m.coverage ? number_cell(m.coverage->covered, percent(m.coverage->covered)) : Cell("–")});
  return table;
}

DataTable worst_points(std::vector<Observed> points) {
  DataTable table{.title = "Points with the largest errors",
                  .note = "Points that are not steady are among them: their samples differ by more than 5 %.",
                  .columns = {"workload", "choice", "predicted", "observed", "spread", "error"},
                  .units = {"", "", "s", "s", "1", "1"}};
  std::ranges::sort(points, std::greater<>{}, [](const Observed& one) { return std::abs(one.error()); });
  if (points.size() > most_worst_points) points.resize(most_worst_points);
  for (const Observed& one : points) {
    const Interval<Seconds>& predicted = one.point->predicted;
    const double spread = relative_spread(one.point->samples_ms);
    table.rows.push_back({label(*one.workload), to_string(one.point->choice),
                          time_cell({predicted.value.count(), predicted.low.count(), predicted.high.count()}),
                          time_cell({one.seconds}), number_cell(spread, percent(spread)),
                          number_cell(one.error(), signed_percent(one.error()))});
  }
  return table;
}

}  // namespace

Part evaluation_part(const Evaluation& evaluation, const std::string& source) {
  Part part{
      .section = {.title = fmt::format("Predicted against observed on {}", evaluation.device_name), .source = source}};
  const std::vector<Observed> points = observed_points(evaluation);
  const std::vector<ModelErrors> models = errors_by_model(evaluation.workloads);
  part.section.sentences.push_back(fmt::format("Profile {} (parameters {}), {} workloads, {} verified points.",
                                               evaluation.profile, evaluation.profile_hash, evaluation.workloads.size(),
                                               points.size()));
  if (evaluation.simulated)
    part.section.sentences.emplace_back(
        "The times are simulated: they compare models with each other, not with a GPU.");
  if (!models.empty() && models.front().steady.points > 0)
    part.summary.push_back(
        fmt::format("Predictions on {}{}: median error {}, 95th percentile {}, worst {} over {} steady points.",
                    evaluation.device_name, evaluation.simulated ? " (simulated, not observed)" : "",
                    percent(models.front().steady.median), percent(models.front().steady.p95),
                    percent(models.front().steady.worst), models.front().steady.points));
  if (!points.empty()) {
    part.section.figures.emplace_back(predicted_beside_observed(points));
    part.section.figures.emplace_back(error_distribution(points));
  }
  part.section.figures.emplace_back(models_table(models));
  DataTable strategies = models_table(errors_by_strategy(evaluation.workloads));
  strategies.title = "Errors of the simulation for each strategy";
  strategies.columns.front() = "strategy";
  part.section.figures.emplace_back(std::move(strategies));
  part.section.figures.emplace_back(worst_points(points));
  return part;
}

}  // namespace shiplap::page
