#include "shiplap/plan/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/explain.hpp"
#include "shiplap/plan/preference.hpp"
#include "shiplap/plan/search.hpp"

namespace shiplap {
namespace {

constexpr std::size_t listed_per_strategy = 4;

/// The best few candidates of every strategy in the space, the best of each strategy first.
std::vector<std::vector<Candidate>> best_of_each_strategy(const Job& job, const Profile& profile, const Limits& limits,
                                                          const SearchSpace& space, Ranking& into) {
  std::vector<std::vector<Candidate>> best;
  for (const Strategy& strategy : strategies()) {
    const bool is_wanted =
        space.strategies.empty() || std::ranges::find(space.strategies, strategy.name) != space.strategies.end();
    if (!is_wanted) continue;
    Search search(job, profile, space, limits);
    search.run(strategy);
    if (search.tried.empty()) {
      into.refused.push_back({std::string(strategy.name), search.refusal});
      continue;
    }
    into.assumptions = search.assumptions;
    sort_by_preference(search.tried);
    search.tried.resize(std::min(search.tried.size(), listed_per_strategy));
    best.push_back(std::move(search.tried));
  }
  return best;
}

/// The best few candidates of the preferred strategy and the best one of every other strategy, by preference. `simpler`
/// receives how the first one is simpler than the fastest.
std::vector<Candidate> listed(std::vector<std::vector<Candidate>> best, std::string& simpler) {
  std::vector<Candidate> all;
  std::vector<Choice> leaders;
  for (std::vector<Candidate>& of_strategy : best) {
    leaders.push_back(of_strategy.front().choice);
    std::ranges::move(of_strategy, std::back_inserter(all));
  }
  simpler = sort_by_preference(all);
  std::erase_if(all, [&, winner = all.front().choice.strategy](const Candidate& candidate) {
    return candidate.choice.strategy != winner && std::ranges::find(leaders, candidate.choice) == leaders.end();
  });
  return all;
}

/// Sorts the candidates by predicted time and sets `first_choice` to the new index of the one that was first.
void sort_by_time(Ranking& ranking) {
  std::vector<Candidate>& candidates = ranking.candidates;
  const Choice preferred = candidates.front().choice;
  std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) { return candidate.predicted.value; });
  const auto at = std::ranges::find(candidates, preferred, &Candidate::choice);
  ranking.first_choice = static_cast<std::size_t>(at - candidates.begin());
  if (ranking.first_choice == 0) ranking.simpler.clear();
  const Seconds latest = candidates.front().predicted.high;
  for (Candidate& candidate : candidates) candidate.tied_with_fastest = candidate.predicted.low <= latest;
}

}  // namespace

bool SearchSpace::is_restricted() const {
  return !(strategies.empty() && chunks.empty() && ramps.empty() && layouts.empty() && orders.empty() &&
           blocks.empty() && threads.empty());
}

Ranking rank(const Job& job, const Profile& profile, const SearchSpace& space) {
  return rank(job, profile, limits_of(profile), space);
}

Ranking rank(const Job& job, const Profile& profile, const Limits& limits, const SearchSpace& space) {
  if (space.gpus == 0) throw UsageError("`gpus` 0: a job runs on at least 1 GPU");
  for (const std::string& name : space.strategies) find_strategy(name);
  Ranking result{.job = job.name,
                 .profile = profile.name,
                 .profile_hash = parameter_hash(profile),
                 .kernel_cost_origin = job.cost.origin,
                 .bound = bound(job, profile, space.gpus),
                 .ideal_overlap = ideal_overlap(job, profile, space.gpus),
                 .candidates = {},
                 .refused = {},
                 .assumptions = {},
                 .why = {}};
  std::vector<std::vector<Candidate>> best = best_of_each_strategy(job, profile, limits, space, result);
  if (best.empty()) {
    std::string reasons;
    for (const Refused& refused : result.refused)
      reasons += fmt::format("\n  {}: {}", refused.strategy, refused.reason);
    throw Unsupported(fmt::format("no strategy can run {}:{}", job.name, reasons));
  }
  for (Candidate& candidate : listed(std::move(best), result.simpler))
    result.candidates.push_back(complete_prediction(job, profile, limits, std::move(candidate)));
  sort_by_time(result);
  result.why = explain(result);
  return result;
}

}  // namespace shiplap
