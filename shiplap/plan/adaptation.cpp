#include "shiplap/plan/adaptation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/plan/elimination.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t batches_of_a_trial = 4;
constexpr std::uint32_t batches_observed_at_first = 3;
/// A residual (a logarithm) above this comes from a change, not from an error of the prediction.
constexpr double most_learned = 0.25;
/// A trial ends early once two or three batches are all slower than the choice before by this fraction.
constexpr double clearly_slower = 0.1;
constexpr std::uint32_t quiet_before_a_trial = 8;
constexpr std::uint32_t batches_that_agree = 8;
/// Attempts to learn the error of a prediction, each of which fails when kernels change meanwhile.
constexpr std::uint32_t most_attempts = 3;
constexpr double largest_link_factor = 16;

std::string times_as_long(double change) { return fmt::format("{:.3g} times as long", std::exp(change)); }

std::string as_predicted(double residual) {
  return std::abs(residual) < 0.005 ? "as long as predicted" : times_as_long(residual) + " as predicted";
}

}  // namespace

Adaptation::Adaptation(SteadyTable table, const AdaptationOptions& options)
    : table_(std::move(table)),
      options_(options),
      learned_(table_.choices.size()),
      learned_kernels_(table_.choices.size()),
      kernels_changed_(options.tolerance),
      span_changed_(options.tolerance),
      batches_to_observe_(batches_observed_at_first) {
  if (table_.choices.empty()) throw Error("there is no choice to adapt among");
  if (options_.observe_every == 0)
    throw UsageError("`observe_every` 0: give the number of batches of which one has its kernels observed, at least 1");
  for (const auto& [name, value] : {std::pair{"tolerance", options_.tolerance},
                                    {"least_gain", options_.least_gain},
                                    {"explore", options_.explore},
                                    {"latency_limit", options_.latency_limit.count()}})
    if (!(value >= 0)) throw UsageError(fmt::format("`{}` {}: give a number of 0 or more", name, value));
  current_ = best();
  learned_kernels_.set(current_, 1, 0);
  begin_trial(current_);
}

TraceLevel Adaptation::trace_level(std::uint64_t batch) const {
  return batches_to_observe_ > 0 || batch % options_.observe_every == 0 ? TraceLevel::kernels : TraceLevel::span;
}

double Adaptation::learned_factor(std::uint32_t choice) const {
  return std::exp(learned_.ratio_or_typical(choice, ratio()));
}

bool Adaptation::is_late(std::uint32_t choice) const {
  return options_.latency_limit > Seconds{0} && span(choice) > options_.latency_limit;
}

std::uint32_t Adaptation::best() const {
  const auto too_late = [&](std::uint32_t choice) {
    return is_late(choice) ? span(choice) - options_.latency_limit : Seconds{0};
  };
  std::uint32_t best = 0;
  for (std::uint32_t choice = 1; choice < table_.choices.size(); ++choice)
    if (std::pair(too_late(choice), period(choice)) < std::pair(too_late(best), period(best))) best = choice;
  return best;
}

bool Adaptation::is_steady(const BatchObservation& seen) {
  const bool goes_on = seen.batch > 0 && last_choice_ == seen.choice;
  batches_alike_ = goes_on ? batches_alike_ + 1 : 0;
  last_choice_ = seen.choice;
  return table_.in_flight == 1 || batches_alike_ >= 2 * std::uint64_t{table_.in_flight};
}

std::optional<BatchDecision> Adaptation::observe(const BatchObservation& seen) {
  if (batches_to_observe_ > 0) --batches_to_observe_;
  ++quiet_batches_;
  const bool steady = is_steady(seen);
  std::string reason = test_kernels(seen);
  if (reason.empty() && steady && seen.span > Seconds{0}) reason = test_span(seen);
  if (!reason.empty()) return decide(seen.batch, std::move(reason));
  // Unexpected spans show only in batches whose kernels are not observed, so every other batch has them observed.
  const bool spans_are_off = span_changed_.suspects();
  if (kernels_changed_.suspects() || pending_ || has_seen_enough() || (spans_are_off && seen.kernels.empty()))
    batches_to_observe_ = std::max(batches_to_observe_, 1u);
  if (batches_to_observe_ > 0 || spans_are_off) quiet_batches_ = 0;
  if (spans_are_off) agreeing_ = 0;
  if (agreeing_ >= batches_that_agree) agreed_ = Agreed{.choice = current_, .kernel = kernel_};
  return explore(seen.batch);
}

double Adaptation::kernel_residual(const BatchObservation& seen) const {
  const Seconds kernels = std::accumulate(seen.kernels.begin(), seen.kernels.end(), Seconds{0});
  const Seconds expects = expected(seen.choice).kernels;
  if (kernels <= Seconds{0} || expects <= Seconds{0}) return 0;
  return std::log(kernels / expects) - learned_kernels_.ratio_of(seen.choice, ratio());
}

std::string Adaptation::test_kernels(const BatchObservation& seen) {
  if (seen.kernels.empty()) return {};
  const double residual = kernel_residual(seen);
  // After a change of choice a small residual comes from the new chunks: the kernel itself is as it was. A large one is
  // a change of the kernel that happens at the same time.
  if (seen.choice == current_ && std::exchange(is_first_of_choice_, false) && std::abs(residual) <= most_learned) {
    learned_kernels_.set(current_, ratio(), learned_kernels_.ratio_of(current_, ratio()) + residual);
    return {};
  }
  const auto change = kernels_changed_.add(residual);
  if (!change) return {};
  kernel_ *= std::exp(*change);
  span_changed_.begin_anew();
  pending_.reset();
  batches_alike_ = 0;
  return fmt::format("kernels take {}", times_as_long(*change));
}

std::string Adaptation::test_span(const BatchObservation& seen) {
  const bool observed = !seen.kernels.empty();
  if (pending_ && observed) return explain_change(seen);
  if (!observed || options_.observe_every == 1) {
    const double residual = std::log(seen.span / expected(seen.choice).span);
    const bool tried = trial_ && trial_->choice == seen.choice;
    if (tried && (trial_->compares() || std::abs(residual) <= most_learned)) {
      trial_->residuals.push_back(residual);
    } else if (const auto change = span_changed_.add(residual - std::log(learned_factor(seen.choice)))) {
      pending_ = change;
      return observed ? explain_change(seen) : std::string();
    } else {
      ++agreeing_;
    }
  }
  return has_seen_enough() && observed ? learn(seen) : std::string();
}

// The spans that changed are those of batches whose kernels were not observed. The kernels of the present batch show by
// which factor they may have changed there.
std::string Adaptation::explain_change(const BatchObservation& seen) {
  const double change = *std::exchange(pending_, std::nullopt);
  const double factor = kernel_residual(seen);
  const double explained =
      std::log(table_.at(seen.choice, kernel_ * std::exp(factor), link_).span / expected(seen.choice).span);
  if (std::copysign(1, change) * explained < std::abs(change) / 2) return explain_span(seen.choice, change);
  kernel_ *= std::exp(factor);
  kernels_changed_.begin_anew();
  return fmt::format("kernels take {}", times_as_long(factor));
}

bool Adaptation::is_hopeless() const {
  if (!trial_->compares()) return false;
  std::vector<double> tried;
  for (const double residual : trial_->residuals)
    tried.push_back(expected(trial_->choice).period.count() * std::exp(residual));
  const std::vector<double> before(tried.size(), period(trial_->from).count());
  return compare_times(tried, before, {.least_rounds = batches_of_a_trial, .clearly_slower = clearly_slower}).surely;
}

bool Adaptation::has_seen_enough() const {
  return trial_ && (trial_->residuals.size() >= batches_of_a_trial || is_hopeless());
}

std::string Adaptation::learn(const BatchObservation& seen) {
  const bool compares = trial_->compares();
  const double residual = median(trial_->residuals);
  if (std::abs(kernel_residual(seen)) > kernels_changed_.slack()) {  // kernels changed during the trial
    if (compares) return "kernels changed while it was tried";
    if (++trial_->attempts > most_attempts)
      trial_.reset();
    else
      trial_->residuals.clear();
    return {};
  }
  learned_.set(current_, ratio(), residual);
  agreed_ = Agreed{.choice = current_, .kernel = kernel_};
  if (!compares) trial_.reset();  // a trial that compares is ended by `decide`
  return compares || std::abs(residual) > options_.tolerance ? "these batches take " + as_predicted(residual)
                                                             : std::string();
}

std::optional<BatchDecision> Adaptation::explore(std::uint64_t batch) {
  if (trial_ || table_.in_flight > 1 || options_.explore <= 0 || quiet_batches_ < quiet_before_a_trial)
    return std::nullopt;
  if (!learned_.knows(current_, ratio())) {
    begin_trial(current_);
    return std::nullopt;
  }
  std::optional<std::uint32_t> next;
  for (std::uint32_t choice = 0; choice < table_.choices.size(); ++choice)
    if (!learned_.knows(choice, ratio()) && !is_late(choice) &&
        period(choice) <= period(current_) * (1 + options_.explore) && (!next || period(choice) < period(*next)))
      next = choice;
  if (!next) return std::nullopt;
  begin_trial(*next);
  BatchDecision decision{.after = batch,
                         .reason = "another choice is tried that is predicted nearly as good",
                         .kernel = kernel_,
                         .link = link_,
                         .from = current_,
                         .to = *next,
                         .period_from = period(current_),
                         .period_to = period(*next)};
  current_ = *next;
  quiet_batches_ = 0;
  expect_first_of_choice();
  return decision;
}

void Adaptation::expect_first_of_choice() {
  is_first_of_choice_ = !learned_kernels_.knows(current_, ratio());
  batches_to_observe_ = std::max(batches_to_observe_, 1u);
}

// A change of spans is attributed to the link only when choice and kernels are those with which spans were as expected.
// Otherwise it may be an error of the prediction.
std::string Adaptation::explain_span(std::uint32_t choice, double change) {
  const bool as_it_was =
      agreed_ && agreed_->choice == choice && std::abs(std::log(kernel_ / agreed_->kernel)) <= options_.tolerance;
  agreed_ = Agreed{.choice = choice, .kernel = kernel_};
  if (const double link = as_it_was ? fitted_link(choice, change) : link_; link != link_) {
    link_ = link;
    return fmt::format("batches take {} and kernels as long as before: the link", times_as_long(change));
  }
  learned_.set(choice, ratio(), learned_.ratio_or_typical(choice, ratio()) + change);
  return fmt::format("batches take {} beyond what was predicted", times_as_long(change));
}

double Adaptation::fitted_link(std::uint32_t choice, double change) const {
  const double wanted = std::log(expected(choice).span.count()) + change;
  const auto at = [&](double link) { return std::log(table_.at(choice, kernel_, link).span.count()); };
  const double fastest = table_.in_flight > 1 ? 1 : 1 / largest_link_factor;
  double low = std::max(fastest, link_ / largest_link_factor);
  double high = link_ * largest_link_factor;
  if (at(low) > wanted || at(high) < wanted) return link_;
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (at(middle) < wanted ? low : high) = middle;
  }
  const double found = std::sqrt(low * high);
  // A factor that is far larger than the change shows that the span hardly depends on the link.
  return std::abs(std::log(found / link_)) > 3 * std::abs(change) ? link_ : found;
}

BatchDecision Adaptation::decide(std::uint64_t batch, std::string reason) {
  BatchDecision decision{
      .after = batch, .reason = std::move(reason), .kernel = kernel_, .link = link_, .from = current_};
  // After a trial the new choice must be faster than the choice before the trial.
  const std::uint32_t holder = trial_ ? trial_->from : current_;
  const std::uint32_t candidate = best();
  const double gain = 1 - period(candidate) / period(holder);
  decision.to = is_late(holder) || gain > options_.least_gain ? candidate : holder;
  decision.period_from = period(decision.from);
  decision.period_to = period(decision.to);
  // A choice whose trial ended without a result is marked as known, so that it is not tried again and again.
  if (trial_ && trial_->compares() && !learned_.knows(trial_->choice, trial_->ratio))
    learned_.set(trial_->choice, trial_->ratio, learned_.ratio_or_typical(trial_->choice, trial_->ratio));
  trial_.reset();
  quiet_batches_ = 0;
  agreeing_ = 0;
  const bool changes = decision.to != current_;
  current_ = decision.to;
  if (!learned_.knows_any(current_)) begin_trial(current_);
  if (!changes) return decision;
  pending_.reset();
  kernels_changed_.begin_anew();
  span_changed_.begin_anew();
  expect_first_of_choice();
  return decision;
}

}  // namespace shiplap
