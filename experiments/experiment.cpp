#include "experiments/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "experiments/papers.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/evaluate.hpp"

namespace shiplap::experiments {

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> all{
      // in the order of publication
      harris2012, gomezluna2012, werkhoven2014, commscope2019, eth2025,
  };
  return all;
}

const Experiment& find_experiment(std::string_view name) {
  const auto found = std::ranges::find(experiments(), name, &Experiment::name);
  if (found != experiments().end()) return *found;
  std::vector<std::string_view> names;
  for (const Experiment& e : experiments()) names.push_back(e.name);
  throw UsageError(fmt::format("there is no reproduction of '{}'; there are: {}", name, fmt::join(names, ", ")));
}

EvaluatedWorkload observe(const Bench& bench, Workload workload, std::vector<Choice> choices, unsigned rounds) {
  const bool is_virtual = bench.info.is_virtual;
  const unsigned usual = is_virtual ? 1 : bench.quick ? 5 : 11;
  EvaluateOptions options{.grid = {.choices = std::move(choices)},
                          .rounds = rounds > 0 && !is_virtual ? rounds : usual,
                          .duel_rounds = 0,
                          .failures_end = true,
                          .progress = bench.progress};
  // The memory of a virtual GPU is host memory, so less may be used at once.
  if (is_virtual) options.ready = 256_MiB;
  if (is_virtual && workload.job.cost.points.empty()) workload.job.cost = derived_cost(workload.job, bench.profile);
  EvaluatedWorkload result = evaluate({.device = shared_device(bench.device),
                                       .profile = std::make_shared<const Profile>(bench.profile),
                                       .limits = bench.limits},
                                      std::move(workload), options);
  for (const EvaluatedPoint& point : result.points)
    if (!point.verified)
      throw CheckFailed(fmt::format("{}, {}: {}", result.name, to_string(point.choice), point.difference));
  return result;
}

std::optional<Seconds> time_of(const EvaluatedWorkload& observed, const Choice& choice) {
  const auto found = std::ranges::find(observed.points, choice, &EvaluatedPoint::choice);
  if (found == observed.points.end() || found->samples_ms.empty()) return std::nullopt;
  return milliseconds(median(found->samples_ms));
}

}  // namespace shiplap::experiments
