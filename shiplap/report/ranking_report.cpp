#include "shiplap/report/ranking_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace shiplap {
namespace {

/// A column of the table that says what a candidate is, and by which model it is ranked.
struct RankingColumn {
  Column column;
  std::string (*cell)(const Candidate&);
};

std::string or_dash(bool is_there, std::string text) { return is_there ? std::move(text) : std::string("–"); }

/// Whether layout and order matter to the choice: they do for more than one chunk of pinned memory.
bool is_laid_out(const Choice& choice) {
  return choice.chunks > 1 && find_strategy(choice.strategy).memory == ArrayMemory::pinned;
}

std::string streams_cell(const Candidate& candidate) {
  const Choice& choice = candidate.choice;
  if (choice.threads > 0) return fmt::format("{} thread{}", choice.threads, choice.threads == 1 ? "" : "s");
  if (!is_laid_out(choice)) return "–";
  if (choice.layout == Layout::few) return std::to_string(choice.streams);
  const bool is_named = choice.layout == Layout::three || choice.layout == Layout::per_chunk;
  return is_named ? std::string(name_of(choice.layout)) : to_string(choice.layout, choice.streams);
}

std::string calls_cell(const Candidate& candidate) {
  const Choice& choice = candidate.choice;
  if (choice.graph) return "graph";
  if (choice.batched) return "batches";
  return or_dash(is_laid_out(choice), choice.order == IssueOrder::depth ? "depth" : "breadth");
}

const std::array columns_of_choice{
    RankingColumn{{"strategy", Align::left}, [](const Candidate& c) { return c.choice.strategy; }},
    RankingColumn{
        {"chunks", Align::right},
        [](const Candidate& c) { return std::to_string(c.choice.chunks) + (c.choice.ramp.level() ? "" : "*"); }},
    RankingColumn{{"streams", Align::left}, streams_cell},
    RankingColumn{{"order", Align::left}, calls_cell},
    RankingColumn{{"blocks", Align::right},
                  [](const Candidate& c) { return or_dash(c.choice.max_grid > 0, std::to_string(c.choice.max_grid)); }},
    RankingColumn{{"by", Align::left}, [](const Candidate& c) {
                    return or_dash(c.predicted_by != PredictedBy::simulation, std::string(name_of(c.predicted_by)));
                  }}};

std::string closed_form_cell(const Candidate& candidate) {
  return candidate.closed_form ? to_string(*candidate.closed_form) : "–";
}

/// The ramps of the choices that the table marks with a star.
std::string ramps_note(std::span<const Candidate> shown) {
  std::string ranks;
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (const Ramp& ramp = shown[i].choice.ramp; !ramp.level())
      ranks += fmt::format("{}rank {} {}", ranks.empty() ? "" : ", ", i + 1, to_string(ramp));
  if (ranks.empty()) return "";
  return fmt::format(
      "*: chunks of different sizes, as first:last:growth (sizes of the first and of the last chunk relative to the "
      "largest, and the factor from one chunk to the next): {}",
      ranks);
}

/// The table of the ranking without its empty columns.
std::string table_of(const Ranking& plan, const Candidate& chosen, const RankingReportOptions& options) {
  const std::span shown(plan.candidates.data(), std::min(plan.candidates.size(), options.most_candidates));
  const auto says_something = [&](const auto& cell) {
    return std::ranges::any_of(shown, [&](const Candidate& candidate) { return cell(candidate) != "–"; });
  };
  std::vector<RankingColumn> of_choice;
  for (const RankingColumn& column : columns_of_choice)
    if (says_something(column.cell)) of_choice.push_back(column);
  const bool has_closed_form = says_something(closed_form_cell);
  std::vector<Column> columns{{"rank", Align::right}};
  for (const RankingColumn& column : of_choice) columns.push_back(column.column);
  columns.insert(columns.end(), {{plan.assumed_link ? "assumed link, predicted" : "predicted", Align::right},
                                 {"x bound", Align::right}});
  if (has_closed_form) columns.push_back({"closed form", Align::right});
  columns.push_back({"", Align::left});
  Table table{.columns = std::move(columns)};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Candidate& candidate = shown[i];
    std::vector<Cell> cells{(candidate.choice == chosen.choice ? "→ " : "") + std::to_string(i + 1)};
    for (const RankingColumn& column : of_choice) cells.push_back(column.cell(candidate));
    cells.push_back(with_interval(candidate.predicted));
    cells.push_back(fmt::format("{:.3f}", candidate.predicted.value / plan.bound.time));
    if (has_closed_form) cells.push_back(closed_form_cell(candidate));
    cells.push_back(i > 0 && candidate.tied_with_fastest ? "tie" : "");
    table.add(std::move(cells));
  }
  std::string out = table.text(options.style);
  const auto note = [&](const std::string& text) {
    if (!text.empty()) out += wrap(text, options.style.width, "  ") + "\n";
  };
  const bool is_listed = std::ranges::find(shown, chosen.choice, &Candidate::choice) != shown.end();
  note(fmt::format("sorted by predicted time{}", is_listed ? "; → is what the plan chooses" : ""));
  if (plan.candidates.size() > shown.size())
    note(fmt::format("{} more candidates in the JSON", plan.candidates.size() - shown.size()));
  if (std::ranges::any_of(shown.subspan(1), &Candidate::tied_with_fastest))
    note("tie: its prediction interval overlaps that of rank 1, so the profile cannot tell which of them is faster");
  note(ramps_note(shown));
  const auto uses = [&](const auto& property) { return std::ranges::any_of(shown, property, &Candidate::choice); };
  if (uses([](const Choice& choice) { return choice.threads > 0; }))
    note("streams: CUDA streams, or the host threads that move the data");
  if (uses([](const Choice& choice) { return choice.graph || choice.batched; }))
    note("order: the order of the calls, or graph (one call for all ops) or batches (one for the copies of a chunk)");
  if (std::ranges::any_of(shown, [](const Candidate& c) { return c.predicted_by == PredictedBy::closed_form; }))
    note("by: the candidate is ranked by the papers' equation, because the profile lacks a figure of the simulation");
  if (has_closed_form) note("closed form: the time by the papers' equations");
  return out;
}

std::string list(std::string_view heading, const std::vector<std::string>& items, const TextStyle& style) {
  if (items.empty()) return "";
  std::string out = "\n" + bold(heading, style) + "\n";
  for (const std::string& item : items) out += "  - " + wrap(item, style.width - 4, "    ") + "\n";
  return out;
}

}  // namespace

std::string distance_report(const Distance& distance, Seconds ideal_overlap, const TextStyle& style) {
  if (!(distance.total / ideal_overlap > 0.0005)) return "";
  const std::array<std::pair<const char*, Seconds>, 6> causes{
      {{"fill and drain: the first chunk in, the last chunk out", distance.fill_and_drain},
       {"gap between copies (g)", distance.gap},
       {"lower rate of small copies under duplex load", distance.duplex_gap},
       {"latency of copies, launches and dependencies (L+o)", distance.latency},
       {"submission by the host", distance.submission},
       {"memory that is not pinned: host threads, moving pages", distance.host}}};
  Table table{
      .columns = {{"above ideal overlap", Align::left}, {"time", Align::right}, {"of ideal overlap", Align::right}}};
  for (const auto& [cause, time] : causes)
    if (time.count() != 0)
      table.add({time.count() > 0 ? cause : "gained: stages that are shorter than in ideal overlap", to_string(time),
                 percent(time / ideal_overlap)});
  table.add({"together", to_string(distance.total), percent(distance.total / ideal_overlap)});
  return table.text(style);
}

std::string assumptions_report(const std::vector<std::string>& assumptions, const TextStyle& style) {
  return list("assumptions", assumptions, style);
}

std::string ranking_report(const Ranking& plan, const RankingReportOptions& options) {
  const TextStyle& style = options.style;
  const Candidate& chosen = options.chosen != nullptr ? *options.chosen : plan.best();
  std::string out =
      fmt::format("{} on profile {} (hash {})\n", bold(plan.job, style), bold(plan.profile, style), plan.profile_hash);
  if (!plan.kernel_cost_origin.empty())
    out +=
        wrap(fmt::format("kernel time: {}{}{}", plan.kernel_cost_origin,
                         plan.kernel_cost_origin.starts_with("derived") ? "; the kernel itself was not measured" : "",
                         plan.kernel ? fmt::format(" ({})", to_string(*plan.kernel)) : ""),
             style.width, "  ") +
        "\n";
  if (!options.arrays.empty()) out += wrap("arrays: " + options.arrays, style.width, "  ") + "\n";
  out += "\n" + table_of(plan, chosen, options);

  const IdealOverlap& ideal = plan.ideal_overlap;
  out += fmt::format("\nbound {}, set by {}: no strategy is faster\n", bold(to_string(plan.bound.time), style),
                     plan.bound.set_by());
  out += wrap("the choice is " + beside_ideal_overlap(chosen, ideal), style.width, "  ") + "\n";
  out += "  " +
         wrap(
             "the bound counts every byte and item once at the fastest rates, and arrays that stay on the GPU before "
             "the first launch; ideal overlap is whole copies of pinned arrays, or one launch over all items",
             style.width - 2, "  ") +
         "\n";
  if (const std::string distance = distance_report(chosen.distance, ideal.time.value, style); !distance.empty())
    out += "\n" + distance;

  if (!plan.why.empty()) out += "\n" + bold("why", style) + "\n  " + wrap(plan.why, style.width - 2, "  ") + "\n";
  out += list("refused", reasons_of(plan.refused), style);
  out += assumptions_report(plan.assumptions, style);
  return out;
}

}  // namespace shiplap
