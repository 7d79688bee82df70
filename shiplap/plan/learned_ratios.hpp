// What batches take beyond what was predicted of them, by choice and by how long the kernel takes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace shiplap {

/// Logarithms of observed over predicted times. A prediction is off by about as much for kernels that take about as
/// long beside the link, so the factor of the kernel over that of the link falls into bins of half an octave.
class LearnedRatios {
 public:
  /// Of so many choices, about which nothing is known.
  explicit LearnedRatios(std::size_t choices) : of_(choices, std::vector<std::optional<double>>(bins)) {}

  /// What is known of the bin; else of the nearest one of the choice; 0 where nothing is.
  double at(std::size_t choice, double ratio) const;
  /// The same, but where nothing is known of the bin what is typical of the choices about which something is: how long
  /// kernels take is known from one choice at a time, and where that is wrong it is so for all. One choice alone may be
  /// off by itself: half of what it is off by counts.
  double at_or_typical(std::size_t choice, double ratio) const;
  /// Whether it was set for this very bin.
  bool knows(std::size_t choice, double ratio) const { return of_.at(choice)[bin(ratio)].has_value(); }
  /// Whether it was set for any.
  bool knows_any(std::size_t choice) const;
  /// Takes the place of what is known of the bin.
  void set(std::size_t choice, double ratio, double value) { of_.at(choice)[bin(ratio)] = value; }

 private:
  static constexpr std::size_t bins = 25;  // 1/64 to 64
  static std::size_t bin(double ratio);

  std::vector<std::vector<std::optional<double>>> of_;
};

}  // namespace shiplap
