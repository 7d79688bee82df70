// Numbers with errors that know where they come from, and least squares with them: what shares a measurement stays
// correlated, so that the interval of a difference is right.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "shiplap/core/statistics.hpp"

namespace shiplap {

/// value + Σ errorᵢ · (standard normal i); sources i are independent of each other.
class Uncertain {
 public:
  Uncertain() = default;
  static Uncertain exact(double value) { return Uncertain(value); }

  double value() const { return value_; }
  double sigma() const;
  /// The 95 % interval.
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
  std::vector<std::pair<std::uint32_t, double>> errors_;  // by increasing source
};

/// Numbers the independent sources of error of one fit.
class ErrorSources {
 public:
  Uncertain add(double value, double sigma);

 private:
  std::uint32_t next_ = 0;
};

/// Σ coefficientsᵢ · unknownᵢ = observed.
struct Equation {
  std::vector<double> coefficients;
  Uncertain observed;
};

struct Solution {
  std::vector<Uncertain> unknowns;
  /// (fit − observed) of each equation.
  std::vector<double> residuals;
};

/// Weighted least squares. An equation weighs 1 / (its variance + (0.1 % of it)²): no single point with a lucky spread
/// may decide alone. Where the equations scatter more than their errors explain, a further error widens the unknowns to
/// what the scatter says. Throws Error when the equations do not determine the unknowns.
Solution least_squares(std::span<const Equation>, ErrorSources&);

}  // namespace shiplap
