#include "shiplap/evaluate/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/predict_again.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/requirements.hpp"

namespace shiplap {
namespace {

double milliseconds_of(Prepared& prepared, bool hold = false) {
  return in_milliseconds(prepared.run({.hold = hold}).timeline.makespan);
}

/// A choice with its prediction, and the memory that it needs beside the job's arrays.
struct Entry {
  EvaluatedPoint point;
  Bytes on_gpu;
  Bytes on_host;
};

struct Need {
  Bytes gpu;
  Bytes host;
};
Need need_of(const Schedule& schedule, const Job& job) {
  Bytes arrays;
  for (const Array& array : job.arrays) arrays += size_on_host(array);
  const Bytes host = memory_at(schedule, Place::host());
  return {memory_at(schedule, Place::gpu()), host > arrays ? host - arrays : Bytes{0}};
}

class WorkloadRun {
 public:
  WorkloadRun(const Node& node, const EvaluateOptions& options, WorkloadData& data)
      : device_(device_of(node, "evaluate")),
        profile_(profile_of(node)),
        whole_(node.limits),
        for_one_(limits_of_one_choice(node.limits)),
        for_ideal_overlap_(node.limits.fraction(1, 10)),
        options_(options),
        data_(data),
        sm_count_(device_.info().sm_count) {}

  void run(EvaluatedWorkload& result) {
    const Job& job = data_.job();
    if (job.cost.points.empty()) {
      progress("timing the kernel on resident data");
      data_.set_cost(probe_kernel(device_, job, for_one_));
    }
    result.cost = job.cost;
    result.kernel = job.cost.launch_time(job.items);
    // Predictions are made first, so that no observation can affect them.
    progress("predicting");
    result.bound = bound(job, profile_).time;
    result.ideal_overlap = ideal_overlap(job, profile_).time;
    std::vector<Entry> entries;
    for (const Choice& choice : grid_of(job, options_.grid, sm_count_)) predict_choice(choice, false, entries, result);
    Ranking planned;
    try {
      // Strategies that give advice would change the times of the others, so they take part only where they are named.
      std::vector<std::string> compared = options_.grid.strategies;
      if (compared.empty())
        for (const Strategy& strategy : strategies())
          if (!gives_advice(strategy)) compared.emplace_back(strategy.name);
      planned = rank(job, profile_, for_one_, {.strategies = std::move(compared), .closed_forms = false});
    } catch (const Unsupported& none) {
      result.not_run = none.what();
      return;
    }
    // Adds the choices that the plan would make within each strategy.
    std::set<std::string> seen;
    std::vector<Candidate> preferred{planned.best()};
    std::ranges::copy(planned.candidates, std::back_inserter(preferred));
    for (const Candidate& candidate : preferred)
      if (options_.grid.choices.empty() && seen.insert(candidate.choice.strategy).second)
        predict_choice(candidate.choice, true, entries, result);

    automatic_choice_ = planned.best().choice;
    automatic_ = prepare(device_, data_.job(), automatic_choice_, for_one_);
    ideal_overlap_.emplace(device_, job, for_ideal_overlap_);
    milliseconds_of(*automatic_);
    ideal_overlap_->run();
    total_ = entries.size();
    for (std::size_t first = 0; first < entries.size();) {
      const std::size_t last = end_of_group(entries, first);
      run_group(std::span(entries).subspan(first, last - first), result);
      first = last;
    }
    run_duel(result);
  }

 private:
  void progress(std::string_view what, std::size_t done = 0, std::size_t total = 0) const {
    if (options_.progress) options_.progress(fmt::format("{}: {}", data_.job().name, what), done, total);
  }

  void predict_choice(const Choice& choice, bool planned, std::vector<Entry>& entries, EvaluatedWorkload& result) {
    const Job& job = data_.job();
    const auto same = [&](const Entry& entry) { return entry.point.choice == choice; };
    if (std::ranges::any_of(entries, same)) return;
    try {
      Entry entry;
      entry.point = predicted_point(job, profile_, choice, for_one_);
      entry.point.planned = planned;
      const Need need = need_of(find_strategy(choice.strategy).schedule(job, choice, for_one_), job);
      entry.on_gpu = need.gpu;
      entry.on_host = need.host;
      entries.push_back(std::move(entry));
    } catch (const Error& why) {
      result.skipped.push_back({choice, why.what()});
    }
  }

  // The group has as many choices as fit into the memory beside the automatic choice and ideal overlap, and at least
  // one.
  std::size_t end_of_group(const std::vector<Entry>& entries, std::size_t first) const {
    Bytes taken = need_of(automatic_->schedule(), data_.job()).gpu;
    taken += ideal_overlap_->device_memory();
    const Bytes left = taken < whole_.device_memory ? whole_.device_memory - taken : Bytes{0};
    const Bytes most = std::min(options_.ready, left);
    Bytes gpu;
    Bytes host;
    std::size_t last = first;
    while (last < entries.size()) {
      gpu += entries[last].on_gpu;
      host += entries[last].on_host;
      if (last > first && (gpu > most || host > options_.ready)) break;
      ++last;
    }
    return last;
  }

  void run_group(std::span<Entry> entries, EvaluatedWorkload& result) {
    struct Ready {
      EvaluatedPoint* point;
      Prepared prepared;
    };
    std::vector<Ready> ready;
    for (Entry& entry : entries) {
      progress(to_string(entry.point.choice), ++done_, total_);
      try {
        Prepared prepared = prepare(device_, data_.job(), entry.point.choice, for_one_);
        data_.refill();
        milliseconds_of(prepared);
        entry.point.difference = data_.verify();
        entry.point.verified = entry.point.difference.empty();
        ready.push_back({&entry.point, std::move(prepared)});
      } catch (const Error& why) {
        result.skipped.push_back({entry.point.choice, why.what()});
      }
    }
    // One more untimed run of each, because the first run after the preparation of others takes longer.
    for (Ready& r : ready) milliseconds_of(r.prepared);
    milliseconds_of(*automatic_);
    ideal_overlap_->run();
    EvaluatedGroup group{.choices = ready.size(), .automatic_ms = {}, .ideal_overlap_ms = {}};
    for (unsigned round = 0; round < options_.rounds; ++round) {
      for (Ready& r : ready) r.point->samples_ms.push_back(milliseconds_of(r.prepared));
      group.automatic_ms.push_back(milliseconds_of(*automatic_));
      group.ideal_overlap_ms.push_back(in_milliseconds(ideal_overlap_->run()));
    }
    for (const Ready& r : ready) {
      r.point->group = result.groups.size();
      result.points.push_back(*r.point);
    }
    result.groups.push_back(std::move(group));
  }

  void run_duel(EvaluatedWorkload& result) {
    if (options_.duel_rounds == 0) return;
    const EvaluatedPoint* winner = nullptr;
    for (const EvaluatedPoint& point : result.points) {
      if (!point.verified || point.choice == automatic_choice_) continue;
      if (winner == nullptr || median(point.samples_ms) < median(winner->samples_ms)) winner = &point;
    }
    if (winner == nullptr) return;
    progress("the automatic choice against the winner");
    Prepared again = prepare(device_, data_.job(), winner->choice, for_one_);
    milliseconds_of(again);
    Duel duel{.automatic = automatic_choice_,
              .winner = winner->choice,
              .automatic_ms = {},
              .winner_ms = {},
              .ideal_overlap_ms = {}};
    for (unsigned round = 0; round < options_.duel_rounds; ++round) {
      duel.automatic_ms.push_back(milliseconds_of(*automatic_));
      duel.winner_ms.push_back(milliseconds_of(again));
      duel.ideal_overlap_ms.push_back(in_milliseconds(ideal_overlap_->run()));
    }
    result.duel = std::move(duel);
  }

  MeasurableDevice& device_;
  const Profile& profile_;
  Limits whole_;
  Limits for_one_;
  Limits for_ideal_overlap_;
  const EvaluateOptions& options_;
  WorkloadData& data_;
  unsigned sm_count_;
  Choice automatic_choice_;
  std::optional<Prepared> automatic_;
  std::optional<IdealOverlapRuns> ideal_overlap_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

Evaluation begin_evaluation(const Node& node) {
  const DeviceInfo info = device_of(node, "evaluate").info();
  return {.device = info.id,
          .device_name = info.name,
          .simulated = info.is_virtual,
          .conditions = info.conditions,
          .profile = profile_of(node).name,
          .profile_hash = parameter_hash(profile_of(node)),
          .workloads = {},
          .transfers = {}};
}

EvaluatedWorkload evaluate(const Node& node, Workload workload, const EvaluateOptions& options) {
  EvaluatedWorkload result;
  result.name = workload.job.name;
  result.memory = memory_of(workload.job);
  std::optional<WorkloadData> data;
  MeasurableDevice& device = device_of(node, result.name);
  try {
    if (options.progress) options.progress(fmt::format("{}: preparing the data", result.name), 0, 0);
    data.emplace(device, std::move(workload));
  } catch (const Error& why) {
    // There is too little memory, or the device lacks this kind.
    result.not_run = why.what();
    return result;
  }
  try {
    WorkloadRun(node, options, *data).run(result);
  } catch (const UsageError&) {
    throw;
  } catch (const Unsupported& why) {
    result.not_run = why.what();
  } catch (const Error& why) {
    if (options.failures_end) throw;
    result.not_run = why.what();  // earlier samples are kept
  }
  return result;
}

}  // namespace shiplap
