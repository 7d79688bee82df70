#include "shiplap/measure/uncertain.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

/// Relative error that is added to every equation (see `least_squares`).
constexpr double least_relative_error = 1e-3;
/// Pivots below this are rounding errors in a matrix with a unit diagonal. The equations do not determine such an
/// unknown.
constexpr double least_pivot = 1e-9;

using Matrix = std::vector<std::vector<double>>;

// Inverse of a small symmetric positive definite matrix. Rows and columns are scaled to a unit diagonal first, because
// the unknowns differ by ten orders of magnitude.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  std::vector<double> scale(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(a[i][i] > 0)) throw Error("least squares: an unknown is in none of the equations");
    scale[i] = 1 / std::sqrt(a[i][i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i][j] *= scale[i] * scale[j];
  Matrix result(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    if (std::abs(a[pivot][column]) < least_pivot)
      throw Error("least squares: the equations do not determine the unknowns; measure more sizes");
    std::swap(a[pivot], a[column]);
    std::swap(result[pivot], result[column]);
    const double divisor = a[column][column];
    for (std::size_t j = 0; j < n; ++j) {
      a[column][j] /= divisor;
      result[column][j] /= divisor;
    }
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column];
      for (std::size_t j = 0; j < n; ++j) {
        a[row][j] -= factor * a[column][j];
        result[row][j] -= factor * result[column][j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[i][j] *= scale[i] * scale[j];
  return result;
}

}  // namespace

double Uncertain::sigma() const {
  double variance = 0;
  for (const auto& [source, error] : errors_) variance += error * error;
  return std::sqrt(variance);
}

Estimate Uncertain::estimate() const {
  const double half = normal_975 * sigma();
  return {value_, value_ - half, value_ + half};
}

Uncertain operator*(const Uncertain& u, double factor) {
  Uncertain result = u;
  result.value_ *= factor;
  for (auto& [source, error] : result.errors_) error *= factor;
  return result;
}

Uncertain operator+(const Uncertain& a, const Uncertain& b) {
  Uncertain result(a.value_ + b.value_);
  result.errors_.reserve(a.errors_.size() + b.errors_.size());
  auto i = a.errors_.begin();
  auto j = b.errors_.begin();
  while (i != a.errors_.end() || j != b.errors_.end()) {
    if (j == b.errors_.end() || (i != a.errors_.end() && i->first < j->first)) {
      result.errors_.push_back(*i++);
    } else if (i == a.errors_.end() || j->first < i->first) {
      result.errors_.push_back(*j++);
    } else {
      result.errors_.emplace_back(i->first, i->second + j->second);
      ++i;
      ++j;
    }
  }
  return result;
}

Uncertain operator-(const Uncertain& a, const Uncertain& b) { return a + b * -1.0; }

Uncertain ErrorSources::add(double value, double sigma) {
  Uncertain result(value);
  result.errors_.emplace_back(next_++, sigma);
  return result;
}

Solution least_squares(std::span<const Equation> equations, ErrorSources& sources) {
  if (equations.empty()) throw Error("least squares: no equations");
  const std::size_t unknowns = equations.front().coefficients.size();
  std::vector<double> weights;
  Matrix normal(unknowns, std::vector<double>(unknowns, 0.0));
  for (const Equation& equation : equations) {
    const double sigma = std::hypot(equation.observed.sigma(), least_relative_error * equation.observed.value());
    weights.push_back(sigma > 0 ? 1 / (sigma * sigma) : 1);
    for (std::size_t i = 0; i < unknowns; ++i)
      for (std::size_t j = 0; j < unknowns; ++j)
        normal[i][j] += weights.back() * equation.coefficients[i] * equation.coefficients[j];
  }
  const Matrix covariance = inverse(normal);

  Solution solution;
  solution.unknowns.assign(unknowns, Uncertain::exact(0));
  for (std::size_t e = 0; e < equations.size(); ++e) {
    for (std::size_t i = 0; i < unknowns; ++i) {
      double share = 0;
      for (std::size_t j = 0; j < unknowns; ++j) share += covariance[i][j] * weights[e] * equations[e].coefficients[j];
      solution.unknowns[i] = solution.unknowns[i] + share * equations[e].observed;
    }
  }

  // The Birge ratio measures scatter beyond the errors, which occurs because hardware does not follow a straight line
  // exactly.
  double chi_squared = 0;
  for (const Equation& equation : equations) {
    double residual = -equation.observed.value();
    for (std::size_t i = 0; i < unknowns; ++i) residual += equation.coefficients[i] * solution.unknowns[i].value();
    solution.residuals.push_back(residual);
    const double sigma = equation.observed.sigma();
    if (sigma > 0) chi_squared += residual * residual / (sigma * sigma);
  }
  if (equations.size() > unknowns) {
    const double ratio = chi_squared / static_cast<double>(equations.size() - unknowns);
    if (ratio > 1)
      for (Uncertain& unknown : solution.unknowns)
        unknown = unknown + sources.add(0, unknown.sigma() * std::sqrt(ratio - 1));
  }
  return solution;
}

}  // namespace shiplap
