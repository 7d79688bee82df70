#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/report/choice_name.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

/// What a program does that knows nothing better with arrays in this memory.
struct Baseline {
  ArrayMemory memory;
  std::string_view strategy;
  std::string_view name;
};
constexpr std::array baselines{Baseline{ArrayMemory::pinned, "explicit", "copy-kernel-copy"},
                               Baseline{ArrayMemory::pageable, "pageable", "plain copies"},
                               Baseline{ArrayMemory::managed, "managed", "managed memory without hints"}};

/// "1.45 times", "as fast as copy-kernel-copy"; nullopt where the ranking has no candidate to compare with.
std::optional<KeyNumber> gain_of(const PlanView& view) {
  const auto gain = [&](Seconds other, std::string label) {
    return KeyNumber{fmt::format("{:.2f} times", other / view.chosen.predicted.value), std::move(label)};
  };
  const auto baseline_for = [](ArrayMemory memory) -> const Baseline& {
    return *std::ranges::find(baselines, memory, &Baseline::memory);
  };
  if (view.pins) {
    const MemoryWay* const pinned = view.memory ? view.memory->find(Preparation::registered) : nullptr;
    const MemoryWay* const left = view.memory ? view.memory->find(Preparation::none) : nullptr;
    if (pinned == nullptr || !(pinned->total_time > Seconds{0})) return std::nullopt;
    const std::uint64_t runs = view.memory->runs;
    const auto in_all = [&](Seconds other, std::string_view way) {
      return KeyNumber{
          fmt::format("{:.2f} times", other / pinned->total_time),
          fmt::format("as fast {}as {}, pinning included", runs == 1 ? "" : fmt::format("over {} runs ", runs), way)};
    };
    if (view.memory->plain_copies_time)
      return in_all(static_cast<double>(runs) * *view.memory->plain_copies_time,
                    baseline_for(ArrayMemory::pageable).name);
    if (left == nullptr) return std::nullopt;
    return in_all(left->total_time, fmt::format("{} from pageable arrays", left->best.choice.strategy));
  }
  const Baseline& baseline = baseline_for(find_strategy(view.chosen.choice.strategy).memory);
  if (view.chosen.choice.strategy == baseline.strategy) return std::nullopt;
  for (const Candidate& candidate : view.ranking.candidates)
    if (candidate.choice.strategy == baseline.strategy && candidate.predicted.value > view.chosen.predicted.value)
      return gain(candidate.predicted.value, fmt::format("as fast as {}", baseline.name));
  return std::nullopt;
}

/// A gain below this fraction of a run is no reason to pin.
constexpr double least_gain_of_pinning = 0.02;

/// From how many runs on registering the arrays pays within the intervals of both predictions.
std::string when_it_pays(const MemoryWay& left, const MemoryWay& registered) {
  const Interval<Seconds>& now = left.best.predicted;
  const Interval<Seconds>& then = registered.best.predicted;
  const auto runs = [&](Seconds gain) { return std::ceil((registered.setup_time - left.setup_time) / gain); };
  if (now.high <= then.low) return "never";
  const double earliest = runs(now.high - then.low);
  if (now.low <= then.high)
    return fmt::format("from {} on at the earliest, or never", counted(static_cast<std::size_t>(earliest), "run"));
  return fmt::format("from {:.0f} to {:.0f} runs on", earliest, runs(now.low - then.high));
}

/// From how many runs on pinning pays where arrays are left as they are; "" where it never does, or gains next to
/// nothing.
std::string when_to_pin(const PlanView& view) {
  if (view.pins || !view.memory) return "";
  const MemoryWay* const left = view.memory->find(Preparation::none);
  const MemoryWay* const pinned = view.memory->find(Preparation::registered);
  if (left == nullptr || pinned == nullptr || !pinned->pays_from) return "";
  const Seconds now = view.chosen.predicted.value;
  if (now - pinned->best.predicted.value < now * least_gain_of_pinning) return "";
  return fmt::format(" Pinning pays from about {} over the same arrays on (by the intervals {}).",
                     counted(*pinned->pays_from, "run"), when_it_pays(*left, *pinned));
}

Headline answer_of(const PlanView& view) {
  Headline answer{
      .verdict = fmt::format("{} {}", view.pins ? "Pin the arrays and use" : "Use", short_name(view.chosen.choice)),
      .numbers = {
          {time_cell(view.chosen.predicted).text,
           fmt::format("predicted{}{}", view.ranking.assumed_link ? " with the assumed link" : "",
                       view.virtual_device.empty() ? "" : fmt::format(" (simulated {})", view.ranking.profile))}}};
  if (const std::optional<KeyNumber> gain = gain_of(view)) answer.numbers.push_back(*gain);
  answer.numbers.push_back({percent(view.chosen.predicted.value / view.ranking.bound.time - 1),
                            fmt::format("above the bound ({})", view.ranking.bound.set_by())});
  std::vector<std::string> parts;
  for (const auto& [value, label] : answer.numbers) parts.push_back(value + " " + label);
  answer.sentence = fmt::format("{}: {}.{}", answer.verdict, fmt::join(parts, ", "), when_to_pin(view));
  return answer;
}

std::string what_is_done(const Choice& choice) {
  return fmt::format("{}: {}.", choice.strategy, find_strategy(choice.strategy).summary);
}

std::string what_is_predicted(const PlanView& view) {
  const Ranking& ranking = view.ranking;
  std::string text = ranking.job;
  if (view.shape)
    text += fmt::format(
        ", {} in and {} out of {},", to_string(view.shape->bytes_in), to_string(view.shape->bytes_out),
        view.pins ? "pageable memory that is pinned" : fmt::format("{} memory", to_string(view.shape->memory)));
  text += fmt::format(" on profile {} ({})", ranking.profile, ranking.profile_hash);
  if (!ranking.kernel_cost_origin.empty()) text += ", kernel time " + ranking.kernel_cost_origin;
  return text + (ranking.kernel ? fmt::format(": {}.", to_string(ranking.kernel->time)) : ".");
}

/// Whether the prediction intervals overlap, so that the profile cannot tell which one is faster.
bool is_tie(const Candidate& one, const Candidate& other) {
  return one.predicted.low <= other.predicted.high && other.predicted.low <= one.predicted.high;
}

std::string remark_on(const Candidate& candidate, const Candidate& chosen) {
  std::vector<std::string> remarks;
  if (candidate.choice == chosen.choice)
    remarks.emplace_back("→ the choice");
  else if (is_tie(candidate, chosen))
    remarks.emplace_back("tie");
  const auto baseline = std::ranges::find(baselines, candidate.choice.strategy, &Baseline::strategy);
  if (baseline != baselines.end()) remarks.emplace_back(baseline->name);
  if (candidate.predicted_by == PredictedBy::closed_form) remarks.emplace_back("closed form");
  return fmt::format("{}", fmt::join(remarks, ", "));
}

/// The time of ideal overlap, and in the note the bound.
void add_ideal_overlap(Table& table, const PlanView& view) {
  const Interval<Seconds>& ideal = view.ranking.ideal_overlap.time;
  table.add({"ideal overlap", time_cell(ideal), change_cell(ideal.value / view.chosen.predicted.value),
             fmt::format("bound: {}", to_string(view.ranking.bound.time))});
}

/// What a run takes where the arrays that are pinned are left as they are.
void add_ways_left(Table& table, const PlanView& view) {
  if (!view.pins || !view.memory) return;
  const auto add = [&](const std::string& name, const Interval<Seconds>& time) {
    table.add({name, time_cell(time), change_cell(time.value / view.chosen.predicted.value), "pageable arrays"});
  };
  if (const MemoryWay* const left = view.memory->find(Preparation::none); left != nullptr)
    add(left->best.choice.strategy, left->best.predicted);
  if (view.memory->plain_copies_time) add("plain copies", Interval<Seconds>::exact(*view.memory->plain_copies_time));
}

/// The choice, what it is to be compared with, and the limits: the fastest candidate of each other strategy, or, where
/// arrays are pinned, what a run takes without.
Table best_of_strategies(const PlanView& view) {
  Table table{.columns = {{"choice", Align::left},
                          {view.ranking.assumed_link ? "assumed link, predicted" : "predicted", Align::right, "s"},
                          {"against it", Align::right, "1"},
                          {"note", Align::left}}};
  std::vector<std::string_view> listed{view.chosen.choice.strategy};
  const auto add = [&](const Candidate& candidate, const std::string& remark) {
    table.add({short_name(candidate.choice), time_cell(candidate.predicted),
               change_cell(candidate.predicted.value / view.chosen.predicted.value), remark});
  };
  const bool is_chosen_listed = std::ranges::find(view.ranking.candidates, view.chosen.choice, &Candidate::choice) !=
                                view.ranking.candidates.end();
  if (!is_chosen_listed) add(view.chosen, "→ won the race");
  for (const Candidate& candidate : view.ranking.candidates) {
    const bool is_choice = candidate.choice == view.chosen.choice;
    if (!is_choice && view.pins) continue;  // to pin or not is the question; all candidates are a detail
    if (!is_choice && std::ranges::find(listed, candidate.choice.strategy) != listed.end()) continue;
    if (!is_choice) listed.push_back(candidate.choice.strategy);
    add(candidate, remark_on(candidate, view.chosen));
  }
  add_ways_left(table, view);
  add_ideal_overlap(table, view);
  const auto alike = std::ranges::count_if(view.ranking.candidates, [&](const Candidate& candidate) {
    return candidate.choice.strategy == view.chosen.choice.strategy && candidate.choice != view.chosen.choice &&
           is_tie(candidate, view.chosen);
  });
  const auto is_other_tie = [&](const Candidate& candidate) {
    return candidate.choice.strategy != view.chosen.choice.strategy && is_tie(candidate, view.chosen);
  };
  const std::string also = alike > 0 ? fmt::format("{} more of {}", alike, view.chosen.choice.strategy) : "";
  if (std::ranges::any_of(view.ranking.candidates, is_other_tie))
    table.notes.push_back(
        fmt::format("tie: its interval overlaps the choice's{}.",
                    alike > 0 ? fmt::format(", as {} of {}", alike == 1 ? "does that" : "do those", also) : ""));
  else if (alike > 0)
    table.notes.push_back(fmt::format("The interval{} of {} overlap{} the choice's: a tie.", alike == 1 ? "" : "s",
                                      also, alike == 1 ? "s" : ""));
  return table;
}

/// What is said of the words in choices that are no terms of CUDA; "" where none of them is used.
std::string words_of(const std::vector<Candidate>& candidates) {
  std::string text;
  if (std::ranges::any_of(candidates, [](const Candidate& one) { return !one.choice.ramp.level(); }))
    text +=
        " Ramp first:last:growth: sizes of the first and the last chunk relative to the largest, and the factor from "
        "one chunk to the next.";
  if (std::ranges::any_of(candidates, [](const Candidate& one) { return one.choice.batched; }))
    text += " Copies in batches: several copies are submitted in one call (cudaMemcpyBatchAsync).";
  return text;
}

Table all_candidates(const PlanView& view) {
  Table table{.title = "Candidates",
              .columns = {{"rank"},
                          {"choice"},
                          {"predicted", Align::automatic, "s"},
                          {"over the bound"},
                          {"closed form", Align::right, "s"},
                          {"note"}}};
  const double bound = view.ranking.bound.time.count();
  std::size_t rank = 0;
  for (const Candidate& candidate : view.ranking.candidates) {
    const double ratio = bound > 0 ? candidate.predicted.value.count() / bound : 0;
    table.add({count_cell(++rank), to_string(candidate.choice), time_cell(candidate.predicted),
               bound > 0 ? Cell(fmt::format("{:.3f}", ratio), ratio) : Cell("–"),
               candidate.closed_form ? time_cell(Interval<Seconds>::exact(*candidate.closed_form)) : Cell("–"),
               remark_on(candidate, view.chosen)});
  }
  table.notes = {
      "Predicted times with 90 % prediction intervals; closed form: by the papers' equations. The bound counts every "
      "byte and item once at the fastest rates, and arrays that stay on the GPU before the first launch." +
      words_of(view.ranking.candidates)};
  return table;
}

/// What the strategies of the candidates do.
Table strategies_of(const std::vector<Candidate>& candidates) {
  Table table{.title = "What the strategies do", .columns = {{"strategy"}, {"what it does"}}};
  for (const Strategy& strategy : strategies())
    if (std::ranges::any_of(candidates, [&](const Candidate& one) { return one.choice.strategy == strategy.name; }))
      table.add({std::string(strategy.name), std::string(strategy.summary)});
  return table;
}

/// Why the choice is not the fastest candidate, which it is where `simpler` is empty.
Table preference_of(const Ranking& ranking) {
  Table table{.title = "Why not the fastest", .columns = {{"reason"}}};
  if (ranking.simpler.empty()) return table;
  const Candidate& fastest = ranking.candidates.front();
  const double gain = 1 - fastest.predicted.value / ranking.best().predicted.value;
  table.add(
      {fmt::format("{} is predicted {} faster; predictions are off by about as much, and the choice is simpler: {}",
                   to_string(fastest.choice), gain < 1e-4 ? "less than 0.01 %" : percent(gain), ranking.simpler)});
  return table;
}

/// Where the time above ideal overlap goes; empty when that is less than 0.05 % of it.
Table losses_of(const PlanView& view) {
  const Distance& distance = view.chosen.distance;
  const Seconds ideal = view.ranking.ideal_overlap.time.value;
  Table table{.title = "Above ideal overlap",
              .columns = {{"cause", Align::left}, {"time", Align::right}, {"of ideal overlap", Align::right}}};
  if (!(distance.total / ideal > 0.0005)) return table;
  const std::array<std::pair<const char*, Seconds>, 6> causes{
      {{"fill and drain: the first chunk in, the last chunk out", distance.fill_and_drain},
       {"gap between copies (g)", distance.gap},
       {"lower rate of small copies under duplex load", distance.duplex_gap},
       {"latency of copies, launches and dependencies (L+o)", distance.latency},
       {"submission by the host", distance.submission},
       {"memory that is not pinned: host threads, moving pages", distance.host}}};
  for (const auto& [cause, time] : causes)
    if (time.count() != 0)
      table.add({time.count() > 0 ? cause : "gained: stages that are shorter than in ideal overlap", to_string(time),
                 percent(time / ideal)});
  table.add({"together", to_string(distance.total), percent(distance.total / ideal)});
  table.notes = {fmt::format("Ideal overlap is whole copies of pinned arrays, or one launch over all items: {}.",
                             to_string(ideal))};
  return table;
}

/// What a run takes with the arrays as they are and registered, where both are known.
std::string gain_of_pinning(const PlanView& view) {
  const MemoryWay* const left = view.memory ? view.memory->find(Preparation::none) : nullptr;
  const MemoryWay* const registered = view.memory ? view.memory->find(Preparation::registered) : nullptr;
  const auto in_all = [&](const MemoryWay& way) {
    return view.memory->runs == 1 ? to_string(way.total_time)
                                  : fmt::format("{} for {} runs", to_string(way.total_time), view.memory->runs);
  };
  if (view.pins) {
    std::string text = fmt::format("Pinning the arrays (cudaHostRegister) takes {} once", to_string(view.pinning));
    text += registered == nullptr ? ", which is not in these times."
                                  : fmt::format(": {} in all, with the pinning.", in_all(*registered));
    if (left == nullptr) return text;
    text += fmt::format(" Left as they are, a run takes {} by {}", time_cell(left->best.predicted).text,
                        left->best.choice.strategy);
    if (registered == nullptr) return text + ".";
    return text + fmt::format("; by the intervals pinning pays {}.", when_it_pays(*left, *registered));
  }
  if (left == nullptr || registered == nullptr) return "";
  return fmt::format("Registering the arrays (cudaHostRegister) takes {} once, and a run then {} by {}.",
                     to_string(registered->setup_time), to_string(registered->best.predicted.value),
                     short_name(registered->best.choice));
}

Table table_of_kernel(const KernelRates& kernel) {
  return {.title = "The kernel alone", .columns = {{"what is predicted"}}, .rows = {{Cell(to_string(kernel))}}};
}

Table ways_of(const MemoryChoice& choice) {
  const std::string runs = choice.runs == 1 ? "1 run" : fmt::format("{} runs", choice.runs);
  Table table{.title = "Memory of the arrays",
              .columns = {{"the arrays", Align::left},
                          {"set-up", Align::right},
                          {"a run", Align::right},
                          {runs, Align::right},
                          {"pays from", Align::right}}};
  for (const MemoryWay& way : choice.ways) {
    const bool is_changed = way.preparation != Preparation::none;
    table.add({std::string(enum_name(way.preparation)), is_changed ? to_string(way.setup_time) : "–",
               to_string(way.best.predicted.value), to_string(way.total_time),
               !is_changed     ? "–"
               : way.pays_from ? fmt::format("{} run{}", *way.pays_from, *way.pays_from == 1 ? "" : "s")
                               : "never"});
  }
  for (const UnknownWay& way : choice.unknown)
    table.notes.push_back(fmt::format("{}: left out, {}", enum_name(way.preparation), way.reason));
  return table;
}

/// What has to be done for each way, and what a run is then.
Table doings_of(const MemoryChoice& choice) {
  Table table{.title = "What is done for each way", .columns = {{"the arrays"}, {"once"}, {"in each run"}}};
  for (const MemoryWay& way : choice.ways)
    table.add({std::string(enum_name(way.preparation)),
               way.preparation == Preparation::none ? "nothing" : std::string(what_is_done(way.preparation)),
               to_string(way.best.choice)});
  return table;
}

Table refused_of(const std::vector<Refused>& refused) {
  Table table{.title = "Strategies that cannot do this job", .columns = {{"strategy"}, {"reason"}}};
  for (const Refused& one : refused) table.add({one.strategy, one.reason});
  return table;
}

Table assumptions_of(const std::vector<std::string>& assumptions) {
  Table table{.title = "Assumptions", .columns = {{"what is assumed"}}};
  for (const std::string& assumption : assumptions) table.add({assumption});
  return table;
}

}  // namespace

std::string pinning_sentence(const PlanView& view) { return gain_of_pinning(view) + when_to_pin(view); }

Section plan_section(const PlanView& view, const std::string& source) {
  const Ranking& ranking = view.ranking;
  Section section{.title = fmt::format("Plan for {}", ranking.job), .source = source};
  section.headlines.push_back(answer_of(view));
  section.sentences.push_back(what_is_done(view.chosen.choice));
  section.sentences.push_back(what_is_predicted(view));
  if (std::string pinning = gain_of_pinning(view); !pinning.empty()) section.sentences.push_back(std::move(pinning));
  if (view.time_of_kept_copies > Seconds{0})
    section.sentences.push_back(fmt::format("The first run takes {} more, for the arrays that stay on the GPU.",
                                            to_string(view.time_of_kept_copies)));
  if (view.race) section.sentences.push_back(view.race->to_string() + ".");
  if (!ranking.why.empty()) section.sentences.push_back(ranking.why);
  section.figures.emplace_back(best_of_strategies(view));
  if (view.memory) {
    section.brief = section.figures;
    section.figures.emplace_back(ways_of(*view.memory));
  }
  section.details.emplace_back(all_candidates(view));
  section.details.emplace_back(preference_of(ranking));
  section.details.emplace_back(strategies_of(ranking.candidates));
  if (view.memory) section.details.emplace_back(doings_of(*view.memory));
  section.details.emplace_back(losses_of(view));
  if (ranking.kernel) section.details.emplace_back(table_of_kernel(*ranking.kernel));
  section.details.emplace_back(refused_of(ranking.refused));
  section.details.emplace_back(assumptions_of(ranking.assumptions));
  return section;
}

}  // namespace shiplap::document

namespace shiplap {

// Plan::summary and Plan::explain are defined here because the pipeline must not include the report.
std::string Plan::summary() const { return document::answer_of(plan_view(*this)).sentence; }

std::string Plan::explain(bool all) const {
  using document::Detail;
  std::string text = document::text(document::plan_section(plan_view(*this)), {}, all ? Detail::all : Detail::figures);
  if (!virtual_device.empty())
    text +=
        "\n" +
        wrap(fmt::format("Simulated: {} is a virtual device, and no GPU is used.", virtual_device), TextStyle{}.width) +
        "\n";
  return text;
}

}  // namespace shiplap
