#include "shiplap/report/evaluation_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/report/quantity.hpp"

namespace shiplap::document {
namespace {

Table errors_table(std::string title, std::string what, const std::vector<ModelErrors>& rows) {
  Table table{.title = std::move(title),
              .columns = {{std::move(what)},
                          {"points", Align::right},
                          {"median", Align::right, "1"},
                          {"95th", Align::right, "1"},
                          {"worst", Align::right, "1"},
                          {"signed", Align::right, "1"},
                          {"steady", Align::right},
                          {"median", Align::right, "1"},
                          {"95th", Align::right, "1"},
                          {"worst", Align::right, "1"},
                          {"unsteady", Align::right, "1"}}};
  for (const ModelErrors& e : rows) {
    const auto cell = [](const ErrorSummary& s, double figure) {
      return s.points == 0 ? Cell("–") : percent_cell(figure);
    };
    table.add({e.name, count_cell(e.all.points), cell(e.all, e.all.median), cell(e.all, e.all.p95),
               cell(e.all, e.all.worst), change_cell(1 + e.all.median_signed), count_cell(e.steady.points),
               cell(e.steady, e.steady.median), cell(e.steady, e.steady.p95), cell(e.steady, e.steady.worst),
               percent_cell(e.unsteady_fraction())});
  }
  return table;
}

void add_models(const Evaluation& e, Section& section) {
  const std::vector<ModelErrors> models = errors_by_model(e.workloads);
  if (models.empty()) return;
  Table table = errors_table("Every model against what was observed", "model", models);
  table.notes.push_back(
      fmt::format("An error is predicted over observed time, minus 1. Its sign is dropped, except in the column "
                  "\"signed\", which is the median of the signed errors. A point is steady when its samples spread by "
                  "at most {}.",
                  percent(steady_spread)));
  for (const ModelErrors& m : models)
    if (m.coverage)
      table.notes.push_back(
          fmt::format("The prediction intervals of the {} cover {} of its steady points; their median width is {}.",
                      m.name, percent(m.coverage->covered), percent(m.coverage->median_width)));
  section.figures.emplace_back(std::move(table));
  section.figures.emplace_back(
      errors_table("The simulation, by strategy", "strategy", errors_by_strategy(e.workloads)));
  Table worst{
      .title = "Where each model is worst",
      .columns = {{"model"}, {"error", Align::right, "1"}, {"workload"}, {"choice"}, {"busiest, as predicted"}}};
  for (const ModelErrors& m : models)
    if (m.worst)
      worst.add({m.name, change_cell(1 + m.worst->error), m.worst->workload, to_string(m.worst->choice),
                 fmt::format("{}, {}", to_string(m.worst->busiest), percent(m.worst->busy))});
  section.figures.emplace_back(std::move(worst));
}

void add_regrets(const Evaluation& e, Section& section) {
  Table table{.title = "What following a model would have cost",
              .notes = {"The observed time of the model's first choice over the best observed time of the sweep, minus "
                        "1: among the strategies of each workload, and among the numbers of chunks of each strategy, "
                        "layout and grid."},
              .columns = {{"model"},
                          {"strategy of", Align::right},
                          {"median", Align::right, "1"},
                          {"worst", Align::right, "1"},
                          {"chunks of", Align::right},
                          {"median", Align::right, "1"},
                          {"worst", Align::right, "1"}}};
  const auto cell = [](const Regret& r, double figure) { return r.cases == 0 ? Cell("–") : percent_cell(figure); };
  for (const ModelRegret& r : regrets(e.workloads)) {
    if (r.strategy.cases + r.chunks.cases == 0) continue;
    table.add({r.model, count_cell(r.strategy.cases), cell(r.strategy, r.strategy.median),
               cell(r.strategy, r.strategy.worst), count_cell(r.chunks.cases), cell(r.chunks, r.chunks.median),
               cell(r.chunks, r.chunks.worst)});
    for (const auto& [what, regret] : {std::pair{"strategy", &r.strategy}, std::pair{"chunks", &r.chunks}})
      if (regret->worst > 0)
        table.notes.push_back(fmt::format("{}, worst by {}: {}.", r.model, what, regret->worst_case));
  }
  section.figures.emplace_back(std::move(table));
}

/// The largest relative difference between two groups of one workload in the median time of the automatic choice. That
/// choice runs in every group, so a difference comes from the clocks or the machine.
double largest_drift(const Evaluation& e) {
  double drift = 0;
  for (const EvaluatedWorkload& w : e.workloads) {
    std::vector<double> medians;
    for (const EvaluatedGroup& group : w.groups)
      if (!group.automatic_ms.empty()) medians.push_back(median(group.automatic_ms));
    if (medians.empty()) continue;
    const auto [least, most] = std::ranges::minmax(medians);
    drift = std::max(drift, most / least - 1);
  }
  return drift;
}

void add_duels(const Evaluation& e, Section& section) {
  Table table{
      .title = "The automatic choice against the winner of the sweep, measured again side by side",
      .notes = {"As good: slower by at most 1 %, 3 µs or two standard errors. Ideal overlap, the larger of the kernel "
                "alone and the duplex copies, was measured between the runs.",
                fmt::format("The automatic choice, which ran in every group of choices, moved by at most {} from one "
                            "group of a workload to another.",
                            percent(largest_drift(e)))},
      .columns = {{"workload"},
                  {"automatic choice"},
                  {"time", Align::right, "s"},
                  {"over ideal overlap", Align::right, "1"},
                  {"winner of the sweep"},
                  {"over winner", Align::right, "1"},
                  {"as good"}}};
  for (const EvaluatedWorkload& w : e.workloads) {
    if (!w.duel) continue;
    const Duel& d = *w.duel;
    table.add({label(w), to_string(d.automatic),
               time_cell(Interval<Seconds>::exact(milliseconds(median(d.automatic_ms)))),
               d.ideal_overlap_ms.empty() ? Cell("–") : change_cell(1 + d.over_ideal_overlap()), to_string(d.winner),
               change_cell(1 + d.over_winner()), d.within_rule() ? "yes" : "no"});
  }
  section.figures.emplace_back(std::move(table));
}

void add_transfers(const Evaluation& e, Section& section) {
  const std::vector<TransferErrors> directions = transfer_errors(e.transfers);
  Table table{.title = "Copies alone, in chunks",
              .notes = {"LogGP: L+o + k·G + (n − 1)·g for k bytes in n copies. \"Published\" are the largest errors "
                        "that van Werkhoven et al. 2014, section V, report for their GPU, over 16 MB to 1 GB in 1 to "
                        "256 streams."},
              .columns = {{"direction"},
                          {"model"},
                          {"points", Align::right},
                          {"median", Align::right, "1"},
                          {"95th", Align::right, "1"},
                          {"most too long", Align::right, "1"},
                          {"most too short", Align::right, "1"}}};
  for (const TransferErrors& t : directions) {
    const char* direction = t.to_device ? "H2D" : "D2H";
    for (const auto& [model, s] : {std::pair{"simulation", t.simulation}, std::pair{"LogGP", t.loggp}})
      table.add({direction, model, count_cell(s.points), percent_cell(s.median), percent_cell(s.p95),
                 change_cell(1 + s.over), change_cell(1 + s.under)});
    const PublishedTransferErrors p = published_transfer_errors(t.to_device);
    table.add({direction, "LogGP, published", "–", "–", "–", change_cell(1 + p.over), change_cell(1 + p.under)});
  }
  section.figures.emplace_back(std::move(table));
}

void add_failures(const Evaluation& e, Section& section) {
  Table wrong{.title = "Wrong results", .columns = {{"what"}}};
  for (const std::string& line : wrong_results(e)) wrong.add({line});
  for (std::vector<Figure>* figures : {&section.figures, &section.brief}) figures->emplace_back(wrong);

  std::map<std::pair<std::string, std::string>, std::size_t> reasons;  // choices, by workload or strategy and reason
  for (const EvaluatedWorkload& w : e.workloads) {
    if (!w.not_run.empty()) ++reasons[{label(w), w.not_run}];
    for (const SkippedChoice& s : w.skipped) ++reasons[{s.choice.strategy, s.reason}];
  }
  Table skipped{.title = "Skipped", .columns = {{"what"}, {"choices", Align::right}, {"reason"}}};
  for (const auto& [what, number] : reasons) skipped.add({what.first, count_cell(number), what.second});
  for (std::vector<Figure>* figures : {&section.figures, &section.brief}) figures->emplace_back(skipped);
}

}  // namespace

void add_evaluation_tables(const Evaluation& evaluation, Section& section) {
  add_models(evaluation, section);
  add_regrets(evaluation, section);
  add_duels(evaluation, section);
  add_transfers(evaluation, section);
  add_failures(evaluation, section);
}

}  // namespace shiplap::document
