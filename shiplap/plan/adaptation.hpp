// How each batch of an endless input is cut while the kernel or the link change: what was observed of the batches
// before goes in, the next choice comes out. Pure functions of what goes in, so that a log of it can be replayed.
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

/// What a batch let be seen of it.
struct BatchSeen {
  std::uint64_t batch = 0;   ///< counted from 0
  std::uint32_t choice = 0;  ///< which of the table's
  Seconds span{0};           ///< from when its first stream got to it until its end
  /// Of each chunk what its kernel adds to the time in which any of them runs; empty where they were not observed.
  std::vector<Seconds> kernels{};
  std::optional<StageTimes> stages{};  ///< of a batch in one chunk, where all of it was observed
};

/// What a policy asks to be told of a batch.
enum class Wanted : std::uint8_t { span, kernels, stages };

/// What was concluded, and why.
struct Decision {
  std::uint64_t after = 0;  ///< the batch whose observation led to it
  std::string reason{};     ///< one sentence
  double kernel = 1;        ///< how many times as long as planned kernels now are taken to be
  double link = 1;          ///< and copies
  std::uint32_t from = 0;   ///< choice until now
  std::uint32_t to = 0;     ///< from the next batch on that is submitted
  Seconds period_from{0};   ///< predicted time of a batch with the old choice, by what is known now
  Seconds period_to{0};     ///< predicted time of a batch with the new choice, by what is known now
};

/// Chooses for one batch after the other. What is in flight is as it was chosen.
class Policy {
 public:
  virtual ~Policy() = default;
  /// For the next batch to be submitted.
  virtual std::uint32_t choice(std::uint64_t batch) = 0;
  /// Of that batch.
  virtual Wanted wanted(std::uint64_t batch) const = 0;
  /// To be told of every batch, in their order.
  virtual std::optional<Decision> observe(const BatchSeen&) = 0;
};

/// The same choice for every batch, or for each batch one of a list (the last for those beyond it).
class Fixed final : public Policy {
 public:
  /// For every batch.
  explicit Fixed(std::uint32_t choice, Wanted wanted = Wanted::span) : choices_{choice}, wanted_(wanted) {}
  /// At least one.
  explicit Fixed(std::vector<std::uint32_t> choices) : choices_(std::move(choices)) {}
  std::uint32_t choice(std::uint64_t batch) override {
    return choices_[std::min<std::uint64_t>(batch, choices_.size() - 1)];
  }
  Wanted wanted(std::uint64_t) const override { return wanted_; }
  std::optional<Decision> observe(const BatchSeen&) override { return std::nullopt; }

 private:
  std::vector<std::uint32_t> choices_;
  Wanted wanted_ = Wanted::span;
};

/// When and how the choice changes.
struct AdaptationOptions {
  /// Residuals (observed over expected, minus 1) up to this are noise.
  double tolerance = 0.03;
  /// A choice is left for another only where that is predicted to gain more than this share of the time.
  double least_gain = 0.005;
  /// Kernels are observed of every so many batches while nothing changes: events around them make a batch longer.
  std::uint32_t observe_every = 16;
  /// A choice that is predicted to take up to this share longer than the one that is in use is tried for a few batches,
  /// once for each half octave of the kernel's time. Only where batches are waited for: beside others a batch says
  /// little about its choice. 0: none is tried.
  double explore = 0.03;
  /// Longest span of a batch that is wanted; zero: only throughput counts. With several in flight a batch waits for
  /// those ahead of it before its span begins.
  Seconds latency_limit{0};
};

/// Follows the kernel by the times of its chunks, and the link by what these leave of a batch's span unexplained. A
/// change counts when the residuals since it began add up to more than noise can (Page's CUSUM test): soon when it is
/// large, later when it is small. Then the factor of the kernel or of the link is refitted to the residuals since the
/// change, and the best choice for it taken, unless it gains less than `least_gain`. What a choice takes beyond its
/// prediction is learned from its first batches; while nothing changes, choices that are predicted nearly as good are
/// tried too. Spans are those of batches whose kernels are not observed, since events around kernels make them longer.
/// Where several batches are in flight a span hangs on its neighbours too: it counts only behind so many alike as take
/// twice the flight, and the link is taken to be no faster than planned, since a source that is slow makes spans
/// shorter.
class Adaptation final : public Policy {
 public:
  /// Begins with the choice that the table has as best. Throws Error for a table without choices, UsageError for
  /// options that make no sense.
  explicit Adaptation(SteadyTable, const AdaptationOptions& = {});

  std::uint32_t choice(std::uint64_t) override { return current_; }
  Wanted wanted(std::uint64_t batch) const override;
  std::optional<Decision> observe(const BatchSeen&) override;

  const SteadyTable& table() const { return table_; }            ///< as it was given
  const AdaptationOptions& options() const { return options_; }  ///< as they were given
  /// How many times as long as planned kernels take, by what is known.
  double kernel() const { return kernel_; }
  /// Likewise copies.
  double link() const { return link_; }

 private:
  /// Some batches of a choice from which is learned what it takes.
  struct Trial {
    std::uint32_t choice = 0;
    std::uint32_t from = 0;           ///< choice to which it is compared; the same: that one is just got to know
    double ratio = 1;                 ///< of kernel and link when it began
    std::vector<double> residuals{};  ///< of spans
    std::uint32_t attempts = 1;
    bool compares() const { return choice != from; }
  };
  /// A choice, and kernels for which it is as expected.
  struct Agreed {
    std::uint32_t choice = 0;
    double kernel = 1;
  };
  /// Whether a batch has only such behind and ahead of it as the table assumes.
  bool is_steady(const BatchSeen&);
  double of_kernels(const BatchSeen&) const;
  /// What the kernels say. In words; empty: nothing.
  std::string look_at_kernels(const BatchSeen&);
  /// Likewise what the span says beyond the kernels.
  std::string look_at_span(const BatchSeen&);
  /// Lays a change of spans on the kernels of a batch behind it, where these explain it.
  std::string explain_change(const BatchSeen&);
  /// Whether the trial has enough spans; the next batch whose kernels are observed ends it.
  bool has_seen_enough() const;
  /// Whether a choice that is tried is far behind the one before.
  bool is_hopeless() const;
  /// Ends the trial when it has seen enough.
  std::string learn(const BatchSeen&);
  /// Begins a trial when there is a reason to.
  std::optional<Decision> explore(std::uint64_t batch);
  /// Of the kernel's factor and the link's: by it is learned.
  double ratio() const { return kernel_ / link_; }
  SteadyState expected(std::uint32_t choice) const { return table_.at(choice, kernel_, link_); }
  /// What was learned of the choice for kernels as they are, as a factor.
  double beyond(std::uint32_t choice) const;
  Seconds period(std::uint32_t choice) const { return expected(choice).period * beyond(choice); }
  Seconds span(std::uint32_t choice) const { return expected(choice).span * beyond(choice); }
  bool is_late(std::uint32_t choice) const;
  std::uint32_t best() const;
  void begin_trial(std::uint32_t choice) { trial_ = Trial{.choice = choice, .from = current_, .ratio = ratio()}; }
  Decision decide(std::uint64_t batch, std::string reason);
  /// Behind a change of choice.
  void meet_kernels();
  /// Lays a change of a choice's span on what explains it. In words.
  std::string explain_span(std::uint32_t choice, double change);
  double fitted_link(std::uint32_t choice, double change) const;

  SteadyTable table_;
  AdaptationOptions options_;
  LearnedRatios learned_;          ///< of spans
  LearnedRatios learned_kernels_;  ///< of kernels: what other choices did not show of them
  ChangeTest kernels_changed_;
  ChangeTest span_changed_;
  double kernel_ = 1;
  double link_ = 1;
  std::uint32_t current_ = 0;
  std::uint32_t watch_ = 0;                   ///< so many batches more are observed with their kernels
  std::uint32_t quiet_ = 0;                   ///< batches since something was decided or suspected
  std::optional<Agreed> agreed_;              ///< with which spans were last as expected
  std::uint32_t agreeing_ = 0;                ///< spans in a row that were
  std::optional<Trial> trial_;                ///< of the current choice
  bool meets_kernels_ = false;                ///< the next batch that is observed is the first of its choice
  std::optional<double> pending_;             ///< change of spans that waits for a batch whose kernels are observed
  std::uint64_t alike_ = 0;                   ///< batches in a row of one choice with kernels as they are taken to be
  std::optional<std::uint32_t> last_choice_;  ///< of the batch before
};

}  // namespace shiplap
