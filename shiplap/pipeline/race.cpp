#include "shiplap/pipeline/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/time_json.hpp"

namespace shiplap {
namespace {

constexpr double far_behind = 1.5;   // predicted slower than the best by this factor: no finalist
constexpr double beyond_reach = 10;  // the same for strategies without zero-copy, whose predictions are reliable
constexpr std::uint32_t most_queues = 16;
constexpr Seconds long_run = milliseconds(2);  // runs of this length do not depend on the content of the caches before

Seconds median_of(const Finalist& finalist) { return Seconds{median(finalist.seconds)}; }

/// Variants of a choice: as a graph, with other numbers of chunks, layouts, grids and threads.
std::vector<Choice> neighbours_of(const Job& job, const Profile& profile, const Choice& best) {
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
  if (strategy.memory == ArrayMemory::page_locked && best.gpus == 1) {
    Choice choice = best;
    choice.graph = !best.graph;
    choices.push_back(choice);
  }
  if (strategy.chunked)
    for (const double factor : {2.0, 0.5, 1.0, 4.0}) with_chunks(factor);
  if (strategy.chunked && !strategy.threaded && best.chunks > 1 && best.chunks <= most_queues &&
      best.layout == Layout::three) {
    Choice choice = best;
    choice.layout = Layout::per_chunk;
    choices.push_back(choice);
  }
  if (strategy.mapped && job.any_grid)
    for (const std::uint64_t blocks :
         {best.blocks == 0 ? std::uint64_t{profile.gpus.front().multiprocessors} : 0, 2 * best.blocks}) {
      Choice choice = best;
      choice.blocks = blocks;
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

/// Whether the options allow the choice.
bool is_open(const PlanOptions& options, const Choice& choice) {
  const auto among = [](const auto& chosen, const auto& value) {
    return chosen.empty() || std::ranges::find(chosen, value) != chosen.end();
  };
  return among(options.chunks, choice.chunks) && among(options.ramps, choice.ramp) &&
         among(options.layouts, choice.layout) && among(options.blocks, choice.blocks) &&
         among(options.threads, choice.threads) && (choice.graph || !options.graph) &&
         (!choice.graph || options.graph || options.graphs);
}

}  // namespace

Originals::Originals(const Job& job) {
  for (const Array& array : job.arrays)
    if ((array.role == Role::inout || array.role == Role::carried) && array.data != nullptr)
      kept_.push_back({array.data, std::vector<std::byte>(array.data, array.data + array.size.count)});
}

Originals::~Originals() {
  for (const auto& [data, bytes] : kept_) std::memcpy(data, bytes.data(), bytes.size());
}

std::vector<Candidate> finalists_of(const Job& job, const Profile& profile, const Plan& plan, const Limits& limits,
                                    const PlanOptions& options, std::size_t most) {
  std::vector<Candidate> finalists{plan.best()};
  const auto has = [&](const Choice& choice) {
    return std::ranges::find(finalists, choice, &Candidate::choice) != finalists.end();
  };
  const auto has_strategy = [&](const std::string& name) {
    return std::ranges::any_of(finalists, [&](const Candidate& c) { return c.choice.strategy == name; });
  };
  const Seconds best = plan.best().predicted.value;
  const auto near = [&](const Candidate& c) {
    return c.predicted.value <= best * far_behind || c.predicted.low <= plan.best().predicted.high;
  };
  // An error in the model of a strategy affects all its candidates, so every strategy is represented. Strategies
  // without zero-copy are predicted best and take part even if another prediction is far better.
  for (const Candidate& candidate : plan.candidates) {
    const bool copies = !find_strategy(candidate.choice.strategy).mapped;
    const bool takes_part = near(candidate) || (copies && candidate.predicted.value <= best * beyond_reach);
    if (takes_part && !has_strategy(candidate.choice.strategy)) finalists.push_back(candidate);
  }
  std::vector<Choice> further;
  // The leaders take turns, so that the variants of one do not fill the field.
  std::vector<std::vector<Choice>> near_leaders;
  for (std::size_t f = 0; f < std::min<std::size_t>(finalists.size(), 3); ++f)
    near_leaders.push_back(neighbours_of(job, profile, finalists[f].choice));
  for (std::size_t n = 0; n < most; ++n)
    for (const std::vector<Choice>& choices : near_leaders)
      if (n < choices.size()) further.push_back(choices[n]);
  for (const Choice& choice : further) {
    if (finalists.size() >= most) break;
    if (has(choice) || !is_open(options, choice)) continue;
    try {
      Candidate candidate = predict(job, profile, choice, limits);
      if (near(candidate)) finalists.push_back(std::move(candidate));
    } catch (const Error&) {
      continue;  // more chunks than there is memory for, no figures for graphs
    }
  }
  if (finalists.size() > most) finalists.resize(most);
  return finalists;
}

RaceResult race(const std::vector<Candidate>& finalists, const MakeReady& make_ready, Seconds budget,
                const EliminationOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  RaceResult result;
  std::vector<std::size_t> numbers;  // of those that are ready
  std::vector<Prepared> ready;
  const auto once = [&](std::size_t i) {
    const Seconds makespan = ready[i].run().timeline.makespan;
    result.ran += makespan;
    return makespan;
  };
  // A repeated job finds its own data in the caches, so a short run follows one of the same finalist.
  const auto run = [&](std::size_t i) {
    const Seconds first = once(i);
    return first < long_run ? once(i) : first;
  };
  for (const Candidate& candidate : finalists) {
    result.finalists.push_back({.choice = candidate.choice, .predicted = candidate.predicted});
    try {
      ready.push_back(make_ready(candidate.choice));
      run(ready.size() - 1);  // first use
      numbers.push_back(result.finalists.size() - 1);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& why) {
      if (ready.size() > numbers.size()) ready.pop_back();
      result.finalists.back().not_run = why.what();
    }
  }
  if (ready.empty())
    throw Error(fmt::format("nothing of what was planned can run: {}", result.finalists.front().not_run));
  Elimination elimination(ready.size(), options);
  while (!elimination.decided()) {
    for (const std::size_t i : elimination.round()) elimination.observe(i, run(i));
    elimination.end_round();
    if (result.ran > budget && elimination.rounds() >= 2) break;
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    result.finalists[numbers[i]].seconds = elimination.seconds(i);
    result.finalists[numbers[i]].dropped = !elimination.is_left(i);
  }
  result.winner = numbers[elimination.winner()];
  result.rounds = elimination.rounds();
  result.took = std::chrono::steady_clock::now() - began;
  return result;
}

std::string RaceResult::to_string() const {
  const Finalist& first = finalists.front();
  if (kept)
    return fmt::format("{} won an earlier race of {}{}", shiplap::to_string(best().choice), finalists.size(),
                       note.empty() ? "" : ", " + note);
  std::string text =
      fmt::format("{} won a race of {} over {} rounds", shiplap::to_string(best().choice), finalists.size(), rounds);
  if (!best().seconds.empty()) text += fmt::format(" with {}", shiplap::to_string(median_of(best())));
  if (winner != 0 && !first.seconds.empty())
    text += fmt::format("; the plan's first choice took {}", shiplap::to_string(median_of(first)));
  return note.empty() ? text : text + "; " + note;
}

Json to_json(const RaceResult& result) {
  Json json{{"winner", result.winner},
            {"rounds", result.rounds},
            {"ran_ms", in_milliseconds(result.ran)},
            {"took_ms", in_milliseconds(result.took)},
            {"finalists", Json::array()}};
  for (const Finalist& f : result.finalists) {
    Json samples = Json::array();
    for (const double s : f.seconds) samples.push_back(s * 1e3);
    json["finalists"].push_back({{"choice", to_json(f.choice)},
                                 {"predicted_ms", milliseconds_json(f.predicted)},
                                 {"samples_ms", std::move(samples)},
                                 {"dropped", f.dropped},
                                 {"not_run", f.not_run.empty() ? Json(nullptr) : Json(f.not_run)}});
  }
  return json;
}

RaceResult race_from_json(const JsonReader& in) {
  RaceResult result{.finalists = {}, .winner = in.at("winner").unsigned_integer()};
  result.rounds = static_cast<unsigned>(in.at("rounds").unsigned_integer());
  result.ran = milliseconds(in.at("ran_ms").number());
  result.took = milliseconds(in.at("took_ms").number());
  const JsonReader finalists = in.at("finalists");
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    const JsonReader f = finalists.at(i);
    Finalist finalist{.choice = choice_from_json(f.at("choice")),
                      .predicted = milliseconds_from_json(f.at("predicted_ms")),
                      .seconds = {},
                      .dropped = f.at("dropped").boolean()};
    const JsonReader samples = f.at("samples_ms");
    for (std::size_t s = 0; s < samples.size(); ++s) finalist.seconds.push_back(samples.at(s).number() / 1e3);
    if (const auto why = f.find("not_run")) finalist.not_run = why->string();
    result.finalists.push_back(std::move(finalist));
  }
  if (result.winner >= result.finalists.size()) throw Error("a race whose winner did not take part");
  return result;
}

}  // namespace shiplap
