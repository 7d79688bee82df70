#include "shiplap/report/ranking_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace shiplap {
namespace {

std::string chunks_cell(const Choice& choice) {
  return choice.ramp.level() ? std::to_string(choice.chunks)
                             : fmt::format("{} ({})", choice.chunks, to_string(choice.ramp));
}

std::string table_of(const Ranking& plan, const RankingReportOptions& options) {
  Table table({{"rank", Align::right},
               {"strategy", Align::left},
               {"chunks", Align::right},
               {"layout", Align::left},
               {"order", Align::left},
               {"blocks", Align::right},
               {"predicted", Align::right},
               {"x bound", Align::right},
               {"best", Align::right},
               {"closed form", Align::right},
               {"", Align::left}});
  const std::size_t shown = std::min(plan.candidates.size(), options.most_candidates);
  for (std::size_t i = 0; i < shown; ++i) {
    const Candidate& candidate = plan.candidates[i];
    const Choice& choice = candidate.choice;
    // With a single chunk there is nothing to lay out or to order.
    const bool split = choice.chunks > 1;
    const bool laid_out = split && find_strategy(choice.strategy).memory == ArrayMemory::pinned;
    table.add({std::to_string(i + 1), choice.strategy, chunks_cell(choice),
               choice.threads > 0 ? fmt::format("{} threads a way", choice.threads)
               : laid_out         ? to_string(choice.layout, choice.streams)
                                  : "–",
               choice.graph     ? "graph"
               : choice.batched ? "batches"
               : laid_out       ? (choice.order == IssueOrder::depth ? "depth" : "breadth")
                                : "–",
               choice.blocks > 0 ? std::to_string(choice.blocks) : "–", with_range(candidate.predicted),
               fmt::format("{:.3f}", candidate.predicted.value / plan.bound.time),
               fmt::format("{:.0f} %", 100 * candidate.probability_best),
               candidate.closed_form ? to_string(*candidate.closed_form) : "–",
               i > 0 && candidate.tied_with_best ? "tie" : ""});
  }
  std::string out = table.text(options.style);
  if (std::any_of(plan.candidates.begin(), plan.candidates.begin() + static_cast<std::ptrdiff_t>(shown),
                  [](const Candidate& c) { return !c.choice.ramp.level(); }))
    out +=
        "(first:last:growth): size of the first and last chunk relative to the largest, and the factor between "
        "chunks\n";
  if (plan.candidates.size() > shown)
    out += fmt::format("{} more candidates in the JSON\n", plan.candidates.size() - shown);
  if (std::any_of(plan.candidates.begin() + 1, plan.candidates.begin() + static_cast<std::ptrdiff_t>(shown),
                  [](const Candidate& c) { return c.tied_with_best; }))
    out +=
        "best: probability of being the fastest of all listed; tie: its range overlaps that of rank 1, so the profile "
        "cannot tell them apart\n";
  return out;
}

std::string list(std::string_view heading, const std::vector<std::string>& items, const TextStyle& style) {
  if (items.empty()) return "";
  std::string out = "\n" + bold(heading, style) + "\n";
  for (const std::string& item : items) out += "  - " + wrap(item, style.width - 4, "    ") + "\n";
  return out;
}

/// Strategies that are refused for one and the same reason share a line.
std::vector<std::string> refusals(const std::vector<Refused>& refused) {
  std::vector<std::pair<std::string, std::string>> lines;  // strategies, reason
  for (const Refused& r : refused) {
    const bool begins = r.reason.starts_with(r.strategy + " ");
    const std::string reason = begins ? r.reason.substr(r.strategy.size() + 1) : r.reason;
    const auto same = std::ranges::find(lines, reason, &std::pair<std::string, std::string>::second);
    if (same == lines.end())
      lines.emplace_back(r.strategy, reason);
    else
      same->first += ", " + r.strategy;
  }
  std::vector<std::string> items;
  for (const auto& [strategies, reason] : lines) items.push_back(fmt::format("{}: {}", strategies, reason));
  return items;
}

}  // namespace

std::string distance_report(const Distance& distance, Seconds ideal_overlap, const TextStyle& style) {
  if (!(distance.total / ideal_overlap > 0.0005)) return "";
  const std::array<std::pair<const char*, Seconds>, 6> causes{
      {{"fill and drain: the first chunk in, the last chunk out", distance.fill_and_drain},
       {"gap between copies (g)", distance.gap},
       {"lower rate of small copies in both directions at once", distance.duplex_gap},
       {"latency of copies, launches and dependencies (L+o)", distance.latency},
       {"submission by the host", distance.submission},
       {"memory that is not pinned: host threads, moving pages", distance.host}}};
  Table table({{"above ideal overlap", Align::left}, {"time", Align::right}, {"of ideal overlap", Align::right}});
  for (const auto& [cause, time] : causes)
    if (time.count() != 0) table.add({cause, to_string(time), percent(time / ideal_overlap)});
  table.add({"together", to_string(distance.total), percent(distance.total / ideal_overlap)});
  return table.text(style);
}

std::string assumptions_report(const std::vector<std::string>& assumptions, const TextStyle& style) {
  return list("assumptions", assumptions, style);
}

std::string ranking_report(const Ranking& plan, const RankingReportOptions& options) {
  const TextStyle& style = options.style;
  std::string out =
      fmt::format("{} on profile {} ({})\n", bold(plan.job, style), bold(plan.profile, style), plan.profile_hash);
  if (!plan.kernel_cost_origin.empty()) out += fmt::format("kernel time: {}\n", plan.kernel_cost_origin);
  out += "\n" + table_of(plan, options);

  const Candidate& best = plan.best();
  const IdealOverlap& ideal = plan.ideal_overlap;
  out += fmt::format("\nbound {}, set by {}: no strategy is faster\n", bold(to_string(plan.bound.time), style),
                     plan.bound.set_by());
  out += fmt::format("rank 1 is {}\n", beside_ideal_overlap(best, ideal));
  if (const std::string distance = distance_report(best.distance, ideal.time.value, style); !distance.empty())
    out += "\n" + distance;

  if (!plan.why.empty()) out += "\n" + bold("why", style) + "\n  " + wrap(plan.why, style.width - 2, "  ") + "\n";
  out += list("refused", refusals(plan.refused), style);
  out += assumptions_report(plan.assumptions, style);
  return out;
}

}  // namespace shiplap
