// Profiles, and costs of kernels: reading them, and what is computed from their numbers.
#include <cmath>
#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/kernel_profile.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/timelines.hpp"

namespace shiplap::fuzz {
namespace {

const std::string document_of_profile = "profile";

/// A small job whose data live in this kind of memory.
Workload small_workload(MemoryKind memory) {
  Workload workload = find_workload("saxpy:n=64Ki");
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(microseconds(20))}},
                       .origin = "stated"};
  put_into(workload, memory);
  return workload;
}

MemoryKind memory_for(const Strategy& strategy) {
  return strategy.memory == ArrayMemory::pageable  ? MemoryKind::pageable
         : strategy.memory == ArrayMemory::managed ? MemoryKind::managed
                                                   : MemoryKind::pinned;
}

void predict_every_strategy(const Profile& profile, const Limits& limits) {
  for (const Strategy& strategy : strategies()) {
    const Workload workload = small_workload(memory_for(strategy));
    const Choice choice{.strategy = std::string(strategy.name), .chunks = 3, .threads = strategy.threaded ? 2u : 0u};
    read_or_refused([&] {
      const Schedule schedule = strategy.schedule(workload.job, choice, limits);
      require_sound(schedule, simulate(schedule, profile).timeline);
      return true;
    });
  }
}

/// Plans as the command does, with fewer choices.
void rank_small_job(const Profile& profile, const Limits& limits) {
  read_or_refused([&] {
    const Ranking ranking = rank(small_workload(MemoryKind::pinned).job, profile, limits, {.chunks = {1, 3}});
    for (const Candidate& candidate : ranking.candidates) {
      const Interval<Seconds>& time = candidate.predicted;
      require(std::isfinite(time.value.count()) && std::isfinite(time.high.count()), "a predicted time is finite");
      require(time.low <= time.value && time.value <= time.high, "an interval holds its value");
    }
    require(to_json(ranking).dump().find("null,\"unit\"") == std::string::npos, "a time that is written is a number");
    return true;
  });
}

void read_profile(std::string_view bytes) {
  const auto profile =
      read_or_refused([&] { return profile_from_json(parse_json(bytes, document_of_profile), document_of_profile); });
  if (!profile) return;
  const Json written = to_json(*profile);
  const Profile again = profile_from_json(written, document_of_profile);
  require(to_json(again) == written, "a profile that was read is written and read as the same");
  require(parameter_hash(again) == parameter_hash(*profile), "a profile keeps its hash");
  require(!profile_report(*profile, {}).empty(), "a profile can be shown");
  read_or_refused([&] { return what_if(*profile, "link=pcie4"); });
  if (const auto limits = read_or_refused([&] { return limits_of(*profile); })) {
    predict_every_strategy(*profile, *limits);
    rank_small_job(*profile, *limits);
  }
}

void read_kernel_profile(std::string_view bytes) {
  const auto cost = read_or_refused([&] {
    const Json json = parse_json(bytes, document_of_profile);
    return Form<KernelCost>::read(JsonReader(json, document_of_profile));
  });
  if (!cost) return;
  Workload workload = small_workload(MemoryKind::pinned);
  workload.job.cost = *cost;
  static const Profile profile = find_profile("h200");
  read_or_refused([&] {
    require_valid(workload.job);
    for (const char* strategy : {"streams", "hybrid", "implicit"}) {
      const Schedule schedule = find_strategy(strategy).schedule(
          workload.job, {.strategy = strategy, .chunks = 3, .max_grid = 16}, limits_of(profile));
      require_sound(schedule, simulate(schedule, profile).timeline);
    }
    return true;
  });
}

}  // namespace

const Target profile_target{"profile", read_profile};
const Target kernel_profile_target{"kernel_profile", read_kernel_profile};

}  // namespace shiplap::fuzz
