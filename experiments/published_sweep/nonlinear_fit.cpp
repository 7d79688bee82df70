#include "experiments/published_sweep/nonlinear_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "shiplap/core/error.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// The factor L of a symmetric positive definite matrix L·Lᵀ; nullopt for any other matrix.
std::optional<Matrix> cholesky(const Matrix& a) {
  const std::size_t n = a.size();
  Matrix l(n, Vector(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 0)) return std::nullopt;
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  return l;
}

Vector solve(const Matrix& l, Vector b) {
  const std::size_t n = l.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i][k] * b[k];
    b[i] /= l[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= l[k][i] * b[k];
    b[i] /= l[i][i];
  }
  return b;
}

double cost_of(const Vector& residuals, double outlier) {
  double sum = 0;
  for (const double r : residuals) {
    const double size = std::abs(r);
    sum += outlier > 0 && size > outlier ? outlier * (size - outlier / 2) : r * r / 2;
  }
  return sum;
}

Vector exponentials(const Vector& logarithms) {
  Vector out;
  for (const double x : logarithms) out.push_back(std::exp(x));
  return out;
}

/// Weighted normal equations, without the parameters that no residual depends on.
struct Normal {
  std::vector<std::size_t> active;
  Matrix matrix;
  Vector gradient;
};

Normal normal_equations(const Matrix& columns, const Vector& residuals, double outlier) {
  Normal out;
  for (std::size_t p = 0; p < columns.size(); ++p)
    if (std::ranges::any_of(columns[p], [](double d) { return d != 0; })) out.active.push_back(p);
  const std::size_t n = out.active.size();
  out.matrix.assign(n, Vector(n, 0.0));
  out.gradient.assign(n, 0.0);
  for (std::size_t r = 0; r < residuals.size(); ++r) {
    const double size = std::abs(residuals[r]);
    const double weight = outlier > 0 && size > outlier ? outlier / size : 1.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double d = weight * columns[out.active[i]][r];
      out.gradient[i] -= d * residuals[r];
      for (std::size_t j = 0; j <= i; ++j) out.matrix[i][j] += d * columns[out.active[j]][r];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) out.matrix[j][i] = out.matrix[i][j];
  return out;
}

Matrix damped(Matrix matrix, double damping) {
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i][i] *= 1 + damping;
  return matrix;
}

}  // namespace

NonlinearFit nonlinear_fit(const std::function<Vector(std::span<const double>)>& residuals, Vector start,
                           const NonlinearFitOptions& options) {
  Vector at;
  for (const double value : start) {
    if (!(value > 0) || !std::isfinite(value))
      throw Error(fmt::format("fit: a start of {}, expected a positive number", value));
    at.push_back(std::log(value));
  }
  Vector now = residuals(exponentials(at));
  if (now.size() < at.size()) throw Error(fmt::format("fit: {} observations for {} parameters", now.size(), at.size()));
  NonlinearFit fit;
  fit.cost = cost_of(now, options.outlier);
  if (!std::isfinite(fit.cost)) throw Error("fit: a residual at the start is not finite");

  const auto derivatives = [&] {
    Matrix columns;
    for (std::size_t p = 0; p < at.size(); ++p) {
      Vector moved = at;
      moved[p] += options.step;
      Vector column = residuals(exponentials(moved));
      for (std::size_t r = 0; r < column.size(); ++r) column[r] = (column[r] - now[r]) / options.step;
      columns.push_back(std::move(column));
    }
    return columns;
  };

  constexpr double most_damping = 1e8;
  constexpr double longest_step = 1.0;  // a factor of e, the largest change of a parameter in a step
  double damping = 1e-3;
  while (fit.iterations < options.iterations && !fit.converged) {
    ++fit.iterations;
    const Normal normal = normal_equations(derivatives(), now, options.outlier);
    bool better = false;
    for (; !better && damping < most_damping; damping *= 10) {
      const auto factor = cholesky(damped(normal.matrix, damping));
      if (!factor) continue;
      const Vector step = solve(*factor, normal.gradient);
      Vector next = at;
      for (std::size_t i = 0; i < step.size(); ++i)
        next[normal.active[i]] += std::clamp(step[i], -longest_step, longest_step);
      Vector there = residuals(exponentials(next));
      const double cost = cost_of(there, options.outlier);
      if (!(cost < fit.cost)) continue;
      better = true;
      fit.converged = fit.cost - cost <= options.tolerance * fit.cost;
      fit.cost = cost;
      at = std::move(next);
      now = std::move(there);
      damping /= 100;
    }
    // No step improves the fit, so this is a minimum within the precision of the derivatives.
    if (!better) fit.converged = true;
  }

  fit.parameters = exponentials(at);
  fit.standard_errors.assign(at.size(), std::numeric_limits<double>::infinity());
  const Normal normal = normal_equations(derivatives(), now, options.outlier);
  const auto factor = cholesky(normal.matrix);
  if (!factor || now.size() <= at.size()) return fit;
  const double variance = 2 * fit.cost / static_cast<double>(now.size() - at.size());
  for (std::size_t i = 0; i < normal.active.size(); ++i) {
    Vector unit(normal.active.size(), 0.0);
    unit[i] = 1;
    fit.standard_errors[normal.active[i]] = std::sqrt(variance * solve(*factor, unit)[i]);
  }
  return fit;
}

}  // namespace shiplap::experiments::published_sweep
