// Takes the samples of one measured point: warm-up, repeats until the median is known well enough, a budget of time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// When to stop. A point is done when the 95 % interval of its median is narrow and `window` of the device's time has
/// been looked at (a disturbance of a few milliseconds would pass for the figure), when its budget is used up (but not
/// before `least` samples), or at `most` samples. Samples that are all equal have seen no disturbance.
struct SampleOptions {
  unsigned warm_up = 1;                ///< runs that are thrown away
  unsigned least = 5;                  ///< samples at least, whatever the budget
  unsigned most = 100;                 ///< samples at most
  double relative_half_width = 0.005;  ///< of the median's 95 % interval
  Seconds window{0};                   ///< device time that must be looked at, by all probes of the point together
  Seconds budget{0.25};                ///< device time that the point may take, all probes together
};

/// One run of what is timed: the figure, and what the run cost. On a virtual device both are virtual time, so that the
/// number of samples does not depend on the machine the simulation runs on.
struct Reading {
  Seconds time{0};
  Seconds cost{0};
};
using Probe = std::function<Reading()>;

/// Samples of every probe in µs, equally many of each. The probes take turns, so that a drift of the clocks meets all
/// of them alike and a difference of two medians stays clean. Every sample taken is returned.
/// The interval is looked at after 5, 7, 10, 14, 20, 28 … rounds only: the more often one looks, the likelier a
/// narrow interval is found by chance.
std::vector<std::vector<double>> sample(std::span<const Probe>, const SampleOptions& = {});

/// Whether the samples of each probe are all equal, as those of a simulated device are.
bool all_equal(const std::vector<std::vector<double>>& samples);

}  // namespace shiplap
