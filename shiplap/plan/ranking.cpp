#include "shiplap/plan/ranking.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/explain.hpp"
#include "shiplap/plan/predict.hpp"
#include "shiplap/plan/preference.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/plan/search.hpp"
#include "shiplap/profile/missing.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

constexpr std::size_t listed_per_strategy = 4;
// Where the best candidate has more chunks than this on all GPUs together, it alone is listed of its strategy: its
// interval takes 15 simulations, which is a quarter of a second for 2^14 chunks.
constexpr std::uint32_t most_chunks_of_several = 2048;

/// Whether the space asks for several chunks and the strategy has none.
bool cannot_cut(const Strategy& strategy, const SearchSpace& space) {
  return !strategy.chunked && !space.chunks.empty() && std::ranges::find(space.chunks, 1u) == space.chunks.end();
}

/// The best few candidates of every strategy in the space, the best of each strategy first.
std::vector<std::vector<Candidate>> best_of_each_strategy(const Job& job, const Profile& profile, const Limits& limits,
                                                          const SearchSpace& space, Ranking& into) {
  std::vector<std::vector<Candidate>> best;
  std::vector<std::string> notes;
  for (const Strategy& strategy : strategies()) {
    const bool is_wanted =
        space.strategies.empty() || std::ranges::find(space.strategies, strategy.name) != space.strategies.end();
    if (!is_wanted) continue;
    if (cannot_cut(strategy, space)) {
      const std::string reason = "`chunks` asks for several chunks, and it has none";
      if (space.strategies.empty()) {
        into.refused.push_back({std::string(strategy.name), reason});
        continue;
      }
      notes.push_back(fmt::format("{}: {}, so that the number has no effect on it", strategy.name, reason));
    }
    Search search(job, profile, space, limits);
    search.run(strategy);
    if (search.left_out > 0)
      notes.push_back(
          fmt::format("{}: {} choices of many chunks were not simulated, because {} ops of others were: give `chunks` "
                      "to try one of them",
                      strategy.name, search.left_out, search.simulated_ops));
    if (search.tried.empty()) {
      into.refused.push_back({std::string(strategy.name), search.refusal});
      continue;
    }
    if (!search.assumptions.empty()) into.assumptions = search.assumptions;
    sort_by_preference(search.tried);
    if (const Candidate& first = search.tried.front(); first.predicted_by == PredictedBy::closed_form)
      notes.push_back(
          fmt::format("{}: ranked by the closed form of van Werkhoven et al. 2014, not by simulation, because {}",
                      strategy.name, first.why_not_simulated));
    const Choice& best_choice = search.tried.front().choice;
    const bool is_long = std::uint64_t{best_choice.chunks} * best_choice.gpus > most_chunks_of_several;
    search.tried.resize(std::min(search.tried.size(), is_long ? 1 : listed_per_strategy));
    best.push_back(std::move(search.tried));
  }
  std::ranges::move(notes, std::back_inserter(into.assumptions));
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

/// Throws UsageError where the arrays are larger than `most_planned`.
void require_plannable_size(const Job& job) {
  double bytes = 0;  // the sum may exceed 64 bits
  for (const Array& array : job.arrays) bytes += in_bytes(size_on_host(array));
  if (bytes > in_bytes(most_planned))
    throw UsageError(fmt::format("the arrays of {} have {:.0f} TiB: a plan is made for at most {}; give smaller sizes",
                                 job.name, bytes / in_bytes(1024_GiB), to_string(most_planned)));
}

/// Throws Unsupported with the reasons. Strategies for another kind of memory are left out where there are others, but
/// for those that pageable arrays could have when they were pinned.
[[noreturn]] void refuse_all(const Job& job, const Limits& limits, std::vector<Refused> refused) {
  const auto is_for_other_memory = [memory = array_memory(job)](const Refused& r) {
    const ArrayMemory wanted = find_strategy(r.strategy).memory;
    return wanted != memory && !(memory == ArrayMemory::pageable && wanted == ArrayMemory::pinned);
  };
  if (!std::ranges::all_of(refused, is_for_other_memory)) std::erase_if(refused, is_for_other_memory);
  const bool is_small = !limits.holds(bytes_in(job) + bytes_out(job));
  throw Unsupported(fmt::format(
      "no strategy can run {}{}:\n  {}", job.name,
      is_small ? fmt::format(" with {} of device memory (`device_memory`)", to_string(limits.device_memory)) : "",
      fmt::join(reasons_of(refused), "\n  ")));
}

/// A parameter of profiles that the times of a strategy depend on, and that quick measurements leave out.
struct Dependence {
  std::string_view strategy;
  std::string_view parameter;
};
constexpr std::array dependences{Dependence{"staged", "host.staging"}, Dependence{"staged", "host.written"}};

/// One sentence for each strategy of the candidates whose time depends on parameters that the profile lacks.
std::string lacking_figures(const Profile& profile, const std::vector<Candidate>& candidates) {
  std::map<std::string_view, std::vector<std::string_view>> lacking;
  for (const Dependence& one : dependences) {
    const auto uses = [&](const Candidate& candidate) { return candidate.choice.strategy == one.strategy; };
    if (std::ranges::any_of(candidates, uses) &&
        std::ranges::find(profile.missing, one.parameter, &Missing::parameter) != profile.missing.end())
      lacking[one.strategy].push_back(one.parameter);
  }
  std::string text;
  for (const auto& [strategy, parameters] : lacking)
    text += fmt::format(
        "{}Profile {} lacks {}, so the time of {} is less certain; `shiplap measure` without --quick "
        "measures {}.",
        text.empty() ? "" : " ", profile.name, fmt::join(parameters, " and "), strategy,
        parameters.size() == 1 ? "it" : "them");
  return text;
}

std::vector<std::uint16_t> gpus_of(const Relay& relay) {
  std::vector<std::uint16_t> gpus;
  for (const RelayShare& one : relay.through) gpus.push_back(one.gpu);
  return gpus;
}

}  // namespace

bool SearchSpace::is_restricted() const {
  return !(strategies.empty() && chunks.empty() && ramps.empty() && layouts.empty() && orders.empty() &&
           max_grids.empty() && threads.empty() && movers.empty() && !max_slowdown);
}

Ranking rank(const Job& job, const Profile& profile, const SearchSpace& space) {
  return rank(job, profile, limits_of(profile), space);
}

Ranking rank(const Job& job, const Profile& profile, const Limits& limits, const SearchSpace& space) {
  if (space.gpus == 0) throw UsageError("`gpus` 0: a job runs on at least 1 GPU");
  if (space.gpus > most_gpus)
    throw UsageError(fmt::format("`gpus` is too large: a job is shared among at most {} GPUs", most_gpus));
  for (const std::string& name : space.strategies) find_strategy(name);
  std::vector<std::uint32_t> threads = space.threads;
  if (space.given) threads.push_back(space.given->threads);
  if (!threads.empty() && std::ranges::max(threads) > most_threads)
    throw UsageError(fmt::format("`threads` {}: give at most {}", std::ranges::max(threads), most_threads));
  require_plannable_size(job);
  Ranking result{
      .job = job.name,
      .profile = profile.name,
      .profile_hash = parameter_hash(profile),
      .assumed_link = profile.origin == Origin::assumed || is_missing(profile, "links[0].h2d.per_byte"),
      .kernel_cost_origin = job.cost.origin,
      .kernel = kernel_rates(job),
      .bound = bound(job, profile, space.gpus, space.relays),
      .ideal_overlap = ideal_overlap(job, profile, space.gpus,
                                     relays_worth_trying(copies_of(job), profile, space.relays, space.max_slowdown)),
      .candidates = {},
      .refused = {},
      .assumptions = {},
      .why = {}};
  std::vector<std::vector<Candidate>> best = best_of_each_strategy(job, profile, limits, space, result);
  if (best.empty()) refuse_all(job, limits, result.refused);
  for (Candidate& candidate : listed(std::move(best), result.simpler))
    result.candidates.push_back(
        complete_prediction(job, profile, limits, std::move(candidate), result.bound, result.ideal_overlap));
  sort_by_time(result);
  result.why = explain(result);
  if (space.given) result.why = "The choice was given, so that no other was searched. " + result.why;
  if (const std::string lacking = lacking_figures(profile, result.candidates); !lacking.empty())
    result.why += (result.why.empty() ? "" : " ") + lacking;
  return result;
}

Candidate predict(const Job& job, const Profile& profile, const Choice& choice) {
  return predict(job, profile, choice, limits_of(profile));
}

Candidate predict(const Job& job, const Profile& profile, const Choice& choice, const Limits& limits) {
  Candidate candidate{.choice = choice, .predicted = {}};
  predict_value(job, profile, limits, true, candidate);
  return complete_prediction(job, profile, limits, std::move(candidate),
                             bound(job, profile, choice.gpus, gpus_of(choice.relay)),
                             ideal_overlap(job, profile, choice.gpus, {&choice.relay, 1}));
}

}  // namespace shiplap
