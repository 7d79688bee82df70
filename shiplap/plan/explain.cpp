#include "shiplap/plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {
namespace {

double percent_of(Seconds part, Seconds whole) { return 100.0 * part.count() / whole.count(); }

std::string largest_cause(const Distance& d) {
  const std::array<std::pair<Seconds, const char*>, 6> causes{{
      {d.host, "memory that is not pinned: host threads, staging by the driver, moving pages"},
      {d.submission, "the host's submission of ops"},
      {d.latency, "latencies of copies and launches"},
      {d.gap, "the gap that every copy costs"},
      {d.duplex_gap, "the lower rate of small copies while both directions are busy"},
      {d.fill_and_drain, "filling and draining the pipeline"},
  }};
  const auto largest =
      std::max_element(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return fmt::format("{} ({})", largest->second, to_string(largest->first));
}

}  // namespace

std::string beside_ideal_overlap(const Candidate& candidate, const IdealOverlap& ideal) {
  const double percent = percent_of(candidate.distance.total, ideal.time.value);
  const char* why = percent >= 0 ? ""
                    : find_strategy(candidate.choice.strategy).zero_copy
                        ? " (zero-copy needs no copy)"
                        : " (its chunks are faster than their part of the whole)";
  return fmt::format("{:.1f} % {} ideal overlap{}", std::abs(percent), percent < 0 ? "below" : "above", why);
}

std::string explain(const Ranking& ranking) {
  const Candidate& best = ranking.best();
  const auto [engine, busy] = busiest_engine(best.timeline);
  std::string text = fmt::format("{} is {}", to_string(best.choice), beside_ideal_overlap(best, ranking.ideal_overlap));
  if (best.distance.total.count() > 0) text += fmt::format(", mostly {}", largest_cause(best.distance));
  text += ".";
  if (const double percent = percent_of(busy, best.predicted.value); percent >= 0.5)
    text += fmt::format(" {} is busy for {:.0f} % of the time.", to_string(engine), percent);
  text += fmt::format(" At least: link {}, kernel {}.", to_string(ranking.bound.link), to_string(ranking.bound.kernel));
  if (best.predicted_by == PredictedBy::closed_form)
    text += fmt::format(" The time is by the closed form of van Werkhoven et al. 2014, because {}.",
                        best.why_not_simulated);
  return text;
}

std::vector<std::string> reasons_of(const std::vector<Refused>& refused) {
  std::vector<std::pair<std::string, std::string>> lines;  // strategies, reason
  for (const Refused& r : refused) {
    const bool is_named = r.reason.starts_with(r.strategy + ": ");
    const std::string reason = is_named ? r.reason.substr(r.strategy.size() + 2) : r.reason;
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

}  // namespace shiplap
