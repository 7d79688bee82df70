// What batches take beyond what was predicted of them, by choice and by how long the kernel takes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace shiplap {

/// Logarithms of observed over predicted spans. A prediction is off by about as much for kernels that take about as
/// long, so factors of the kernel's time fall into bins of half an octave, and one that nothing is known of takes over
/// what its nearest neighbour has.
class LearnedSpans {
 public:
  /// Of so many choices, about which nothing is known.
  explicit LearnedSpans(std::size_t choices) : of_(choices, std::vector<std::optional<double>>(bins)) {}

  /// 0 where nothing is known of the choice.
  double at(std::size_t choice, double kernel_factor) const;
  /// Whether it was set for this very bin.
  bool knows(std::size_t choice, double kernel_factor) const { return of_.at(choice)[bin(kernel_factor)].has_value(); }
  /// Whether it was set for any.
  bool knows_any(std::size_t choice) const;
  /// Takes the place of what is known of the bin.
  void set(std::size_t choice, double kernel_factor, double value) { of_.at(choice)[bin(kernel_factor)] = value; }

 private:
  static constexpr std::size_t bins = 25;  // 1/64 to 64
  static std::size_t bin(double kernel_factor);

  std::vector<std::vector<std::optional<double>>> of_;
};

}  // namespace shiplap
