#include "shiplap/plan/memory_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/sim/sim_parameters.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

using Call = HostCall::Kind;

bool is_pageable_chunk(const Array& array) { return array.memory == MemoryKind::pageable && !stays(array.role); }

/// Sum over the pageable arrays that are cut.
template <class Time>
Seconds of_arrays(const Job& job, const Time& time) {
  Seconds sum{0};
  for (const Array& array : job.arrays)
    if (is_pageable_chunk(array) && size_on_host(array).count > 0) sum += time(size_on_host(array));
  return sum;
}

std::optional<std::uint64_t> pays_from(Seconds once, Seconds a_run, Seconds a_run_as_it_is) {
  if (a_run >= a_run_as_it_is) return std::nullopt;
  // Times that differ by rounding alone give more runs than anybody makes, or than 64 bits hold.
  constexpr double most_runs = 1e15;
  const double runs = std::floor(once / (a_run_as_it_is - a_run));
  if (!(runs < most_runs)) return std::nullopt;
  return static_cast<std::uint64_t>(runs) + 1;
}

constexpr std::array preparation_names{std::pair{Preparation::none, "as it is"sv},
                                       std::pair{Preparation::registered, "registered"sv},
                                       std::pair{Preparation::pinned, "pinned"sv}};
constexpr std::array preparations{
    std::pair{Preparation::none, "nothing"sv},
    std::pair{Preparation::registered, "cudaHostRegister, and cudaHostUnregister after the last run"sv},
    std::pair{Preparation::pinned, "cudaHostAlloc instead of malloc, and cudaFreeHost after the last run"sv}};

}  // namespace

EnumNames<Preparation> names_of(Preparation) { return preparation_names; }
std::string_view what_is_done(Preparation preparation) { return name_in(preparations, preparation); }

const MemoryWay* MemoryChoice::find(Preparation preparation) const {
  const auto found = std::ranges::find(ways, preparation, &MemoryWay::preparation);
  return found == ways.end() ? nullptr : &*found;
}

bool allows_pinned(const SearchSpace& space) {
  const auto is_for_pinned = [](const std::string& name) { return find_strategy(name).memory == ArrayMemory::pinned; };
  return space.threads.empty() && (space.strategies.empty() || std::ranges::any_of(space.strategies, is_for_pinned));
}

bool has_pageable_chunks(const Job& job) { return std::ranges::any_of(job.arrays, is_pageable_chunk); }

Job with_pinned_chunks(Job job) {
  for (Array& array : job.arrays)
    if (!stays(array.role) && !is_on_gpu(array)) array.memory = MemoryKind::pinned;
  share_memory_of_prefixes(job);
  return job;
}

MemoryChoice choose_memory(const Job& job, const Profile& profile, const Limits& limits, const SearchSpace& space,
                           const Ranking& as_it_is, std::uint64_t runs, const std::string& why_not_registered) {
  if (runs == 0) throw UsageError("`runs` 0: the number of runs must be at least 1");
  if (!has_pageable_chunks(job)) throw UsageError("`runs`: no array that is cut into chunks is in pageable memory");
  MemoryChoice choice{.runs = runs, .ways = {}, .unknown = {}};
  const auto add = [&](MemoryWay way) {
    way.total_time = way.setup_time + static_cast<double>(runs) * way.best.predicted.value;
    choice.ways.push_back(std::move(way));
  };
  add({.best = as_it_is.best()});
  for (const Candidate& candidate : as_it_is.candidates)
    if (candidate.choice.strategy == "pageable" && !choice.plain_copies_time)
      choice.plain_copies_time = candidate.predicted.value;

  const Seconds a_run_as_it_is = as_it_is.best().predicted.value;
  std::string why_not;
  try {
    const SearchSpace open{.graph = space.graph,
                           .batched = space.batched,
                           .fewer_calls = space.fewer_calls,
                           .closed_forms = space.closed_forms,
                           .gpus = space.gpus,
                           .relays = space.relays,
                           .max_slowdown = space.max_slowdown};
    choice.pinned = rank(with_pinned_chunks(job), profile, limits, allows_pinned(space) ? space : open);
  } catch (const Unsupported& reason) {
    why_not = reason.what();
  }
  const sim::SimParameters machine(profile);
  const auto call = [&](Call kind, MemoryKind memory, Bytes size) {
    return Seconds{machine.host_call(kind, memory, size)};
  };
  const auto offer = [&](Preparation preparation, const std::string& refusal, const auto& once) {
    try {
      if (!refusal.empty()) throw Unsupported(refusal);
      if (!choice.pinned) throw Unsupported(why_not);
      const Candidate& fastest = choice.pinned->best();
      const Seconds time = of_arrays(job, once);
      add({.preparation = preparation,
           .setup_time = time,
           .best = fastest,
           .pays_from = pays_from(time, fastest.predicted.value, a_run_as_it_is)});
    } catch (const Unsupported& reason) {
      choice.unknown.push_back({preparation, reason.what()});
    }
  };
  offer(Preparation::registered, why_not_registered, [&](Bytes size) {
    return call(Call::pin, MemoryKind::pageable, size) + call(Call::unpin, MemoryKind::pageable, size);
  });
  offer(Preparation::pinned, {}, [&](Bytes size) {
    return call(Call::allocate, MemoryKind::pinned, size) + call(Call::release, MemoryKind::pinned, size);
  });
  std::ranges::stable_sort(choice.ways, {}, &MemoryWay::total_time);
  return choice;
}

template <class V, Like<MemoryWay> R>
void describe(V& v, R& way) {
  v.field("name", way.preparation, "how the arrays are prepared");
  v.derived("what", "what has to be done once", [&] { return std::string(what_is_done(way.preparation)); });
  v.field("setup_time", way.setup_time, "time before the first and after the last run");
  v.field("a_run", way.best, "the best candidate for memory of that kind");
  v.field("total_time", way.total_time, "the time before, of all runs, and after");
  v.field("pays_from_runs", way.pays_from, "number of runs from which it is faster than arrays left as they are");
}
template <class V, Like<UnknownWay> R>
void describe(V& v, R& way) {
  v.field("name", way.preparation, "how the arrays would be prepared");
  v.field("reason", way.reason, "why its times are unknown");
}
template <class V, Like<MemoryChoice> R>
void describe(V& v, R& choice) {
  v.field("runs", choice.runs, "number of runs over the same arrays");
  v.field("ways", choice.ways, "by the time of all runs");
  v.field("unknown", choice.unknown, "the other ways");
  v.added("plain_copies_time", choice.plain_copies_time,
          "time of a run by plain copies of the arrays as they are; null: not predicted");
}

Json to_json(const MemoryChoice& choice) { return write_record(choice); }
void from_json(const JsonReader& json, MemoryChoice& choice) { read_record(json, choice); }
Json json_schema(const MemoryChoice&) { return schema_of<MemoryChoice>(); }

}  // namespace shiplap
