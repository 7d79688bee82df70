// Times of runs that are compared. The runs alternate, in visits with other work between them, which shows whether the
// times can be trusted.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace shiplap::experiments {

/// Runs once and returns the time in ms.
using TimedRun = std::function<double()>;

/// Largest relative difference between the medians of two visits that agree. Medians within 3 µs, the precision of
/// clocks and submission, agree too. The effects that are looked for exceed a tenth.
inline constexpr double steady_tolerance = 0.05;
inline constexpr double steady_floor_ms = 3e-3;
/// Largest relative width of the middle half of all samples that do not scatter. A width of 3 µs is allowed too.
inline constexpr double scatter_tolerance = 0.10;
inline constexpr double scatter_floor_ms = 5e-3;
/// Most visits of a run that does not become steady.
inline constexpr unsigned most_visits = 4;

/// Combined result of the visits of one run.
struct Settled {
  double ms = 0;     ///< median of the samples of all visits that agree with the fastest one, because disturbances only
                     ///< add time
  double noise = 0;  ///< half of the 95 % interval of that median, as a fraction of it
  /// Whether at least two visits agree with the fastest one and their samples do not scatter, or all samples are equal.
  bool steady = false;
};
/// Combines the visits of one run. Throws Error without samples.
Settled settled(std::span<const std::vector<double>> visits);

/// Runs that alternate.
class InTurn {
 public:
  /// `before` is called before each visit and is not timed.
  explicit InTurn(std::vector<TimedRun> runs, std::function<void()> before = {});

  /// Makes every run once untimed, then `rounds` rounds of all runs.
  void visit(unsigned rounds);
  unsigned visits() const { return visits_; }
  bool steady() const;
  /// The result of the i-th run. Throws Error before the first visit.
  Settled of(std::size_t i) const { return settled(samples_.at(i)); }

 private:
  std::vector<TimedRun> runs_;
  std::function<void()> before_;
  std::vector<std::vector<std::vector<double>>> samples_;  ///< samples by run and visit
  unsigned visits_ = 0;
};

/// Visits all groups twice, one after another, and those that are not steady up to `most_visits` times. A group whose
/// samples are all equal is visited once.
void settle(std::span<InTurn* const>, unsigned rounds);

}  // namespace shiplap::experiments
