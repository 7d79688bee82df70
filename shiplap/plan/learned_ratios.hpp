// Learned errors of the predicted times of batches, by choice and by how long the kernel takes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace shiplap {

/// Logarithms of observed over predicted times. The error of a prediction changes little with the ratio of the kernel's
/// time to the link's, so errors are stored by that ratio (relative to the planned ratio) in bins of half an octave.
class LearnedRatios {
 public:
  /// Starts without any known error of the `choices` choices.
  explicit LearnedRatios(std::size_t choices) : of_(choices, std::vector<std::optional<double>>(bins)) {}

  /// The error of the choice in the bin of `ratio`, else in its nearest known bin; 0 when none is known.
  double ratio_of(std::size_t choice, double ratio) const;
  /// The error of the choice in the bin of `ratio`. When it is not known, the error that is typical of the choices
  /// whose error is known, because a wrong estimate of the kernel's time affects all choices. When the error of only
  /// one choice is known, half of this error is returned, because it may be an error of that choice alone.
  double ratio_or_typical(std::size_t choice, double ratio) const;
  /// Whether the error of the choice in the bin of `ratio` is known.
  bool knows(std::size_t choice, double ratio) const { return of_.at(choice)[bin(ratio)].has_value(); }
  /// Whether an error of the choice is known in any bin.
  bool knows_any(std::size_t choice) const;
  /// Sets the error of the choice in the bin of `ratio`.
  void set(std::size_t choice, double ratio, double value) { of_.at(choice)[bin(ratio)] = value; }

 private:
  static constexpr std::size_t bins = 25;  // ratios from 1/64 to 64
  static std::size_t bin(double ratio);

  std::vector<std::vector<std::optional<double>>> of_;
};

}  // namespace shiplap
