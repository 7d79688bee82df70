#include <fmt/format.h>

#include <algorithm>

#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

Plot times_of_batches(const Replay& log) {
  Plot plot{.title = "Time of each batch",
            .note = "One colour for each choice. Batches may run at the same time.",
            .x = {.label = "batch", .unit = ""},
            .y = {.label = "time", .unit = "s"}};
  for (const Choice& choice : log.table.choices) plot.series.push_back({.name = to_string(choice), .is_line = false});
  for (const BatchObservation& seen : log.seen)
    plot.series.at(seen.choice).points.push_back({.x = static_cast<double>(seen.batch), .y = seen.span.count()});
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  return plot;
}

Plot estimates_of(const Replay& log) {
  Plot plot{.title = "What the decisions assume",
            .note = "Estimated over planned time of the kernel and of copies, after each decision.",
            .x = {.label = "batch", .unit = ""},
            .y = {.label = "estimated over planned", .unit = "1"},
            .series = {{.name = "kernel", .thing = "kernel"}, {.name = "copies", .thing = "both"}},
            .limits = {{.name = "as planned", .y = 1}}};
  for (const BatchDecision& decision : log.logged) {
    const auto batch = static_cast<double>(decision.after);
    plot.series[0].points.push_back({.x = batch, .y = decision.kernel, .label = decision.reason});
    plot.series[1].points.push_back({.x = batch, .y = decision.link, .label = decision.reason});
  }
  return plot;
}

Table decisions_of(const std::vector<BatchDecision>& decisions, const std::vector<Choice>& choices) {
  Table table{.title = "Decisions",
              .columns = {{"after batch", Align::right},
                          {"why"},
                          {"kernel", Align::right},
                          {"link", Align::right},
                          {"from then on"},
                          {"a batch", Align::right, "s"}}};
  for (const BatchDecision& d : decisions)
    table.add({count_cell(d.after), d.reason, Cell(fmt::format("x {:.3g}", d.kernel), d.kernel),
               Cell(fmt::format("x {:.3g}", d.link), d.link),
               d.to == d.from ? "as before" : to_string(choices.at(d.to)),
               time_cell(Interval<Seconds>::exact(d.period_to))});
  return table;
}

Table choices_of(const AdaptiveRun& run) {
  Table table{.columns = {{"choice"},
                          {"batches", Align::right},
                          {"share", Align::right, "1"},
                          {"predicted at first", Align::right, "s"}}};
  for (const ChoiceOfBatches& one : run.choices)
    if (one.batches > 0)
      table.add({to_string(one.choice), count_cell(one.batches),
                 percent_cell(static_cast<double>(one.batches) / static_cast<double>(run.report.batches)),
                 time_cell(Interval<Seconds>::exact(one.predicted_period))});
  return table;
}

}  // namespace

Section adaptive_section(const AdaptiveRun& run, const std::string& source) {
  Section section{.title = fmt::format("Adaptive run of {} on {}", run.workload, run.device), .source = source};
  const bool is_wrong = run.difference && !run.difference->empty();
  const std::string verdict = !run.difference ? "" : is_wrong ? "WRONG RESULT" : "VERIFIED";
  const std::string rate = fmt::format("{:.4g} items/s", run.report.rate());
  section.headlines.push_back(
      {.verdict = verdict,
       .sentence = fmt::format("{}{}{}{} for {} on {}: {} batches in {}, {} changes of the choice.", verdict,
                               verdict.empty() ? "" : " ", rate, run.simulated ? " (simulated)" : "", run.workload,
                               run.device, run.report.batches, to_string(run.report.elapsed), run.report.changes),
       .judgement = is_wrong         ? Judgement::bad
                    : run.difference ? Judgement::good
                                     : Judgement::none,
       .numbers = {{rate, run.simulated ? "simulated" : "observed"},
                   {std::to_string(run.report.changes), "changes of the choice"}}});
  section.sentences.push_back(fmt::format(
      "{} items in batches of {}, {} in flight, {} a batch.", run.report.items, run.items_of_batch, run.in_flight,
      to_string(run.report.elapsed / static_cast<double>(std::max<std::uint64_t>(1, run.report.batches)))));
  if (run.difference)
    section.sentences.push_back(run.difference->empty()
                                    ? "The last batch in every slot was verified against the host reference."
                                    : fmt::format("The first difference: {}.", *run.difference));
  if (run.decisions.empty())
    section.sentences.emplace_back("No change of the kernel or of the link called for another choice.");
  if (run.decisions.size() < run.all_decisions)
    section.sentences.push_back(
        fmt::format("The last {} of {} decisions are listed.", run.decisions.size(), run.all_decisions));
  section.figures.emplace_back(choices_of(run));
  std::vector<Choice> choices;
  for (const ChoiceOfBatches& one : run.choices) choices.push_back(one.choice);
  section.figures.emplace_back(decisions_of(run.decisions, choices));
  return section;
}

Section adaptation_section(const Replay& log, const std::string& source) {
  Section section{.title = fmt::format("Adaptive run of {}", log.job), .source = source};
  const bool is_as_logged = log.difference.empty();
  section.headlines.push_back(
      {.sentence = fmt::format("Made again from the log of {} batches, the {} decisions are {} logged.",
                               log.seen.size(), log.logged.size(), is_as_logged ? "as" : "NOT as"),
       .judgement = is_as_logged ? Judgement::none : Judgement::warn,
       .numbers = {{std::to_string(log.seen.size()), "batches"}, {std::to_string(log.logged.size()), "decisions"}}});
  if (!is_as_logged) section.sentences.push_back(fmt::format("The first difference: {}.", log.difference));
  section.sentences.push_back(fmt::format("The adaptive run of {} took {} batches and made {} decisions.", log.job,
                                          log.seen.size(), log.logged.size()));
  section.sentences.push_back(
      fmt::format("Planned with parameters {}. A log does not name its device, which may have been a virtual one.",
                  log.profile_hash));
  if (!log.seen.empty()) section.figures.emplace_back(times_of_batches(log));
  if (!log.logged.empty()) section.figures.emplace_back(estimates_of(log));
  section.figures.emplace_back(decisions_of(log.logged, log.table.choices));
  return section;
}

}  // namespace shiplap::document
