#include "shiplap/evaluate/predict_again.hpp"

#include <fmt/format.h>

#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/models.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

// The simulated time from the first prediction of the point.
ModelTime as_recorded(const EvaluatedPoint& point) {
  for (const ModelTime& m : point.models)
    if (m.model == simulation_as_recorded) return m;
  return {std::string(simulation_as_recorded), point.predicted.value};
}

Job job_of(const EvaluatedWorkload& recorded) {
  // The name comes from a file, so that it is never taken for the path of another one.
  if (recorded.name.ends_with(".json"))
    throw Error(
        fmt::format("workload {} is a file and not built in, so that the evaluation cannot be predicted again; "
                    "leave that workload out of it",
                    recorded.name));
  Workload workload = find_workload(recorded.name, {});
  put_into(workload, recorded.memory);
  workload.job.cost = recorded.cost;
  return std::move(workload.job);
}

EvaluatedWorkload predict_workload_again(EvaluatedWorkload recorded, const Profile& profile, const Limits& limits) {
  if (!recorded.not_run.empty()) return recorded;
  const Job job = job_of(recorded);
  recorded.kernel = job.cost.launch_time(job.items);
  recorded.bound = bound(job, profile).time;
  recorded.ideal_overlap = ideal_overlap(job, profile).time;
  std::vector<EvaluatedPoint> points;
  for (EvaluatedPoint& point : recorded.points) {
    try {
      EvaluatedPoint again = predicted_point(job, profile, point.choice, limits);
      again.models.push_back(as_recorded(point));
      point.predicted = again.predicted;
      point.models = std::move(again.models);
      point.busiest = again.busiest;
      point.busy = again.busy;
      points.push_back(std::move(point));
    } catch (const Error& why) {
      recorded.skipped.push_back({point.choice, why.what()});
    }
  }
  recorded.points = std::move(points);
  return recorded;
}

}  // namespace

Limits limits_of_one_choice(const Limits& of_device) { return of_device.fraction(2, 5); }

EvaluatedPoint predicted_point(const Job& job, const Profile& profile, const Choice& choice, const Limits& limits) {
  const Candidate candidate = predict(job, profile, choice, limits);
  const BusiestEngine busiest = busiest_engine(candidate.timeline);
  EvaluatedPoint point{.choice = choice,
                       .predicted = candidate.predicted,
                       .models = {},
                       .busiest = busiest.engine,
                       .busy = busiest.busy / candidate.predicted.value,
                       .samples_ms = {},
                       .difference = {}};
  for (const ModelPrediction& m : model_predictions(job, profile, candidate))
    if (m.time) point.models.push_back({m.model, *m.time});
  return point;
}

Evaluation predict_again(Evaluation recorded, const Profile& profile, const Limits& limits) {
  profile.link(0);
  recorded.predicted_again = true;
  recorded.profile = profile.name;
  recorded.profile_hash = parameter_hash(profile);
  const Limits for_one = limits_of_one_choice(limits);
  for (EvaluatedWorkload& workload : recorded.workloads) {
    try {
      workload = predict_workload_again(workload, profile, for_one);
    } catch (const Error& why) {
      workload = {.name = workload.name, .memory = workload.memory, .not_run = why.what()};
    }
  }
  for (EvaluatedTransfer& transfer : recorded.transfers) {
    const EvaluatedTransfer predicted =
        predicted_transfer(profile, transfer.to_device, transfer.total, transfer.copies);
    transfer.simulation = predicted.simulation;
    transfer.loggp = predicted.loggp;
  }
  return recorded;
}

}  // namespace shiplap
