#include "shiplap/plan/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/explain.hpp"
#include "shiplap/plan/preference.hpp"
#include "shiplap/plan/probability.hpp"
#include "shiplap/plan/search.hpp"

namespace shiplap {
namespace {

constexpr std::size_t listed_per_strategy = 4;

/// The best few of every strategy in the space, the best of each in front.
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

/// The best of all with its neighbours, and the best of every other strategy, by preference.
std::vector<Candidate> listed(std::vector<std::vector<Candidate>> best) {
  std::vector<Candidate> all;
  std::vector<Choice> leaders;
  for (std::vector<Candidate>& of_strategy : best) {
    leaders.push_back(of_strategy.front().choice);
    std::ranges::move(of_strategy, std::back_inserter(all));
  }
  sort_by_preference(all);
  std::erase_if(all, [&, winner = all.front().choice.strategy](const Candidate& candidate) {
    return candidate.choice.strategy != winner && std::ranges::find(leaders, candidate.choice) == leaders.end();
  });
  return all;
}

void set_probabilities(std::vector<Candidate>& candidates) {
  std::vector<Interval<Seconds>> times;
  for (const Candidate& candidate : candidates) times.push_back(candidate.predicted);
  const std::vector<double> probabilities = probability_of_least(times);
  const Interval<Seconds> best = times.front();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].probability_best = probabilities[i];
    candidates[i].tied_with_best = candidates[i].predicted.low <= best.high;
  }
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
  if (space.gpus == 0) throw UsageError("a job runs on one GPU at least, not on none");
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
  for (Candidate& candidate : listed(std::move(best)))
    result.candidates.push_back(complete_prediction(job, profile, limits, std::move(candidate)));
  set_probabilities(result.candidates);
  result.why = explain(result);
  return result;
}

}  // namespace shiplap
