// Times of things that are to be compared: taken in turn, in visits with other work between, and whether they can be
// trusted.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace shiplap::experiments {

/// Runs once; how long that took, in ms.
using TimedRun = std::function<double()>;

/// Medians of two visits that differ by no more are the same, as are those within 3 µs: about what clocks and
/// submission leave open. What is to be noticed makes runs longer by a tenth and more.
inline constexpr double steady_share = 0.05;
inline constexpr double steady_floor_ms = 3e-3;
/// Half of all samples lie this close together, or within the same few µs.
inline constexpr double scatter_share = 0.10;
inline constexpr double scatter_floor_ms = 5e-3;
/// No further visits to what does not become steady.
inline constexpr unsigned most_visits = 4;

/// What the visits to one thing come to.
struct Settled {
  double ms = 0;     ///< median of the samples of all visits that agree with the fastest: disturbances only add time
  double noise = 0;  ///< half of the 95 % interval of that median, as a share of it
  /// Two visits at least agree with the fastest and their samples do not scatter; or all samples are equal.
  bool steady = false;
};
/// Throws Error without samples.
Settled settled(std::span<const std::vector<double>> visits);

/// Things that are run in turn.
class InTurn {
 public:
  /// `before`: what is done before each visit, untimed.
  explicit InTurn(std::vector<TimedRun> runs, std::function<void()> before = {});

  /// Every run once untimed, then `rounds` rounds of all of them.
  void visit(unsigned rounds);
  unsigned visits() const { return visits_; }
  bool steady() const;
  /// Of the i-th run. Throws Error before the first visit.
  Settled of(std::size_t i) const { return settled(samples_.at(i)); }

 private:
  std::vector<TimedRun> runs_;
  std::function<void()> before_;
  std::vector<std::vector<std::vector<double>>> samples_;  ///< by run and visit
  unsigned visits_ = 0;
};

/// Visits all of them, one after the other, twice, and those that are not steady yet up to `most_visits` times; once
/// where all samples are equal.
void settle(std::span<InTurn* const>, unsigned rounds);

}  // namespace shiplap::experiments
