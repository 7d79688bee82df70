// Which of several ways is the fastest, by running them in turn and dropping those that are surely slower.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// How much is asked of a verdict.
struct EliminationOptions {
  unsigned least_rounds = 3;    ///< before a test decides anything
  unsigned most_rounds = 200;   ///< after which what is left counts as equally fast
  double alike = 0.002;         ///< share by which two may differ and be as good as each other
  double clearly_slower = 0.3;  ///< share beyond which two rounds are enough
};

/// What two sets of times, taken in turn, say of each other. By the ratios of times of the same round, so that what
/// slows down all of a round slows down none of them: Student's t on their logarithms, one-sided at 97.5 %.
struct TimesCompared {
  double slower = 0;    ///< share by which the first is slower than the second: the median over the rounds
  bool surely = false;  ///< more than `alike`, and not by chance
};
/// Of as many rounds as both have; from their first on.
TimesCompared compare_times(std::span<const double> seconds, std::span<const double> other, const EliminationOptions&);

/// Sequential elimination: every candidate that is left runs once in each round; one is dropped when it is surely
/// slower than the fastest so far.
class Elimination {
 public:
  /// At least one candidate, in the order of how likely each is the fastest.
  explicit Elimination(std::size_t candidates, const EliminationOptions& = {});

  /// Whoever runs in the present round, by number; the order changes from round to round.
  std::vector<std::size_t> round() const;
  /// What a candidate of the round took.
  void observe(std::size_t candidate, Seconds);
  /// Behind the last of a round: drops who is surely slower.
  void end_round();

  /// One is left, or those that are left are alike, or all rounds are spent.
  bool decided() const;
  /// The fastest by its median; of those that are not surely slower and differ by no more than `alike`, the first.
  std::size_t winner() const;
  bool is_left(std::size_t candidate) const { return left_[candidate]; }  ///< whether it is not dropped
  const std::vector<double>& seconds(std::size_t candidate) const { return seconds_[candidate]; }  ///< by round
  unsigned rounds() const { return rounds_; }                                                      ///< that have ended

 private:
  std::size_t fastest() const;
  EliminationOptions options_;
  std::vector<bool> left_;
  std::vector<std::vector<double>> seconds_;
  unsigned rounds_ = 0;
};

}  // namespace shiplap
