// Finds the fastest of several candidates by sequential elimination: candidates run in turn, and one is dropped as soon
// as it is significantly slower than the fastest.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Thresholds of the elimination.
struct EliminationOptions {
  unsigned least_rounds = 3;    ///< rounds before the t-test may drop a candidate
  unsigned most_rounds = 200;   ///< rounds after which the remaining candidates count as equally fast
  double alike = 0.002;         ///< relative difference below which two candidates count as equal
  double clearly_slower = 0.3;  ///< relative difference above which two rounds suffice to drop a candidate
};

/// Comparison of two candidates by the ratio of their times in each round. Noise that slows down a whole round cancels
/// in the ratio. Significance is decided by Student's t on the logarithms of the ratios, one-sided at 97.5 %.
struct TimesCompared {
  double slower = 0;    ///< median of seconds[i] / other[i] over the rounds, minus 1; positive: the first is slower
  bool surely = false;  ///< whether the first is slower by more than `alike`, and significantly so
};
/// Compares the rounds that both candidates took part in. Element i of each span is the time in round i, in seconds.
TimesCompared compare_times(std::span<const double> seconds, std::span<const double> other, const EliminationOptions&);

/// Sequential elimination. Every remaining candidate runs once in each round; after the round, candidates that are
/// significantly slower than the fastest are dropped.
class Elimination {
 public:
  /// Candidates are numbered from 0, the one that is most likely the fastest first. Throws Error when there are none.
  explicit Elimination(std::size_t candidates, const EliminationOptions& = {});

  /// Returns the candidates of the current round in the order to run them. The order differs between rounds.
  std::vector<std::size_t> round() const;
  /// Records the time of a candidate in the current round.
  void observe(std::size_t candidate, Seconds);
  /// Ends the round and drops the candidates that are significantly slower than the fastest.
  void end_round();

  /// Returns whether one candidate remains, the remaining ones are known to be equal, or all rounds are used.
  bool decided() const;
  /// Returns the candidate with the least median time. Among candidates that differ by at most `alike`, it is the one
  /// with the lowest number.
  std::size_t winner() const;
  bool is_left(std::size_t candidate) const { return left_[candidate]; }  ///< whether the candidate remains
  const std::vector<double>& seconds(std::size_t candidate) const {
    return seconds_[candidate];
  }                                            ///< times by round, in seconds
  unsigned rounds() const { return rounds_; }  ///< number of rounds that have ended

 private:
  std::size_t fastest() const;
  EliminationOptions options_;
  std::vector<bool> left_;
  std::vector<std::vector<double>> seconds_;
  unsigned rounds_ = 0;
};

}  // namespace shiplap
