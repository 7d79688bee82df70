// Numbers with errors and their sources, and least squares with them. Numbers that depend on the same measurement stay
// correlated, so the interval of their difference is right.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "shiplap/core/interval.hpp"

namespace shiplap {

/// The number value + Σ errorᵢ · (standard normal variable i). The sources i are independent.
class Uncertain {
 public:
  Uncertain() = default;
  static Uncertain exact(double value) { return Uncertain(value); }

  double value() const { return value_; }
  double sigma() const;
  /// The value with its 95 % interval.
  Estimate estimate() const;

  friend Uncertain operator+(const Uncertain&, const Uncertain&);
  friend Uncertain operator-(const Uncertain&, const Uncertain&);
  friend Uncertain operator*(const Uncertain&, double);
  friend Uncertain operator*(double factor, const Uncertain& u) { return u * factor; }
  friend Uncertain operator/(const Uncertain& u, double divisor) { return u * (1 / divisor); }

 private:
  friend class ErrorSources;
  explicit Uncertain(double value) : value_(value) {}
  double value_ = 0;
  std::vector<std::pair<std::uint32_t, double>> errors_;  // errors in increasing order of source
};

/// Numbers the independent sources of error of one fit.
class ErrorSources {
 public:
  Uncertain add(double value, double sigma);

 private:
  std::uint32_t next_ = 0;
};

/// The equation Σ coefficientsᵢ · unknownᵢ = observed.
struct Equation {
  std::vector<double> coefficients;
  Uncertain observed;
};

struct Solution {
  std::vector<Uncertain> unknowns;
  /// Fitted minus observed value of each equation.
  std::vector<double> residuals;
};

/// Weighted least squares. The weight of an equation is 1 / (its variance + (0.1 % of it)²), so that a point with a
/// very small spread by chance does not dominate. Where the equations scatter more than their errors explain, the
/// errors of the unknowns are increased accordingly. Throws Error when the equations do not determine the unknowns.
Solution least_squares(std::span<const Equation>, ErrorSources&);

}  // namespace shiplap
