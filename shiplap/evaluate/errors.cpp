#include "shiplap/evaluate/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

constexpr const char* simulation_model = "simulation";

double observed_ms(const EvaluatedPoint& point) { return median(point.samples_ms); }
double error_of(Seconds predicted, double observed) { return in_milliseconds(predicted) / observed - 1; }
bool is_steady(const EvaluatedPoint& point) { return relative_spread(point.samples_ms) <= steady_spread; }
// Only verified points count, because a wrong result may take less time than a right one.
bool counts(const EvaluatedPoint& point) { return point.verified && !point.samples_ms.empty(); }

std::optional<Seconds> time_by(const EvaluatedPoint& point, const std::string& model) {
  const auto found = std::ranges::find(point.models, model, &ModelTime::model);
  if (found == point.models.end()) return std::nullopt;
  return found->time;
}

std::vector<std::string> models_of(std::span<const EvaluatedWorkload> workloads) {
  std::vector<std::string> names;
  for (const EvaluatedWorkload& workload : workloads)
    for (const EvaluatedPoint& point : workload.points)
      for (const ModelTime& m : point.models)
        if (counts(point) && std::ranges::find(names, m.model) == names.end()) names.push_back(m.model);
  return names;
}

// Collects the errors of one model, or of one model on a group of points.
class Collector {
 public:
  void add(const EvaluatedWorkload& workload, const EvaluatedPoint& point, Seconds predicted) {
    const double error = error_of(predicted, observed_ms(point));
    const bool steady = is_steady(point);
    all_.push_back(error);
    (steady ? steady_ : unsteady_).push_back(error);
    auto& worst = steady ? worst_steady_ : worst_unsteady_;
    if (!worst || std::abs(error) > std::abs(worst->error))
      worst = WorstPoint{label(workload), point.choice, error, point.busiest, point.busy};
  }
  void add_interval(const EvaluatedPoint& point) {
    if (!is_steady(point)) return;
    const Seconds seen = milliseconds(observed_ms(point));
    covered_.push_back(point.predicted.low <= seen && seen <= point.predicted.high ? 1 : 0);
    widths_.push_back((point.predicted.high - point.predicted.low) / point.predicted.value);
  }
  ModelErrors result(std::string name) const {
    ModelErrors errors{.name = std::move(name),
                       .all = summary(all_),
                       .steady = summary(steady_),
                       .unsteady = summary(unsteady_),
                       .coverage = std::nullopt,
                       .worst = worst_steady_ ? worst_steady_ : worst_unsteady_};
    if (!covered_.empty()) errors.coverage = Coverage{mean(covered_), median(widths_)};
    return errors;
  }

 private:
  std::vector<double> all_, steady_, unsteady_, covered_, widths_;
  std::optional<WorstPoint> worst_steady_, worst_unsteady_;
};

std::string group_name(const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  if (!strategy.chunked || strategy.zero_copy || strategy.memory != ArrayMemory::pinned) return choice.strategy;
  return fmt::format("{}, {}", choice.strategy, to_string(choice.layout, choice.streams));
}

// Predicted and observed time of one of the compared choices.
struct Compared {
  std::string name;
  double predicted = 0;
  double observed = 0;
};

class RegretCases {
 public:
  /// Adds the case of choosing the fastest predicted one of `choices`, which must not be empty.
  void add(const std::string& where, std::span<const Compared> choices, double best_observed) {
    const auto chosen = std::ranges::min_element(choices, {}, &Compared::predicted);
    const auto last = std::ranges::max_element(choices, {}, &Compared::predicted);
    if (chosen->predicted == last->predicted) return;  // the model does not distinguish the choices
    const auto best = std::ranges::min_element(choices, {}, &Compared::observed);
    const double regret = chosen->observed / best_observed - 1;
    if (regrets_.empty() || regret > worst_) {
      worst_ = regret;
      worst_case_ = chosen == best ? fmt::format("{}: {}", where, chosen->name)
                                   : fmt::format("{}: {} instead of {}", where, chosen->name, best->name);
    }
    regrets_.push_back(regret);
  }
  Regret result() const {
    if (regrets_.empty()) return {};
    return {.cases = regrets_.size(), .median = median(regrets_), .worst = worst_, .worst_case = worst_case_};
  }

 private:
  std::vector<double> regrets_;
  double worst_ = 0;
  std::string worst_case_;
};

void add_strategy_case(const EvaluatedWorkload& workload, const std::string& model, RegretCases& cases) {
  std::map<std::string, Compared> fastest;  // fastest times by strategy
  double best_observed = 0;
  for (const EvaluatedPoint& point : workload.points) {
    if (!counts(point) || point.planned) continue;
    const double observed = observed_ms(point);
    if (best_observed == 0 || observed < best_observed) best_observed = observed;
    const auto predicted = time_by(point, model);
    if (!predicted) continue;
    const Compared now{point.choice.strategy, in_milliseconds(*predicted), observed};
    const auto [entry, first] = fastest.try_emplace(point.choice.strategy, now);
    entry->second.predicted = std::min(entry->second.predicted, now.predicted);
    entry->second.observed = std::min(entry->second.observed, now.observed);
  }
  std::vector<Compared> choices;
  for (const auto& [name, compared] : fastest) choices.push_back(compared);
  if (choices.size() > 1) cases.add(label(workload), choices, best_observed);
}

void add_chunk_cases(const EvaluatedWorkload& workload, const std::string& model, RegretCases& cases) {
  std::map<std::string, std::vector<Compared>> groups;
  for (const EvaluatedPoint& point : workload.points) {
    if (!counts(point) || point.planned || !find_strategy(point.choice.strategy).chunked) continue;
    const auto predicted = time_by(point, model);
    if (!predicted) continue;
    Choice shape = point.choice;
    shape.chunks = 1;
    groups[to_string(shape)].push_back({fmt::format("{} of {}", point.choice.chunks, group_name(point.choice)),
                                        in_milliseconds(*predicted), observed_ms(point)});
  }
  for (const auto& [shape, choices] : groups)
    if (choices.size() > 2)
      cases.add(label(workload), choices, std::ranges::min_element(choices, {}, &Compared::observed)->observed);
}

}  // namespace

ErrorSummary summary(std::span<const double> errors) {
  ErrorSummary result{.points = errors.size()};
  if (errors.empty()) return result;
  std::vector<double> absolute;
  for (const double e : errors) {
    absolute.push_back(std::abs(e));
    result.over = std::max(result.over, e);
    result.under = std::min(result.under, e);
  }
  result.median = median(absolute);
  result.p95 = quantile(absolute, 0.95);
  result.worst = std::max(result.over, -result.under);
  result.median_signed = median(errors);
  return result;
}

double ModelErrors::unsteady_fraction() const {
  return all.points == 0 ? 0 : static_cast<double>(unsteady.points) / static_cast<double>(all.points);
}

std::vector<ModelErrors> errors_by_model(std::span<const EvaluatedWorkload> workloads) {
  std::vector<ModelErrors> result;
  for (const std::string& model : models_of(workloads)) {
    Collector collector;
    for (const EvaluatedWorkload& workload : workloads)
      for (const EvaluatedPoint& point : workload.points) {
        const auto predicted = time_by(point, model);
        if (!counts(point) || !predicted) continue;
        collector.add(workload, point, *predicted);
        if (model == simulation_model) collector.add_interval(point);
      }
    result.push_back(collector.result(model));
  }
  return result;
}

std::vector<ModelErrors> errors_by_strategy(std::span<const EvaluatedWorkload> workloads) {
  std::vector<std::pair<std::string, Collector>> groups;
  for (const EvaluatedWorkload& workload : workloads)
    for (const EvaluatedPoint& point : workload.points) {
      if (!counts(point)) continue;
      const std::string name = group_name(point.choice);
      auto group = std::ranges::find(groups, name, &std::pair<std::string, Collector>::first);
      if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
      group->second.add(workload, point, point.predicted.value);
      group->second.add_interval(point);
    }
  std::vector<ModelErrors> result;
  for (const auto& [name, collector] : groups) result.push_back(collector.result(name));
  return result;
}

std::vector<ModelRegret> regrets(std::span<const EvaluatedWorkload> workloads) {
  std::vector<ModelRegret> result;
  for (const std::string& model : models_of(workloads)) {
    RegretCases strategy;
    RegretCases chunks;
    for (const EvaluatedWorkload& workload : workloads) {
      add_strategy_case(workload, model, strategy);
      add_chunk_cases(workload, model, chunks);
    }
    result.push_back({model, strategy.result(), chunks.result()});
  }
  return result;
}

std::vector<TransferErrors> transfer_errors(std::span<const EvaluatedTransfer> transfers) {
  std::vector<TransferErrors> result;
  for (const bool to_device : {true, false}) {
    std::vector<double> by_simulation;
    std::vector<double> by_loggp;
    for (const EvaluatedTransfer& t : transfers) {
      if (t.to_device != to_device || t.wrong_bytes > 0 || t.samples_ms.empty()) continue;
      by_simulation.push_back(error_of(t.simulation, median(t.samples_ms)));
      by_loggp.push_back(error_of(t.loggp, median(t.samples_ms)));
    }
    if (!by_simulation.empty()) result.push_back({to_device, summary(by_simulation), summary(by_loggp)});
  }
  return result;
}

PublishedTransferErrors published_transfer_errors(bool to_device) {
  return to_device ? PublishedTransferErrors{.over = 0.0118, .under = 0}
                   : PublishedTransferErrors{.over = 0.0065, .under = -0.0247};
}

}  // namespace shiplap
