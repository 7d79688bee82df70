#include "shiplap/plan/adaptation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t batches_to_learn = 3;
/// What differs more than this, as a logarithm, is a change and not what a choice takes beyond its prediction.
constexpr double most_learned = 0.25;
constexpr double widest_link = 16;

std::string in_words(double change) {
  const double factor = std::exp(change);
  return fmt::format("{:.3g} times as long", factor);
}

}  // namespace

Adaptation::Adaptation(SteadyTable table, const AdaptationOptions& options)
    : table_(std::move(table)),
      options_(options),
      learned_(table_.choices.size()),
      kernels_changed_(options.tolerance),
      span_changed_(options.tolerance),
      watch_(batches_to_learn) {
  if (table_.choices.empty()) throw Error("there is no choice to adapt among");
  if (options_.observe_every == 0) throw UsageError("kernels are observed of every first batch at most");
  current_ = best();
}

Wanted Adaptation::wanted(std::uint64_t batch) const {
  return watch_ > 0 || batch % options_.observe_every == 0 ? Wanted::kernels : Wanted::span;
}

Seconds Adaptation::period(std::uint32_t choice) const {
  return expected(choice).period * std::exp(learned_[choice].plain.span);
}

Seconds Adaptation::span(std::uint32_t choice) const {
  return expected(choice).span * std::exp(learned_[choice].plain.span);
}

std::uint32_t Adaptation::best() const {
  const auto too_late = [&](std::uint32_t choice) -> Seconds {
    if (options_.latency_limit <= Seconds{0}) return Seconds{0};
    return std::max(Seconds{0}, span(choice) - options_.latency_limit);
  };
  std::uint32_t best = 0;
  for (std::uint32_t choice = 1; choice < table_.choices.size(); ++choice)
    if (std::pair(too_late(choice), period(choice)) < std::pair(too_late(best), period(best))) best = choice;
  return best;
}

bool Adaptation::is_steady(const BatchSeen& seen) {
  const bool goes_on = seen.batch > 0 && last_choice_ == seen.choice;
  alike_ = goes_on ? alike_ + 1 : 0;
  last_choice_ = seen.choice;
  return table_.in_flight == 1 || alike_ >= 2 * std::uint64_t{table_.in_flight};
}

std::optional<Decision> Adaptation::observe(const BatchSeen& seen) {
  if (watch_ > 0) --watch_;
  const bool steady = is_steady(seen);
  const Seconds kernels = std::accumulate(seen.kernels.begin(), seen.kernels.end(), Seconds{0});
  const Seconds expects = expected(seen.choice).kernels;
  double of_this_batch = kernel_;
  if (kernels > Seconds{0} && expects > Seconds{0}) {
    of_this_batch = kernel_ * (kernels / expects);
    if (const auto change = kernels_changed_.add(std::log(kernels / expects))) {
      kernel_ *= std::exp(*change);
      span_changed_.begin_anew();
      pending_.reset();
      alike_ = 0;
      return decide(seen.batch, fmt::format("kernels take {}", in_words(*change)));
    }
    if (kernels_changed_.suspects()) watch_ = std::max(watch_, 1u);
  }
  if (!steady) return std::nullopt;
  std::string reason = look_at_span(seen, of_this_batch);
  if (reason.empty()) return std::nullopt;
  return decide(seen.batch, std::move(reason));
}

// What the kernels of this very batch explain is theirs.
std::string Adaptation::look_at_span(const BatchSeen& seen, double kernel) {
  const bool observed = !seen.kernels.empty();
  const bool longer = observed && options_.observe_every > 1;  // than those whose kernels are not
  const LearnedOfChoice& of_choice = learned_.at(seen.choice);
  const Learned& learned = longer ? of_choice.observed : of_choice.plain;
  const double residual = std::log(seen.span / table_.at(seen.choice, kernel, link_).span) - learned.span;
  if (learned.batches < batches_to_learn && std::abs(residual) <= most_learned)
    return learn(seen.choice, longer, residual);
  if (const auto change = span_changed_.add(residual)) pending_ = change;
  if (span_changed_.suspects() || pending_) watch_ = std::max(watch_, 1u);
  if (!pending_ || !observed) return {};
  // Batches before this one, whose kernels nobody saw, may have changed by what this one shows of kernels.
  const double change = *std::exchange(pending_, std::nullopt);
  const double of_kernels = std::log(table_.at(seen.choice, kernel, link_).span / expected(seen.choice).span);
  if (std::abs(change - of_kernels) > std::abs(change) / 2) return explain_span(seen.choice, change);
  const double factor = std::log(kernel / kernel_);
  kernel_ = kernel;
  kernels_changed_.begin_anew();
  return fmt::format("kernels take {}", in_words(factor));
}

std::string Adaptation::learn(std::uint32_t choice, bool observed, double residual) {
  auto& [of_observed, plain] = learned_[choice];
  Learned& learned = observed ? of_observed : plain;
  ++learned.batches;
  learned.span += residual / learned.batches;
  if (observed || learned.batches < batches_to_learn) return {};
  // What the first choice takes beyond its prediction is laid on the link, if that explains it: it is of all choices.
  const bool is_first = !std::exchange(knows_link_, true);
  if (std::abs(plain.span) <= options_.tolerance || choice != current_) return {};
  if (!is_first) return fmt::format("these batches take {} as predicted", in_words(plain.span));
  of_observed.span -= plain.span;
  return explain_span(choice, std::exchange(plain.span, 0));
}

std::string Adaptation::explain_span(std::uint32_t choice, double change) {
  if (const double link = fitted_link(choice, change); link != link_) {
    link_ = link;
    return fmt::format("batches take {} and kernels as long as before: the link", in_words(change));
  }
  learned_[choice].observed.span += change;
  learned_[choice].plain.span += change;
  return fmt::format("batches take {}, which neither kernels nor the link explain", in_words(change));
}

// Where spans grow with the link's factor; as it was where they do not enough.
double Adaptation::fitted_link(std::uint32_t choice, double change) const {
  const double wanted = std::log(expected(choice).span.count()) + change;
  const auto at = [&](double link) { return std::log(table_.at(choice, kernel_, link).span.count()); };
  const double fastest = table_.in_flight > 1 ? 1 : 1 / widest_link;
  double low = std::max(fastest, link_ / widest_link);
  double high = link_ * widest_link;
  if (at(low) > wanted || at(high) < wanted) return link_;
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (at(middle) < wanted ? low : high) = middle;
  }
  const double found = std::sqrt(low * high);
  // A factor that is far from what it is to explain is a span that hardly hangs on the link.
  return std::abs(std::log(found / link_)) > 3 * std::abs(change) ? link_ : found;
}

Decision Adaptation::decide(std::uint64_t batch, std::string reason) {
  Decision decision{.after = batch, .reason = std::move(reason), .kernel = kernel_, .link = link_, .from = current_};
  const std::uint32_t candidate = best();
  decision.period_from = period(current_);
  decision.period_to = period(candidate);
  const bool late = options_.latency_limit > Seconds{0} && span(current_) > options_.latency_limit;
  const double gain = 1 - decision.period_to / decision.period_from;
  decision.to = candidate != current_ && (late || gain > options_.least_gain) ? candidate : current_;
  if (decision.to == current_) decision.period_to = decision.period_from;
  if (decision.to != current_) {
    current_ = decision.to;
    pending_.reset();
    kernels_changed_.begin_anew();
    span_changed_.begin_anew();
    watch_ = batches_to_learn;
  }
  return decision;
}

}  // namespace shiplap
