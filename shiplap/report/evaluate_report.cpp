#include "shiplap/report/evaluate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/errors.hpp"

namespace shiplap {
namespace {

/// A part of the report, which is printed as text or as Markdown.
struct Section {
  std::string heading;
  Table table;
  std::vector<std::string> notes{};
};

std::string count(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

std::string title(const Evaluation& e) {
  return fmt::format("{} ({}), predicted on profile {} ({})", e.device_name, e.device, e.profile, e.profile_hash);
}

std::vector<std::string> opening(const Evaluation& e) {
  std::size_t points = 0;
  for (const EvaluatedWorkload& w : e.workloads) points += w.points.size();
  std::vector<std::string> notes{fmt::format("{} of {}, {} of copies alone.", count(points, "point"),
                                             count(e.workloads.size(), "workload"), e.transfers.size())};
  const std::size_t wrong = wrong_results(e).size();
  notes.push_back(wrong == 0 ? "Every result was verified."
                             : fmt::format("{} WRONG: left out of all figures, and listed below.", wrong));
  if (e.predicted_again)
    notes.push_back(
        "Predicted again from a recorded evaluation: the observed times were known when this version was written. "
        "\"Simulation as recorded\" is what was predicted before anything ran.");
  if (e.simulated)
    notes.push_back(
        "The device is virtual: its times are simulated, so the errors of the simulation only show how the profile "
        "differs from the device's own. The closed forms are compared with the simulation.");
  return notes;
}

Table errors_table(const std::string& what) {
  return Table({{what},
                {"points", Align::right},
                {"median", Align::right},
                {"95th", Align::right},
                {"worst", Align::right},
                {"signed", Align::right},
                {"steady", Align::right},
                {"median", Align::right},
                {"95th", Align::right},
                {"worst", Align::right},
                {"unsteady", Align::right}});
}

void add_errors(Table& table, const ModelErrors& e) {
  const auto of = [](const ErrorSummary& s, double figure) { return s.points == 0 ? "–" : percent(figure); };
  table.add({e.name, std::to_string(e.all.points), of(e.all, e.all.median), of(e.all, e.all.p95),
             of(e.all, e.all.worst), signed_percent(e.all.median_signed), std::to_string(e.steady.points),
             of(e.steady, e.steady.median), of(e.steady, e.steady.p95), of(e.steady, e.steady.worst),
             percent(e.unsteady_fraction())});
}

void add_models(const Evaluation& e, std::vector<Section>& sections) {
  const std::vector<ModelErrors> models = errors_by_model(e.workloads);
  if (models.empty()) return;
  Section section{"Every model against what was observed", errors_table("model")};
  for (const ModelErrors& m : models) add_errors(section.table, m);
  section.notes.push_back(
      fmt::format("An error is predicted over observed time, minus 1. Its sign is dropped, except in the column "
                  "\"signed\", which is the median of the signed errors. A point is steady when its samples spread by "
                  "at most {}.",
                  percent(steady_spread)));
  for (const ModelErrors& m : models)
    if (m.coverage)
      section.notes.push_back(
          fmt::format("The prediction intervals of the {} cover {} of its steady points; their median width is {}.",
                      m.name, percent(m.coverage->covered), percent(m.coverage->median_width)));
  sections.push_back(std::move(section));

  Section groups{"The simulation, by strategy", errors_table("strategy")};
  for (const ModelErrors& g : errors_by_strategy(e.workloads)) add_errors(groups.table, g);
  sections.push_back(std::move(groups));

  Section worst{"Where each model is worst",
                Table({{"model"}, {"error", Align::right}, {"workload"}, {"choice"}, {"busiest, as predicted"}})};
  for (const ModelErrors& m : models)
    if (m.worst)
      worst.table.add({m.name, signed_percent(m.worst->error), m.worst->workload, to_string(m.worst->choice),
                       fmt::format("{}, {}", to_string(m.worst->busiest), percent(m.worst->busy))});
  sections.push_back(std::move(worst));
}

void add_regrets(const Evaluation& e, std::vector<Section>& sections) {
  Section section{"What following a model would have cost", Table({{"model"},
                                                                   {"strategy of", Align::right},
                                                                   {"median", Align::right},
                                                                   {"worst", Align::right},
                                                                   {"chunks of", Align::right},
                                                                   {"median", Align::right},
                                                                   {"worst", Align::right}})};
  const auto cell = [](const Regret& r, double figure) { return r.cases == 0 ? "–" : percent(figure); };
  for (const ModelRegret& r : regrets(e.workloads)) {
    if (r.strategy.cases + r.chunks.cases == 0) continue;
    section.table.add({r.model, std::to_string(r.strategy.cases), cell(r.strategy, r.strategy.median),
                       cell(r.strategy, r.strategy.worst), std::to_string(r.chunks.cases),
                       cell(r.chunks, r.chunks.median), cell(r.chunks, r.chunks.worst)});
    for (const auto& [what, regret] : {std::pair{"strategy", &r.strategy}, std::pair{"chunks", &r.chunks}})
      if (regret->worst > 0)
        section.notes.push_back(fmt::format("{}, worst by {}: {}.", r.model, what, regret->worst_case));
  }
  if (section.table.empty()) return;
  section.notes.insert(section.notes.begin(),
                       "The observed time of the model's first choice over the best observed time of the sweep, minus "
                       "1: among the strategies of each workload, and among the numbers of chunks of each strategy, "
                       "layout and grid.");
  sections.push_back(std::move(section));
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

void add_duels(const Evaluation& e, std::vector<Section>& sections) {
  Section section{"The automatic choice against the winner of the sweep, measured again side by side",
                  Table({{"workload"},
                         {"automatic choice"},
                         {"time", Align::right},
                         {"over ideal overlap", Align::right},
                         {"winner of the sweep"},
                         {"over winner", Align::right},
                         {"as good"}})};
  for (const EvaluatedWorkload& w : e.workloads) {
    if (!w.duel) continue;
    const Duel& d = *w.duel;
    section.table.add({label(w), to_string(d.automatic), to_string(milliseconds(median(d.automatic_ms))),
                       d.ideal_overlap_ms.empty() ? "–" : signed_percent(d.over_ideal_overlap()), to_string(d.winner),
                       signed_percent(d.over_winner()), d.within_rule() ? "yes" : "no"});
  }
  if (section.table.empty()) return;
  section.notes.push_back(
      "As good: slower by at most 1 %, 3 µs or two standard errors. Ideal overlap, the larger of the kernel "
      "alone and the duplex copies, was measured between the runs.");
  section.notes.push_back(fmt::format(
      "The automatic choice, which ran in every group of choices, moved by at most {} from one group of a workload to "
      "another.",
      percent(largest_drift(e))));
  sections.push_back(std::move(section));
}

void add_transfers(const Evaluation& e, std::vector<Section>& sections) {
  const std::vector<TransferErrors> directions = transfer_errors(e.transfers);
  if (directions.empty()) return;
  Section section{"Copies alone, in chunks", Table({{"direction"},
                                                    {"model"},
                                                    {"points", Align::right},
                                                    {"median", Align::right},
                                                    {"95th", Align::right},
                                                    {"most too long", Align::right},
                                                    {"most too short", Align::right}})};
  for (const TransferErrors& t : directions) {
    const char* direction = t.to_device ? "H2D" : "D2H";
    for (const auto& [model, s] : {std::pair{"simulation", t.simulation}, std::pair{"LogGP", t.loggp}})
      section.table.add({direction, model, std::to_string(s.points), percent(s.median), percent(s.p95),
                         signed_percent(s.over), signed_percent(s.under)});
    const PublishedTransferErrors p = published_transfer_errors(t.to_device);
    section.table.add({direction, "LogGP, published", "–", "–", "–", signed_percent(p.over), signed_percent(p.under)});
  }
  section.notes.push_back(
      "LogGP: L+o + k·G + (n − 1)·g for k bytes in n copies. \"Published\" are the largest errors that van Werkhoven "
      "et "
      "al. 2014, section V, report for their GPU, over 16 MB to 1 GB in 1 to 256 streams.");
  sections.push_back(std::move(section));
}

void add_failures(const Evaluation& e, std::vector<Section>& sections) {
  Section wrong{"Wrong results", Table({{"what"}})};
  for (const std::string& line : wrong_results(e)) wrong.table.add({line});
  if (!wrong.table.empty()) sections.push_back(std::move(wrong));

  std::map<std::pair<std::string, std::string>, std::size_t> reasons;  // choices, by workload or strategy and reason
  for (const EvaluatedWorkload& w : e.workloads) {
    if (!w.not_run.empty()) ++reasons[{label(w), w.not_run}];
    for (const SkippedChoice& s : w.skipped) ++reasons[{s.choice.strategy, s.reason}];
  }
  Section skipped{"Skipped", Table({{"what"}, {"choices", Align::right}, {"reason"}})};
  for (const auto& [what, number] : reasons) skipped.table.add({what.first, std::to_string(number), what.second});
  if (!skipped.table.empty()) sections.push_back(std::move(skipped));
}

std::vector<Section> sections_of(const Evaluation& e) {
  std::vector<Section> sections;
  add_models(e, sections);
  add_regrets(e, sections);
  add_duels(e, sections);
  add_transfers(e, sections);
  add_failures(e, sections);
  return sections;
}

}  // namespace

std::string evaluate_report(const Evaluation& evaluation, const TextStyle& style) {
  std::string out = bold(title(evaluation), style) + "\n";
  for (const std::string& note : opening(evaluation)) out += wrap(note, style.width) + "\n";
  for (const Section& section : sections_of(evaluation)) {
    out += "\n" + bold(section.heading, style) + "\n" + section.table.text(style, "  ");
    for (const std::string& note : section.notes) out += "  " + wrap(note, style.width - 2, "  ") + "\n";
  }
  return out;
}

std::string evaluate_markdown(const Evaluation& evaluation) {
  std::string out = "# " + title(evaluation) + "\n";
  for (const std::string& note : opening(evaluation)) out += "\n" + note + "\n";
  for (const Section& section : sections_of(evaluation)) {
    out += "\n## " + section.heading + "\n\n" + section.table.markdown();
    for (const std::string& note : section.notes) out += "\n" + note + "\n";
  }
  return out;
}

}  // namespace shiplap
