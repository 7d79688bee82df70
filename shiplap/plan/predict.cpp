// The predicted time of one choice, its interval, and where the time above ideal overlap goes.
#include "shiplap/plan/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/closed_form.hpp"
#include "shiplap/plan/kernel_times.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/variation.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

Seconds makespan(const Schedule& schedule, const Profile& profile) {
  return simulate(schedule, profile).timeline.makespan;
}

// Errors of the simulator itself, found with random jobs on an H200 (docs/explanation/accuracy.md): an absolute time
// for every prediction, and relative errors for streams that chunks share and for zero-copy kernels that were not
// measured.
constexpr Seconds unexplained = microseconds(5);
constexpr double other_streams = 0.12;
// Errors of copies that also go over the links of other GPUs, on nodes with two H200.
constexpr double relayed_copies = 0.07;
constexpr Seconds unexplained_of_relays = microseconds(20);
constexpr double unmeasured_zero_copy = 0.3;

double simulation_error(const Job& job, const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  if (strategy.zero_copy && job.cost.zero_copy.empty()) return unmeasured_zero_copy;
  const bool one_each = choice.layout == Layout::three || choice.chunks == 1 || !strategy.chunked;
  if (!choice.relay.through.empty()) return std::max(strategy.model_error, relayed_copies);
  const bool copies_only = !strategy.zero_copy && strategy.memory == ArrayMemory::pinned;
  return copies_only && !one_each ? std::max(strategy.model_error, other_streams) : strategy.model_error;
}

/// Predicts one choice again on other profiles and for other times of the kernel, by the model that gave its time.
class Repredicted {
 public:
  /// The arguments must outlive the object. The candidate has its schedule.
  Repredicted(const Job& job, const Limits& limits, const Candidate& candidate)
      : job_(job), limits_(limits), candidate_(candidate), strategy_(find_strategy(candidate.choice.strategy)) {}

  Seconds on(const Profile& profile) const {
    return is_simulated() ? makespan(*candidate_.schedule, profile) : by_form(job_, profile);
  }
  Seconds of(const Job& job, const Profile& profile) const {
    return is_simulated() ? makespan(strategy_.schedule(job, candidate_.choice, limits_), profile)
                          : by_form(job, profile);
  }
  /// The error of the model itself, as a fraction of the time.
  double relative_error() const {
    return is_simulated() ? simulation_error(job_, candidate_.choice) : strategy_.form_error.value();
  }
  /// The error of the model itself that does not grow with the time.
  Seconds unexplained_time() const {
    return candidate_.choice.relay.through.empty() ? unexplained : unexplained_of_relays;
  }

 private:
  bool is_simulated() const { return candidate_.predicted_by == PredictedBy::simulation; }
  Seconds by_form(const Job& job, const Profile& profile) const {
    return ranking_form(job, profile, candidate_.choice).value().time;
  }

  const Job& job_;
  const Limits& limits_;
  const Candidate& candidate_;
  const Strategy& strategy_;
};

// Prediction interval by sensitivities: each independent group of parameters is moved to the ends of its intervals
// while all others stay. The changes and the error of the model itself are added in quadrature.
Interval<Seconds> interval(const Job& job, const Profile& profile, const Repredicted& again, Seconds value) {
  double up = 0;
  double down = 0;
  const auto add = [&](Seconds a, Seconds b) {
    const double high = std::max({0.0, (a - value).count(), (b - value).count()});
    const double low = std::max({0.0, (value - a).count(), (value - b).count()});
    up += high * high;
    down += low * low;
  };
  for (const ParameterGroup group : parameter_groups)
    add(again.on(at_interval_end(profile, group, End::low)), again.on(at_interval_end(profile, group, End::high)));
  add(again.of(at_interval_end(job, End::low), profile), again.of(at_interval_end(job, End::high), profile));
  const Seconds off = value * again.relative_error();
  add(value - off, value + off);
  const Seconds left = again.unexplained_time();
  add(value - std::min(left, value / 2), value + left);
  return {value, value - Seconds{std::sqrt(down)}, value + Seconds{std::sqrt(up)}};
}

// Removes one cause after the other from the profile. The time that a step saves is the time of its cause.
Distance distance(const Repredicted& again, const Profile& profile, Seconds value, Seconds ideal) {
  Distance d;
  Profile without = profile;
  Seconds last = value;
  const auto step = [&](Seconds& part, Cause cause) {
    without = without_cost(without, cause);
    const Seconds now = again.on(without);
    part = last - now;
    last = now;
  };
  step(d.host, Cause::host);
  step(d.submission, Cause::submission);
  step(d.duplex_gap, Cause::duplex_gap);
  step(d.gap, Cause::gap);
  step(d.latency, Cause::latency);
  d.fill_and_drain = last - ideal;
  d.total = value - ideal;
  return d;
}

}  // namespace

std::vector<std::string> predict_value(const Job& job, const Profile& profile, const Limits& limits, bool forms,
                                       Candidate& candidate) {
  const Strategy& strategy = find_strategy(candidate.choice.strategy);
  candidate.schedule = std::make_shared<const Schedule>(strategy.schedule(job, candidate.choice, limits));
  try {
    Prediction prediction = simulate(*candidate.schedule, profile);
    candidate.predicted = Interval<Seconds>::exact(prediction.timeline.makespan);
    candidate.timeline = std::move(prediction.timeline);
    return std::move(prediction.assumptions);
  } catch (const Unsupported& lacking) {
    const auto form = forms ? ranking_form(job, profile, candidate.choice) : std::nullopt;
    if (!form || form->time < bound(job, profile).time) throw;
    candidate.predicted = Interval<Seconds>::exact(form->time);
    candidate.predicted_by = PredictedBy::closed_form;
    candidate.why_not_simulated = lacking.what();
    if (!form->assumption.empty()) candidate.why_not_simulated += "; the form assumes that " + form->assumption;
    return {};
  }
}

Candidate complete_prediction(const Job& job, const Profile& profile, const Limits& limits, Candidate candidate,
                              const Bound& least, const IdealOverlap& ideal) {
  const Strategy& strategy = find_strategy(candidate.choice.strategy);
  if (!candidate.schedule) predict_value(job, profile, limits, true, candidate);
  const Seconds value = candidate.predicted.value;
  const Repredicted again(job, limits, candidate);
  candidate.predicted = interval(job, profile, again, value);
  candidate.predicted.low = std::max(candidate.predicted.low, std::min(value, least.time));
  // The papers have equations for contiguous copies and one GPU.
  if (candidate.choice.gpus == 1 && candidate.choice.relay.through.empty() && !has_blocks(job))
    if (const auto form = strategy.closed_form(job, candidate.choice, profile); form && form->assumption.empty())
      candidate.closed_form = form->time;
  candidate.distance = distance(again, profile, value, ideal.time.value);
  return candidate;
}

}  // namespace shiplap
