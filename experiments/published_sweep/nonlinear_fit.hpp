// Fits positive parameters to observations by least squares, with the method of Levenberg and Marquardt over the
// logarithms of the parameters and finite differences as derivatives. The result is deterministic.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace shiplap::experiments::published_sweep {

struct NonlinearFitOptions {
  unsigned iterations = 60;  ///< largest number of iterations
  double tolerance = 1e-7;   ///< relative change of the cost between iterations below which the fit has converged
  /// Residuals beyond this count linearly instead of by their square (Huber), so that a few outliers do not dominate
  /// the fit. 0: all count by their square.
  double outlier = 0;
  double step = 1e-3;  ///< step of the logarithm of a parameter, for derivatives
};

struct NonlinearFit {
  std::vector<double> parameters;
  /// The standard error of the logarithm of each parameter, which is the relative error if small; infinite when no
  /// residual depends on the parameter. It assumes independent residuals, which is wrong for a model that lacks a term.
  std::vector<double> standard_errors;
  double cost = 0;  ///< half the sum of squared residuals, with outliers counted linearly
  unsigned iterations = 0;
  bool converged = false;
};

/// Fits the parameters. `residuals` returns one number for each observation, at least as many as there are parameters.
/// It is called with positive parameters only. A parameter that no residual depends on keeps its start value. Throws
/// Error when a start value is not positive and finite, when there are fewer residuals than parameters, or when a
/// residual at the start is not finite.
NonlinearFit nonlinear_fit(const std::function<std::vector<double>(std::span<const double>)>& residuals,
                           std::vector<double> start, const NonlinearFitOptions& = {});

}  // namespace shiplap::experiments::published_sweep
