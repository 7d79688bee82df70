// How good each model is on observed points: errors, coverage of ranges, and what following its choices would have
// cost.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/evaluate/evaluation.hpp"

namespace shiplap {

/// Points whose own samples spread by more are listed apart: no model can be better than that.
inline constexpr double steady_spread = 0.05;

/// Relative errors, predicted over observed minus 1; positive is "predicted too long". All 0 without points.
struct ErrorSummary {
  std::size_t points = 0;
  double median = 0;  ///< of the absolute errors, as are the next two
  double p95 = 0;
  double worst = 0;
  double median_signed = 0;
  double over = 0;   ///< the largest positive error, 0 where there is none
  double under = 0;  ///< the largest negative error, likewise
};
ErrorSummary summary(std::span<const double> errors);

/// The predicted ranges of the engine against the medians observed.
struct Coverage {
  double covered = 0;       ///< share of the points
  double median_width = 0;  ///< high minus low over the predicted time
};

/// Where a model is worst among its steady points (all points where none is steady).
struct WorstPoint {
  std::string workload;
  Choice choice;
  double error = 0;
  Engine busiest = Engine::compute;  ///< in the engine's predicted timeline
  double busy = 0;
};

struct ModelErrors {
  std::string name;  ///< of the model, or of a group of points
  ErrorSummary all;
  ErrorSummary steady;
  ErrorSummary unsteady;
  std::optional<Coverage> coverage;  ///< of the engine, over its steady points
  std::optional<WorstPoint> worst;

  double unsteady_fraction() const;
};

/// One for each model that predicted at least one verified point, the engine first.
std::vector<ModelErrors> errors_by_model(std::span<const EvaluatedWorkload>);
/// The engine's, one for each strategy and layout, in the order in which they occur.
std::vector<ModelErrors> errors_by_strategy(std::span<const EvaluatedWorkload>);

/// What trusting a model would have cost on the swept points, by the observed medians: time of what it puts first over
/// the time of the best, minus 1. Where a model predicts the same time for all, it chooses nothing and there is no
/// case.
struct Regret {
  std::size_t cases = 0;
  double median = 0;
  double worst = 0;
  std::string worst_case;  ///< "scalar-add:…: streams instead of hybrid"
};
struct ModelRegret {
  std::string model;
  /// Cases are workloads: the best observed time of the strategy that is predicted to be fastest, against the best of
  /// all strategies.
  Regret strategy;
  /// Cases are strategies with a layout and a grid, of a workload, with three numbers of chunks or more: the observed
  /// time at the number that is predicted to be best, against the best number.
  Regret chunks;
};
std::vector<ModelRegret> regrets(std::span<const EvaluatedWorkload>);

/// Errors of the engine and of LogGP on copies alone, for each direction.
struct TransferErrors {
  bool to_device = true;
  ErrorSummary simulation;
  ErrorSummary loggp;
};
std::vector<TransferErrors> transfer_errors(std::span<const EvaluatedTransfer>);

/// What van Werkhoven et al. 2014 (section V) found of LogGP over 16 MB to 1 GB in 1 to 256 streams: the largest error
/// of each sign. To the GPU the model "always underestimates performance", so the time was predicted too long; to the
/// host overestimation (2.47 %) is taken as that of performance too, a time predicted too short.
struct PublishedTransferErrors {
  double over = 0;
  double under = 0;
};
PublishedTransferErrors published_transfer_errors(bool to_device);

}  // namespace shiplap
