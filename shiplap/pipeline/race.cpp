#include "shiplap/pipeline/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/gpu_array.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/requirements.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

// Candidates take part in a race unless they are predicted slower than the best by more than one of these factors. With
// them the race chose within 2 % of the best of a sweep in 97.8 % of 180 random jobs on an H200 (results/h200/random).
constexpr double most_behind_of_a_variant = 1.5;
constexpr double most_behind_of_a_strategy = 2;
constexpr double most_behind_without_zero_copy = 10;   // lets a wrong prediction of a zero-copy strategy lose the race
constexpr std::uint32_t most_streams_of_variant = 16;  // variants with a stream for each chunk have at most this many
constexpr unsigned most_heats = 4;
constexpr Seconds long_run = milliseconds(2);  // the content of the caches before a run of this length does not matter

Seconds median_of(const Finalist& finalist) { return Seconds{median(finalist.seconds)}; }

/// The variants of a choice: as a graph, with copies in batches, with other numbers of chunks, layouts, grids, threads.
std::vector<Choice> variants_of(const Job& job, const Profile& profile, const Choice& best) {
  std::vector<Choice> choices;
  const Strategy& strategy = find_strategy(best.strategy);
  const std::uint64_t most = std::max<std::uint64_t>(1, job.items / std::max(1u, best.gpus));
  const auto with_chunks = [&](double factor) {
    Choice choice = best;
    const auto chunks = static_cast<std::uint64_t>(std::max(1.0, best.chunks * factor + 0.5));
    choice.chunks = static_cast<std::uint32_t>(std::min(chunks, most));
    choice.ramp = {};
    choices.push_back(choice);
  };
  const bool relays = !best.relay.through.empty();
  if (relays) {
    for (const double factor : {0.97, 1.02}) {
      choices.push_back(best);
      choices.back().relay = with_shares_times(best.relay, factor);
    }
    choices.push_back(best);
    choices.back().relay = {};
  }
  if (strategy.memory == ArrayMemory::pinned && best.gpus == 1 && !relays) {
    const auto with_calls = [&](bool graph, bool batched) {
      if (graph == best.graph && batched == best.batched) return;
      Choice choice = best;
      choice.graph = graph;
      choice.batched = batched;
      choices.push_back(choice);
    };
    with_calls(false, false);
    if (job.capturable) with_calls(true, false);
    with_calls(false, true);
  }
  if (strategy.chunked)
    for (const double factor : {2.0, 0.5, 1.0, 4.0, 1.4, 0.7}) with_chunks(factor);
  if (strategy.chunked && !strategy.threaded && best.chunks == 1 && most >= 2) {
    with_chunks(2);
    choices.back().layout = Layout::per_chunk;
  }
  if (strategy.chunked && !strategy.threaded && best.chunks > 1)
    for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three}) {
      Choice choice = best;
      choice.layout = layout;
      const bool too_many = layout == Layout::per_chunk && best.chunks > most_streams_of_variant;
      if (layout != best.layout && !too_many && !is_emulated(best.layout)) choices.push_back(choice);
    }
  if (strategy.zero_copy && job.any_grid)
    for (const std::uint64_t blocks :
         {best.max_grid == 0 ? std::uint64_t{profile.gpus.front().sm_count} : 0, 2 * best.max_grid}) {
      Choice choice = best;
      choice.max_grid = blocks;
      choices.push_back(choice);
    }
  if (strategy.threaded)
    for (const std::uint32_t threads : {best.threads * 2, best.threads / 2}) {
      Choice choice = best;
      choice.threads = std::max(1u, threads);
      choices.push_back(choice);
    }
  return choices;
}

/// Whether the space contains the choice.
bool is_open(const SearchSpace& space, const Choice& choice) {
  const auto among = [](const auto& chosen, const auto& value) {
    return chosen.empty() || std::ranges::find(chosen, value) != chosen.end();
  };
  return among(space.chunks, choice.chunks) && among(space.ramps, choice.ramp) && among(space.layouts, choice.layout) &&
         among(space.max_grids, choice.max_grid) && among(space.threads, choice.threads) &&
         (choice.graph || !space.graph) && (choice.batched || !space.batched) &&
         (!choice.graph || space.graph || space.fewer_calls) && (!choice.batched || space.batched || space.fewer_calls);
}

}  // namespace

Originals::Originals(Device& device, const Job& job) : device_(device) {
  const auto keep = [&](std::byte* data, Bytes size) {
    kept_.push_back({data, std::vector<std::byte>(data, data + size.count)});
  };
  for (const Array& array : job.arrays) {
    if ((array.role != Role::inout && array.role != Role::carried) || array.data == nullptr) continue;
    if (is_on_gpu(array)) {
      on_gpu_.emplace_back(array, copy_on_host(device, array));
      continue;
    }
    if (!array.blocks) keep(array.data, array.size);
    for (std::uint64_t k = 0; array.blocks && k < array.blocks->count; ++k)
      keep(array.data + start_of_block(array, k).count, array.blocks->block);
  }
}

void Originals::restore() const {
  for (const auto& [data, bytes] : kept_) std::memcpy(data, bytes.data(), bytes.size());
  for (const auto& [array, copy] : on_gpu_) copy_to_gpu(device_, array, copy);
}

void Originals::restore_after_failure() const noexcept {
  try {
    restore();
  } catch (const std::exception&) {
    // The first error is what the caller hears of.
  }
}

RaceField race_field(const Job& job, const Profile& profile, const Ranking& ranking, const Limits& limits,
                     const SearchSpace& space, std::size_t most) {
  std::vector<Candidate> field{ranking.best()};
  const auto has = [&](const Choice& choice) {
    return std::ranges::find(field, choice, &Candidate::choice) != field.end();
  };
  const auto has_strategy = [&](const std::string& name) {
    return std::ranges::any_of(field, [&](const Candidate& c) { return c.choice.strategy == name; });
  };
  const auto near = [best = ranking.best().predicted](const Candidate& c) {
    return c.predicted.value <= best.value * most_behind_of_a_variant || c.predicted.low <= best.high;
  };
  // An error in the model of a strategy affects all its candidates, so every strategy is represented. Strategies
  // without zero-copy are predicted best and take part even if another prediction is far better.
  const bool advised = gives_advice(find_strategy(ranking.best().choice.strategy));
  for (const Candidate& candidate : ranking.candidates) {
    if (gives_advice(find_strategy(candidate.choice.strategy)) != advised) continue;
    const double behind =
        find_strategy(candidate.choice.strategy).zero_copy ? most_behind_of_a_strategy : most_behind_without_zero_copy;
    const bool takes_part = near(candidate) || candidate.predicted.value <= ranking.best().predicted.value * behind;
    if (takes_part && !has_strategy(candidate.choice.strategy)) field.push_back(candidate);
  }
  for (const Candidate& candidate : ranking.candidates)
    if (candidate.predicted.value < ranking.best().predicted.value && !has(candidate.choice) &&
        gives_advice(find_strategy(candidate.choice.strategy)) == advised)
      field.push_back(candidate);

  const auto variants = [&job, &profile, limits, space, near](const Choice& of) {
    std::vector<Candidate> candidates;
    for (const Choice& choice : variants_of(job, profile, of)) {
      if (!is_open(space, choice)) continue;
      try {
        Candidate candidate = predict(job, profile, choice, limits);
        if (near(candidate)) candidates.push_back(std::move(candidate));
      } catch (const Error&) {
        continue;  // the variant needs more memory than there is, or figures that the profile lacks
      }
    }
    return candidates;
  };
  // The leaders take turns, so that the variants of one do not fill the field.
  std::vector<std::vector<Candidate>> near_leaders;
  for (std::size_t f = 0; f < std::min<std::size_t>(field.size(), 3); ++f)
    near_leaders.push_back(variants(field[f].choice));
  for (std::size_t n = 0; n < most; ++n)
    for (const std::vector<Candidate>& candidates : near_leaders)
      if (n < candidates.size() && field.size() < most && !has(candidates[n].choice)) field.push_back(candidates[n]);
  if (field.size() > most) field.resize(most);
  return {std::move(field), variants};
}

namespace {

class Race {
 public:
  Race(const MakeReady& make_ready, Seconds budget, const EliminationOptions& options)
      : make_ready_(make_ready), budget_(budget), options_(options) {}

  bool is_over() const { return result_.ran > budget_; }
  bool has(const Choice& choice) const {
    return std::ranges::find(result_.finalists, choice, &Finalist::choice) != result_.finalists.end();
  }
  const Finalist& best() const { return result_.best(); }

  /// Adds the candidates and lets them run against the winner of the heats before. Returns whether another one won.
  bool run_heat(const std::vector<Candidate>& candidates) {
    std::vector<std::size_t> entered;
    if (heats_ > 0) entered.push_back(result_.winner);
    for (const Candidate& candidate : candidates) {
      if (has(candidate.choice)) continue;
      entered.push_back(result_.finalists.size());
      result_.finalists.push_back({.choice = candidate.choice, .predicted = candidate.predicted});
      candidates_.push_back(candidate);
    }
    std::vector<Prepared> ready;
    std::vector<std::size_t> numbers;  // indices of the finalists in `ready`
    for (const std::size_t number : entered) {
      try {
        ready.push_back(make_ready_(candidates_[number]));
        run(ready.back());  // warm-up
        numbers.push_back(number);
      } catch (const Cancelled&) {
        throw;
      } catch (const Error& why) {
        if (heats_ > 0 && number == result_.winner) return end_without_heat(entered);
        if (ready.size() > numbers.size()) ready.pop_back();
        result_.finalists[number].not_run = why.what();
      }
    }
    if (ready.empty())
      throw Error(fmt::format("no candidate of the plan can be prepared: {}", result_.finalists.front().not_run));
    Elimination elimination(ready.size(), options_);
    while (!elimination.decided()) {
      for (const std::size_t i : elimination.round()) elimination.observe(i, run(ready[i]));
      elimination.end_round();
      if (is_over() && elimination.rounds() >= 2) break;
    }
    const std::size_t before = std::exchange(result_.winner, numbers[elimination.winner()]);
    // Finalists of earlier heats lost to the former winner, which has now lost to the new one.
    if (result_.winner != before)
      for (Finalist& finalist : result_.finalists) finalist.dropped = finalist.not_run.empty();
    for (std::size_t i = 0; i < ready.size(); ++i) {
      result_.finalists[numbers[i]].seconds = elimination.seconds(i);
      result_.finalists[numbers[i]].dropped = !elimination.is_left(i);
    }
    result_.rounds += elimination.rounds();
    ++heats_;
    return result_.winner != before;
  }

  RaceResult result() && {
    result_.took = std::chrono::steady_clock::now() - began_;
    return std::move(result_);
  }

 private:
  // Ends a heat in which the winner of the heat before cannot be prepared. It stays the winner.
  bool end_without_heat(const std::vector<std::size_t>& entered) {
    for (const std::size_t number : entered)
      if (number != result_.winner)
        result_.finalists[number].not_run = "the winner of the heat before could not be prepared again";
    return false;
  }
  // A repeated job has its own data in the caches, so a short run is timed after another run of the same candidate.
  Seconds run(Prepared& prepared) {
    const Seconds first = once(prepared);
    return first < long_run ? once(prepared) : first;
  }
  Seconds once(Prepared& prepared) {
    const Seconds makespan = prepared.run().timeline.makespan;
    result_.ran += makespan;
    return makespan;
  }

  const MakeReady& make_ready_;
  Seconds budget_;
  const EliminationOptions& options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  RaceResult result_;
  std::vector<Candidate> candidates_;  // the candidate of each finalist
  unsigned heats_ = 0;
};

}  // namespace

RaceResult race(const RaceField& field, const MakeReady& make_ready, Seconds budget,
                const EliminationOptions& options) {
  Race race(make_ready, budget, options);
  race.run_heat(field.first_heat);
  for (unsigned heat = 1; heat < most_heats && field.variants && !race.is_over(); ++heat) {
    std::vector<Candidate> variants = field.variants(race.best().choice);
    std::erase_if(variants, [&](const Candidate& c) { return race.has(c.choice); });
    if (variants.empty() || !race.run_heat(variants)) break;
  }
  return std::move(race).result();
}

std::string RaceResult::to_string() const {
  const Finalist& first = finalists.front();
  if (kept)
    return fmt::format("{} won an earlier {}race of {}{}", shiplap::to_string(best().choice),
                       simulated ? "simulated " : "", finalists.size(), note.empty() ? "" : ", " + note);
  std::string text = fmt::format("{} won a {}race of {} over {} rounds", shiplap::to_string(best().choice),
                                 simulated ? "simulated " : "", finalists.size(), rounds);
  if (!best().seconds.empty()) text += fmt::format(" with {}", shiplap::to_string(median_of(best())));
  if (winner != 0 && !first.seconds.empty())
    text += fmt::format("; the plan's first choice took {}", shiplap::to_string(median_of(first)));
  return note.empty() ? text : text + "; " + note;
}

namespace {

/// Samples in seconds, which files have in milliseconds.
struct SamplesInSeconds {
  static Json write(const std::vector<double>& seconds) {
    std::vector<double> samples;
    for (const double s : seconds) samples.push_back(s * 1e3);
    return quantities_json(samples, "ms");
  }
  static std::vector<double> read(const JsonReader& json) {
    std::vector<double> seconds;
    for (const Seconds sample : all_seconds_from_json(json)) seconds.push_back(sample.count());
    return seconds;
  }
  static Json schema() { return detail::quantities_schema("ms"); }
};

void require_winner(const JsonReader& json, const RaceResult& result) {
  if (result.winner >= result.finalists.size()) json.at("winner").fail("the index of one of the finalists");
}

}  // namespace

template <class V, Like<Finalist> R>
void describe(V& v, R& finalist) {
  v.field("choice", finalist.choice, "the choice that raced");
  v.field("predicted", finalist.predicted, "the plan's prediction");
  v.field("samples", finalist.seconds, "makespan of each round of its last heat", SamplesInSeconds{});
  v.field("dropped", finalist.dropped, "whether it was significantly slower than the winner of a heat");
  v.or_null("not_run", finalist.not_run, "why it could not be prepared");
}
template <class V, Like<RaceResult> R>
void describe(V& v, R& result) {
  v.field("winner", result.winner, "index of the winner among the finalists");
  v.field("rounds", result.rounds, "number of rounds");
  v.field("simulated", result.simulated, "whether the device is virtual, so that the times were not observed");
  v.field("ran", result.ran, "sum of the makespans of all runs");
  v.field("took", result.took, "host time including preparation");
  v.field("finalists", result.finalists, "the plan's first choice in front");
}

Json to_json(const RaceResult& result) { return write_record(result); }
void from_json(const JsonReader& json, RaceResult& result) {
  read_record(json, result);
  require_winner(json, result);
}
Json json_schema(const RaceResult&) { return schema_of<RaceResult>(); }

template <class V, Like<RaceView> R>
void describe(V& v, R& view) {
  v.header(formats::race);
  v.field("workload", view.workload, "the job with its parameters");
  v.field("device", view.device, "id of the device");
  describe(v, view.race);
}

Json to_json(const RaceView& view) { return write_record(view); }
void from_json(const JsonReader& json, RaceView& view) {
  read_record(json, view);
  require_winner(json, view.race);
}
Json json_schema(const RaceView&) {
  return document_schema<RaceView>("shiplap race",
                                   "A race of the best candidates of a plan, as `shiplap tune --json` prints it.");
}

}  // namespace shiplap
