#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/report/evaluation_tables.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
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

/// `times` says what the times of the points are: observed or simulated.
Plot predicted_beside(const std::string& times, const std::vector<Observed>& points) {
  Plot plot{.title = fmt::format("Predicted beside {} time", times),
            .note = "A point on the dashed line is predicted exactly.",
            .x = {.label = times, .unit = "s", .logarithmic = true},
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
    series.thing = strategy;
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

Table worst_points(const std::string& times, std::vector<Observed> points) {
  Table table{.title = "Points with the largest errors",
              .notes = {"Points that are not steady are among them: their samples differ by more than 5 %."},
              .columns = {{"workload"},
                          {"choice"},
                          {"predicted", Align::automatic, "s"},
                          {times, Align::automatic, "s"},
                          {"spread", Align::automatic, "1"},
                          {"error", Align::automatic, "1"}}};
  std::ranges::sort(points, std::greater<>{}, [](const Observed& one) { return std::abs(one.error()); });
  if (points.size() > most_worst_points) points.resize(most_worst_points);
  for (const Observed& one : points) {
    const Interval<Seconds>& predicted = one.point->predicted;
    const double spread = relative_spread(one.point->samples_ms);
    table.add({label(*one.workload), to_string(one.point->choice), time_cell(predicted),
               time_cell(Interval<Seconds>::exact(Seconds{one.seconds})), percent_cell(spread),
               change_cell(1 + one.error())});
  }
  return table;
}

/// The errors of each model at steady points, in few columns.
Table errors_in_brief(const std::vector<ModelErrors>& models) {
  Table table{.columns = {{"model"},
                          {"points", Align::right},
                          {"steady", Align::right},
                          {"median", Align::right, "1"},
                          {"95th", Align::right, "1"},
                          {"worst", Align::right, "1"}}};
  for (const ModelErrors& m : models)
    table.add({m.name, count_cell(m.all.points), count_cell(m.steady.points), percent_cell(m.steady.median),
               percent_cell(m.steady.p95), percent_cell(m.steady.worst)});
  if (!table.empty()) table.notes = {"Errors of the steady points, whose samples spread by at most 5 %."};
  return table;
}

}  // namespace

Section evaluation_section(const Evaluation& e, const std::string& source) {
  Section section{
      .title = fmt::format("{} ({}), predicted on profile {} ({})", e.device_name, e.device, e.profile, e.profile_hash),
      .source = source};
  const std::vector<Observed> points = observed_points(e);
  const std::vector<ModelErrors> models = errors_by_model(e.workloads);
  const std::string times = e.simulated ? "simulated" : "observed";
  const std::size_t wrong = wrong_results(e).size();
  if (!models.empty() && models.front().steady.points > 0) {
    const ErrorSummary& errors = models.front().steady;
    const std::string points_there = std::to_string(errors.points);
    const std::string verdict =
        fmt::format("Predictions on {}{}", e.device_name, e.simulated ? " (simulated, not observed)" : "");
    section.headlines.push_back(
        {.verdict = verdict,
         .sentence = fmt::format("{}: median error {}, 95th percentile {}, worst {} over {} steady points.", verdict,
                                 percent(errors.median), percent(errors.p95), percent(errors.worst), points_there),
         .judgement = wrong > 0 ? Judgement::bad : Judgement::none,
         .numbers = {{percent(errors.median), "median error"},
                     {percent(errors.p95), "95th percentile"},
                     {percent(errors.worst), "worst"},
                     {points_there, "steady points"}}});
  }
  std::size_t all_points = 0;
  for (const EvaluatedWorkload& w : e.workloads) all_points += w.points.size();
  section.sentences.push_back(fmt::format(
      "{} ({}), profile {} ({}): {} of {}, {} of copies alone. {}", e.device_name, e.device, e.profile, e.profile_hash,
      counted(all_points, "point"), counted(e.workloads.size(), "workload"), e.transfers.size(),
      wrong == 0 ? "Every result was verified."
                 : fmt::format("{} WRONG: left out of all figures, and listed below.", wrong)));
  if (e.predicted_again)
    section.sentences.emplace_back(
        "Predicted again from a recorded evaluation: the observed times were known when this version was written. "
        "\"Simulation as recorded\" is what was predicted before anything ran.");
  if (e.simulated)
    section.sentences.emplace_back(
        "The device is virtual: its times are simulated, so the errors of the simulation only show how the profile "
        "differs from the device's own. The closed forms are compared with the simulation.");
  if (!points.empty()) {
    section.figures.emplace_back(predicted_beside(times, points));
    section.figures.emplace_back(error_distribution(points));
  }
  section.brief.emplace_back(errors_in_brief(models));
  add_evaluation_tables(e, section);
  section.details.emplace_back(worst_points(times, points));
  return section;
}

}  // namespace shiplap::document
