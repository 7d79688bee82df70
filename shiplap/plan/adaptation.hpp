// Policies that choose how each batch of an endless input is cut, from what was observed of the batches before. Their
// decisions depend on nothing else, so that a log of the observations can be replayed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/model/stage_times.hpp"
#include "shiplap/plan/change.hpp"
#include "shiplap/plan/learned_ratios.hpp"
#include "shiplap/plan/steady_state.hpp"

namespace shiplap {

/// What was observed of a batch.
struct BatchObservation {
  std::uint64_t batch = 0;   ///< number of the batch, counted from 0
  std::uint32_t choice = 0;  ///< index of the batch's choice in the table
  Seconds span{0};           ///< from when its first stream reached the batch until the end of the batch
  /// For the kernel of each chunk the time that it adds to the time in which any kernel runs; empty when kernels were
  /// not observed.
  std::vector<Seconds> kernels{};
  std::optional<StageTimes> stages{};  ///< times of the stages of a batch in one chunk, when all were observed
};

/// What is to be observed of a batch: its span alone, also its kernels, or the times of its stages.
enum class TraceLevel : std::uint8_t { span, kernels, stages };

/// A conclusion from observed batches, and its reason.
struct BatchDecision {
  std::uint64_t after = 0;  ///< number of the batch whose observation led to it
  std::string reason{};     ///< one sentence
  double kernel = 1;        ///< estimated over planned time of the kernel
  double link = 1;          ///< estimated over planned time of copies
  std::uint32_t from = 0;   ///< index of the old choice
  std::uint32_t to = 0;     ///< index of the choice for the batches that are submitted from now on
  Seconds period_from{0};   ///< time of a batch with the old choice, predicted with the new factors
  Seconds period_to{0};     ///< time of a batch with the new choice, predicted with the new factors
};

/// Chooses how batches are cut. A decision changes only batches that are not yet submitted.
class Policy {
 public:
  virtual ~Policy() = default;
  /// Returns the index of the choice for the next batch to be submitted.
  virtual std::uint32_t choice(std::uint64_t batch) = 0;
  /// Returns what is to be observed of that batch.
  virtual TraceLevel trace_level(std::uint64_t batch) const = 0;
  /// Takes what was observed of a batch. Must be called for every batch, in their order.
  virtual std::optional<BatchDecision> observe(const BatchObservation&) = 0;
};

/// A policy that does not adapt: one choice for every batch, or a list with the choice for each batch.
class Fixed final : public Policy {
 public:
  /// Makes the same choice for every batch.
  explicit Fixed(std::uint32_t choice, TraceLevel trace_level = TraceLevel::span)
      : choices_{choice}, trace_level_(trace_level) {}
  /// Makes the choices of the list, which must not be empty; the last one is for all batches beyond it.
  explicit Fixed(std::vector<std::uint32_t> choices) : choices_(std::move(choices)) {}
  std::uint32_t choice(std::uint64_t batch) override {
    return choices_[std::min<std::uint64_t>(batch, choices_.size() - 1)];
  }
  TraceLevel trace_level(std::uint64_t) const override { return trace_level_; }
  std::optional<BatchDecision> observe(const BatchObservation&) override { return std::nullopt; }

 private:
  std::vector<std::uint32_t> choices_;
  TraceLevel trace_level_ = TraceLevel::span;
};

/// When and how the choice changes.
struct AdaptationOptions {
  /// Relative residuals (observed over expected time, minus 1) up to this are noise.
  double tolerance = 0.03;
  /// Least predicted gain for which the policy changes its choice, as a fraction of the time of a batch.
  double least_gain = 0.005;
  /// While nothing changes, one in this number of batches has its kernels timed. Events around kernels make a batch
  /// longer.
  std::uint32_t observe_every = 16;
  /// A choice that is predicted to be slower than the current one by at most this fraction is tried for a few batches,
  /// once for each range of the kernel's time of a factor √2. Choices are tried only with one batch in flight, because
  /// with several the time of a batch says little about its choice. 0: no choice is tried.
  double explore = 0.03;
  /// Longest wanted span of a batch; 0: only throughput counts. The span does not contain the time that a batch waits
  /// for batches in flight before it.
  Seconds latency_limit{0};
};

/// A policy that follows changes of the kernel and of the link. It has one factor for each, by which predicted times
/// are multiplied. The kernel's factor comes from the observed times of the chunks' kernels, the link's factor from the
/// part of the span that the kernels do not explain.
///
/// A change is detected by Page's CUSUM test on the residuals (ChangeTest), a large change sooner than a small one.
/// Then the factor of the kernel or of the link is fitted to the residuals since the change. The policy changes to the
/// choice that is best with the new factor if this choice gains more than `least_gain`.
///
/// The error of the prediction for a choice is learned from the choice's first batches. While nothing changes, choices
/// that are predicted nearly as good are tried too. Spans come only from batches whose kernels are not timed, because
/// events around kernels lengthen spans (with `observe_every` 1 from all batches).
///
/// With several batches in flight a span depends on the batches around it. Then a span is used only after 2 ×
/// `in_flight` consecutive batches with the same choice, and the link is never taken to be faster than planned, because
/// a slow source of batches makes spans shorter too.
class Adaptation final : public Policy {
 public:
  /// Begins with the choice that is predicted to be best. Throws Error for a table without choices, UsageError for
  /// `observe_every` 0, and for other options that are below 0 or not numbers.
  explicit Adaptation(SteadyTable, const AdaptationOptions& = {});

  std::uint32_t choice(std::uint64_t) override { return current_; }
  TraceLevel trace_level(std::uint64_t batch) const override;
  std::optional<BatchDecision> observe(const BatchObservation&) override;

  const SteadyTable& table() const { return table_; }            ///< the table that was given
  const AdaptationOptions& options() const { return options_; }  ///< the options that were given
  /// Estimated time of the kernel, as a factor of the planned time.
  double kernel() const { return kernel_; }
  /// Estimated time of copies, as a factor of the planned time.
  double link() const { return link_; }

 private:
  /// A few batches with one choice, from which the error of its prediction is learned.
  struct Trial {
    std::uint32_t choice = 0;
    std::uint32_t from = 0;           ///< choice to compare with; equal to `choice` when nothing is compared
    double ratio = 1;                 ///< `Adaptation::ratio` when the trial began
    std::vector<double> residuals{};  ///< residuals of spans
    std::uint32_t attempts = 1;
    bool compares() const { return choice != from; }
  };
  /// A choice and a factor of the kernel with which spans were as expected.
  struct Agreed {
    std::uint32_t choice = 0;
    double kernel = 1;
  };
  /// Whether the batches in flight around this one had its choice, as the table assumes.
  bool is_steady(const BatchObservation&);
  /// Logarithm of the observed over the expected time of the batch's kernels; 0 when there is nothing to compare.
  double kernel_residual(const BatchObservation&) const;
  /// Tests whether the kernels have changed. Returns the reason for a decision, or "".
  std::string test_kernels(const BatchObservation&);
  /// Tests whether the span has changed by more than the kernels explain. Returns the reason for a decision, or "".
  std::string test_span(const BatchObservation&);
  /// Decides whether the kernels of a later batch explain a change of spans. Returns the reason for a decision.
  std::string explain_change(const BatchObservation&);
  /// Whether the trial has enough spans. It then ends with the next batch whose kernels are observed.
  bool has_seen_enough() const;
  /// Whether the choice on trial is far slower than the choice before the trial.
  bool is_hopeless() const;
  /// Ends the trial and learns from it, unless the kernels have changed meanwhile.
  std::string learn(const BatchObservation&);
  /// Begins a trial when there is a reason to.
  std::optional<BatchDecision> explore(std::uint64_t batch);
  /// The kernel's factor over the link's, by which errors of predictions are filed.
  double ratio() const { return kernel_ / link_; }
  SteadyState expected(std::uint32_t choice) const { return table_.at(choice, kernel_, link_); }
  /// The learned error of the prediction for a choice at the present ratio, as a factor.
  double learned_factor(std::uint32_t choice) const;
  Seconds period(std::uint32_t choice) const { return expected(choice).period * learned_factor(choice); }
  Seconds span(std::uint32_t choice) const { return expected(choice).span * learned_factor(choice); }
  bool is_late(std::uint32_t choice) const;
  std::uint32_t best() const;
  void begin_trial(std::uint32_t choice) { trial_ = Trial{.choice = choice, .from = current_, .ratio = ratio()}; }
  BatchDecision decide(std::uint64_t batch, std::string reason);
  /// Requests kernel timing of the next batch, after a change of choice. The error of the new choice's predicted kernel
  /// time is learned from that batch if it is unknown.
  void expect_first_of_choice();
  /// Attributes a change of the spans of a choice to the link or to the prediction. Returns the reason for a decision.
  std::string explain_span(std::uint32_t choice, double change);
  /// The factor of the link with which the span of a choice changes by exp(`change`); the present one when there is
  /// none.
  double fitted_link(std::uint32_t choice, double change) const;

  SteadyTable table_;
  AdaptationOptions options_;
  LearnedRatios learned_;          ///< errors of predicted spans
  LearnedRatios learned_kernels_;  ///< errors of predicted times of kernels that the kernel's factor does not explain
  ChangeTest kernels_changed_;
  ChangeTest span_changed_;
  double kernel_ = 1;
  double link_ = 1;
  std::uint32_t current_ = 0;
  std::uint32_t batches_to_observe_ = 0;  ///< number of further batches whose kernels are observed
  std::uint32_t quiet_batches_ = 0;       ///< number of batches since the last decision or suspected change
  std::optional<Agreed> agreed_;          ///< choice and factor with which spans were last as expected
  std::uint32_t agreeing_ = 0;            ///< number of consecutive spans that were as expected
  std::optional<Trial> trial_;            ///< the trial of the current choice
  bool is_first_of_choice_ = false;       ///< whether the next batch with observed kernels is the first of its choice
  std::optional<double> pending_;         ///< a change of spans, until a batch with observed kernels explains it
  std::uint64_t batches_alike_ = 0;       ///< number of consecutive batches with the same choice and kernel
  std::optional<std::uint32_t> last_choice_;  ///< choice of the batch before
};

}  // namespace shiplap
