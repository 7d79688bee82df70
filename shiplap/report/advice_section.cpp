#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shiplap/core/statistics.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/report/timeline_plot.hpp"

namespace shiplap::document {
namespace {

constexpr Seconds worth_a_sentence = milliseconds(1);

/// Changes whose time is a bound come after all others.
bool any_bound(const AdviceView& view) { return std::ranges::any_of(view.advice, &Advice::bound); }

/// The time of a step with all advice whose time is predicted and not a bound; the recorded one where there is none.
Seconds predicted_step(const AdviceView& view) {
  Seconds time = view.step.value;
  for (const Advice& one : view.advice)
    if (!one.bound) time = one.with_before.value;
  return time;
}

/// Whether the step with all advice whose time is predicted may take as long as recorded.
bool is_within_error(const AdviceView& view) {
  Seconds longest{0};
  for (const Advice& one : view.advice)
    if (!one.bound) longest = one.with_before.high;
  return longest >= view.step.value;
}

/// The time of a step now and with all advice: "infer.py: 3.890 ms → 667.0 µs a step (−82.9 %) by pin, overlap steps,
/// predicted." Where advice has only a bound, "infer.py: 27.59 ms → 8.104 ms a step (−70.6 %) by pin, predicted; at
/// best 1.349 ms by keep results on the GPU, a limit and not a prediction."
Headline answer_of(const AdviceView& view) {
  const std::string command = short_command(view.program);
  const std::string program = command.empty() ? "the recorded program" : command;
  if (!view.refused.empty()) return {.sentence = fmt::format("{}: no advice. {}", program, view.refused)};
  if (view.advice.empty()) return {.sentence = fmt::format("{}: nothing to gain here. {}", program, view.limit)};
  const bool repeats = view.left_out.empty();
  const auto after = [&](Seconds time) {
    return fmt::format("{}{} ({})", to_string(time), repeats ? " a step" : "",
                       signed_percent(time / view.step.value - 1));
  };
  const std::string recorded = to_string(view.step.value);
  const Seconds predicted = predicted_step(view);
  const Seconds limit = view.advice.back().with_before.value;
  Headline answer{.verdict = program,
                  .sentence = fmt::format("{}: {} → ", program, recorded),
                  .numbers = {{recorded, repeats ? "a step as recorded" : "as recorded"}}};
  const auto by = [&](bool bound) {
    std::string names;
    for (const Advice& one : view.advice)
      if (one.bound == bound) names += (names.empty() ? "" : ", ") + one.rule;
    return names;
  };
  if (!view.advice.front().bound) {
    answer.sentence += fmt::format("{} by {}, predicted{}", after(predicted), by(false),
                                   is_within_error(view) ? ", which is within the error of the prediction" : "");
    answer.numbers.push_back({to_string(predicted), "with the advice that can be predicted"});
    answer.numbers.push_back({signed_percent(predicted / view.step.value - 1), repeats ? "time of a step" : "time"});
  }
  if (any_bound(view)) {
    const bool is_all = view.advice.front().bound;
    answer.sentence += fmt::format("{}{} by {}, a limit and not a prediction", is_all ? "at best " : "; at best ",
                                   is_all ? after(limit) : to_string(limit), by(true));
    answer.numbers.push_back({to_string(limit), "at best with all advice, a limit and not a prediction"});
  }
  if (!view.assumed_link.empty()) answer.sentence += fmt::format("; with {}", view.assumed_link);
  answer.sentence += ".";
  return answer;
}

/// Bytes of one direction: "256 MiB (pageable)", "8 MiB (managed)", "8 MiB (64 KiB pageable) and 4 MiB (managed)".
std::string copied(Bytes all, Bytes pageable, Bytes managed) {
  const std::string moved = to_string(managed) + " (managed)";
  if (managed.count > 0 && all.count == 0) return moved;
  std::string text = to_string(all);
  if (pageable.count > 0) text += pageable < all ? fmt::format(" ({} pageable)", to_string(pageable)) : " (pageable)";
  return managed.count > 0 ? text + " and " + moved : text;
}

std::string what_a_step_does(const StepWork& work) {
  return fmt::format("{} to the GPU, {} kernel{}, {} to the host, {} wait{} of the host",
                     copied(work.in, work.in_pageable, work.moved_in), work.kernels, work.kernels == 1 ? "" : "s",
                     copied(work.out, work.out_pageable, work.moved_out), work.waits, work.waits == 1 ? "" : "s");
}

/// The names in a row, as in "pin, batch copies and drop waits".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

/// The step of a program in which nothing repeats.
std::string what_was_recorded_once(const AdviceView& view) {
  return fmt::format("The step was recorded once and takes {}{}{} No step follows, so {} do not apply.",
                     to_string(view.step.value), view.work ? ": " : "",
                     view.work ? what_a_step_does(*view.work) + "." : ".", listed(view.left_out));
}

std::string levels_of(const AdviceView& view) {
  std::vector<std::string> levels;
  for (const StepLevel& level : view.levels)
    levels.push_back(fmt::format("{} of {} ops{}", level.steps, level.ops, level.is_chosen ? " (chosen)" : ""));
  return fmt::format("Steps nest: {}.", listed(levels));
}

std::string what_was_recorded(const AdviceView& view) {
  if (!view.left_out.empty()) return what_was_recorded_once(view);
  std::string text = fmt::format(
      "A step takes {} ({} to {} for half of the {} steps recorded; {} of all work is in "
      "steps)",
      to_string(view.step.value), to_string(view.step.low), to_string(view.step.high), view.steps,
      percent(view.coverage));
  return text + (view.work ? fmt::format(": {}.", what_a_step_does(*view.work)) : ".");
}

std::string how_true_it_is(const AdviceView& view) {
  std::string text = fmt::format("The simulation of the recording takes {}{} ({}).", to_string(view.simulated),
                                 view.left_out.empty() ? " a step" : "", signed_percent(view.fidelity));
  if (view.slowed_by_recording)
    text += " Recording slows a program as dense as this one, and the simulation does not have that.";
  return text;
}

std::string whole_program(const AdviceView& view) {
  const Seconds all = view.advice.back().with_before.value;
  std::string limit = view.limit;
  if (!limit.empty()) limit.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(limit.front())));
  if (!view.left_out.empty())
    return fmt::format("All of it together: {}{} instead of {}, with what it costs once. After that {}",
                       any_bound(view) ? "at least " : "", to_string(all), to_string(view.step.value), limit);
  return fmt::format(
      "All of it together: {}{} instead of {} a step, {}{} less for the {} steps that were recorded. After that {}",
      any_bound(view) ? "at least " : "", to_string(all), to_string(view.step.value), any_bound(view) ? "at most " : "",
      to_string((view.step.value - all) * static_cast<double>(view.steps)), view.steps, limit);
}

Cell step_cell(const Interval<Seconds>& time, bool is_bound) {
  if (is_bound) return {"≥ " + to_string(time.value), time.value.count()};
  // An assumed link may be slower by more than it may be faster.
  const Seconds up = time.high - time.value;
  const Seconds down = time.value - time.low;
  if (std::max(up, down) > 1.2 * std::min(up, down)) return {with_ends(time), time.value.count()};
  return time_cell(time);
}

Cell saved_cell(double fraction, bool is_bound) {
  return is_bound ? Cell("≤ " + percent(fraction), fraction) : percent_cell(fraction);
}

/// What each change gains, and in the notes what it is.
Table gains_of(const AdviceView& view) {
  Table table{.columns = {{"", Align::right},
                          {"advice", Align::left},
                          {"alone", Align::right, "s"},
                          {"with those above", Align::right, "s"},
                          {"saved", Align::right, "1"},
                          {"once", Align::right, "s"}}};
  for (const Advice& one : view.advice) {
    table.add({count_cell(table.rows.size() + 1), one.rule,
               one.needs_before ? Cell("–") : step_cell(Interval<Seconds>::exact(one.step.value), one.bound),
               step_cell(one.with_before, one.bound),
               saved_cell(1 - one.with_before.value / view.step.value, one.bound),
               one.once > Seconds{0} ? Cell(to_string(one.once), one.once.count()) : Cell("–")});
    table.notes.push_back(fmt::format("{}. {}.", table.rows.size(), one.what));
  }
  if (std::ranges::any_of(view.advice, &Advice::needs_before))
    table.notes.push_back("alone –: the change does not apply without those above.");
  if (any_bound(view)) table.notes.push_back("≥: a limit and not a prediction, the step takes at least as long.");
  return table;
}

/// When each change is allowed, and how it is made in the languages of the program.
Table ways_to_do_it(const AdviceView& view) {
  Table table{.title = "How, and when it is allowed", .columns = {{"", Align::right}, {"advice"}, {"what to do"}}};
  for (std::size_t i = 0; i < view.advice.size(); ++i) {
    const Advice& one = view.advice[i];
    table.add({count_cell(i + 1), one.rule, "Only if: " + one.allowed_if});
    for (const HowTo& how : one.how)
      if (std::ranges::find(view.languages, how.language) != view.languages.end())
        table.add({"", "", fmt::format("{}: {}", how.language, how.text)});
  }
  return table;
}

}  // namespace

Section advice_section(const AdviceView& view, const std::string& source) {
  Section section{.title = fmt::format("Advice for {}", short_command(view.program)), .source = source};
  section.headlines.push_back(answer_of(view));
  section.sentences.push_back(fmt::format("Recorded on {}, predicted with profile {}{}.", view.gpu, view.profile,
                                          view.rates.empty() ? "" : " and the recorded rates: " + view.rates));
  if (!view.failed.empty() && view.failed != view.refused) section.sentences.push_back(view.failed);
  if (!view.assumed_link.empty() && !view.tells_link)
    section.sentences.push_back("No large copy of pinned memory tells how fast that machine's link is.");
  if (view.steps > 0) {
    section.sentences.push_back(what_was_recorded(view));
    if (view.levels.size() > 1) section.sentences.push_back(levels_of(view));
    if (view.initialisation >= worth_a_sentence)
      section.sentences.push_back(
          fmt::format("Initialisation took {}: calls before the first copy or kernel, and what first launches and the "
                      "first copy prepared. It is part of no step.",
                      to_string(view.initialisation)));
    section.sentences.push_back(how_true_it_is(view));
  }
  if (view.inferred_waits && (!view.work || view.work->waits > 0))
    section.sentences.emplace_back(
        "It is not recorded for which streams and events the host waits, so no advice is given to drop a wait (the "
        "PyTorch profiler records it with experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True); of a "
        "host that polls no tool does).");
  if (view.refused.empty() && !view.advice.empty()) {
    section.sentences.push_back(whole_program(view));
    section.figures.emplace_back(gains_of(view));
    section.details.emplace_back(ways_to_do_it(view));
  }
  TimelinePlot plot{
      .title = "Timeline: the recorded steps above the advised ones",
      .note = "Both are simulated. A row for each engine, a bar for each op, every other step is lighter."};
  if (view.recorded_timeline) plot.panels.push_back(panel_of(*view.recorded_timeline, "recorded"));
  if (view.advised_timeline) plot.panels.push_back(panel_of(*view.advised_timeline, "advised"));
  if (!plot.panels.empty()) section.figures.emplace_back(std::move(plot));
  return section;
}

}  // namespace shiplap::document
