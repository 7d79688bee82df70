// Fits positive parameters to observations by least squares: Levenberg and Marquardt's method over the logarithms of
// the parameters, with differences for derivatives. Deterministic: same input, same output.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace shiplap::experiments::published_sweep {

struct NonlinearFitOptions {
  unsigned iterations = 60;  ///< at most
  double tolerance = 1e-7;   ///< of the cost from one iteration to the next, relative: below it the fit has converged
  /// Residuals beyond it count in proportion instead of by their square (Huber), so that a few outliers do not decide
  /// the fit; 0: all by their square.
  double outlier = 0;
  double step = 1e-3;  ///< of the logarithm of a parameter, for derivatives
};

struct NonlinearFit {
  std::vector<double> parameters;
  /// The standard error of the logarithm of each parameter, which is its relative error where small; infinite when no
  /// residual depends on it. It takes the residuals as independent, which those of a model that lacks a term are not.
  std::vector<double> standard_errors;
  double cost = 0;  ///< half the sum of squares, outliers counted as above
  unsigned iterations = 0;
  bool converged = false;
};

/// `residuals` gives one number for each observation, as many as there are parameters or more, for parameters that are
/// all positive. A parameter on which no residual depends stays at its start. Throws Error when a start is not positive
/// and finite, there are fewer residuals than parameters, or a residual at the start is not finite.
NonlinearFit nonlinear_fit(const std::function<std::vector<double>(std::span<const double>)>& residuals,
                           std::vector<double> start, const NonlinearFitOptions& = {});

}  // namespace shiplap::experiments::published_sweep
