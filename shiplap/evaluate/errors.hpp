// Accuracy of each model on observed points: errors, coverage of prediction intervals, and the cost of following its
// choices.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/evaluate/evaluation.hpp"

namespace shiplap {

/// Largest relative spread of a steady point's samples. Unsteady points are reported separately, because no model can
/// predict better than the samples agree.
inline constexpr double steady_spread = 0.05;

/// Relative errors, predicted over observed minus 1; positive is "predicted too long". All 0 without points.
struct ErrorSummary {
  std::size_t points = 0;
  double median = 0;  ///< median of the absolute errors
  double p95 = 0;     ///< 95th percentile of the absolute errors
  double worst = 0;   ///< largest absolute error
  double median_signed = 0;
  double over = 0;   ///< the largest positive error, 0 where there is none
  double under = 0;  ///< the largest negative error, 0 where there is none
};
ErrorSummary summary(std::span<const double> errors);

/// Coverage of the simulation's prediction intervals.
struct Coverage {
  double covered = 0;       ///< fraction of points whose observed median is in the interval
  double median_width = 0;  ///< median of (high − low) / predicted time
};

/// The point with the largest error among a model's steady points, or among all points where none is steady.
struct WorstPoint {
  std::string workload;
  Choice choice;
  double error = 0;
  Engine busiest = Engine::compute;  ///< busiest engine in the simulated timeline
  double busy = 0;
};

struct ModelErrors {
  std::string name;  ///< name of the model, or of a group of points
  ErrorSummary all;
  ErrorSummary steady;
  ErrorSummary unsteady;
  std::optional<Coverage> coverage;  ///< coverage over the steady points, for the simulation only
  std::optional<WorstPoint> worst;

  double unsteady_fraction() const;
};

/// Errors of each model that predicted at least one verified point, the simulation first.
std::vector<ModelErrors> errors_by_model(std::span<const EvaluatedWorkload>);
/// Errors of the simulation for each strategy and layout, in the order in which they occur.
std::vector<ModelErrors> errors_by_strategy(std::span<const EvaluatedWorkload>);

/// Cost of trusting a model on the swept points: observed median of the choice that it predicts to be fastest over the
/// best observed median, minus 1. A model that predicts the same time for all choices makes no choice and is not
/// counted.
struct Regret {
  std::size_t cases = 0;
  double median = 0;
  double worst = 0;
  std::string worst_case;  ///< "scalar-add:…: streams instead of hybrid"
};
struct ModelRegret {
  std::string model;
  /// One case for each workload: the best observed time of the strategy that is predicted to be fastest, against the
  /// best of all strategies.
  Regret strategy;
  /// One case for each combination of workload, strategy, layout and grid with at least three numbers of chunks: the
  /// observed time at the number that is predicted to be best, against the best number.
  Regret chunks;
};
std::vector<ModelRegret> regrets(std::span<const EvaluatedWorkload>);

/// Errors of the simulation and of LogGP for copies without kernels, in one direction.
struct TransferErrors {
  bool to_device = true;
  ErrorSummary simulation;
  ErrorSummary loggp;
};
std::vector<TransferErrors> transfer_errors(std::span<const EvaluatedTransfer>);

/// Largest error of each sign that van Werkhoven et al. 2014 (section V) report for LogGP, over 16 MB to 1 GB in 1 to
/// 256 streams. To the GPU the model "always underestimates performance", which means predicted times that are too
/// long. To the host the reported overestimation (2.47 %) is assumed to be of performance too, which means predicted
/// times that are too short.
struct PublishedTransferErrors {
  double over = 0;
  double under = 0;
};
PublishedTransferErrors published_transfer_errors(bool to_device);

}  // namespace shiplap
