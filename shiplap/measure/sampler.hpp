// Takes the samples of one measured point: a warm-up, then runs until the median is precise enough or the time budget
// is used.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// When sampling stops: when the 95 % interval of the median is narrow and the runs have covered `window` of device
/// time, when the budget is used (but not before `least` samples), or at `most` samples. Disturbances last some
/// milliseconds, so the window must be longer. When all samples are equal, the window is not needed.
struct SampleOptions {
  unsigned warm_up = 1;                ///< runs before the first sample
  unsigned least = 5;                  ///< least number of samples, regardless of the budget
  unsigned most = 100;                 ///< largest number of samples
  double relative_half_width = 0.005;  ///< target half width of the median's 95 % interval
  Seconds window{0};                   ///< least device time of all probes of the point together
  Seconds budget{0.25};                ///< most device time of all probes of the point together
  Deadline deadline{};                 ///< after this moment no round of samples begins, whatever `least` says
};

/// Result of one run: the measured time, and the device time that the run used. On a virtual device both are simulated,
/// so the number of samples does not depend on the host.
struct Reading {
  Seconds time{0};
  Seconds cost{0};
};
using Probe = std::function<Reading()>;

/// Most samples of a probe that are kept: a full measurement has hundreds of points, and its file must stay one that is
/// read (`limits::document_bytes`).
inline constexpr std::size_t most_kept_samples = 4000;

/// Samples of every probe in µs, the same number for each. The samples of the probes alternate, so that a drift of the
/// clocks affects all of them equally and cancels in differences of medians. Of more than `most_kept_samples` of a
/// probe this number is returned, evenly spaced in time. The interval is checked only after 5, 7, 10, 14, 20, 28 …
/// rounds, because frequent checks find a narrow interval by chance.
std::vector<std::vector<double>> sample(std::span<const Probe>, const SampleOptions& = {});

/// Whether the samples of each probe are all equal, as on a simulated device.
bool all_equal(const std::vector<std::vector<double>>& samples);

}  // namespace shiplap
