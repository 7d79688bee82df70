// Samples of an evaluation as files have them.
#pragma once

#include <cmath>
#include <vector>

namespace shiplap {

/// Samples in ms, rounded to 10 ns, which is finer than the clocks.
inline std::vector<double> as_in_files(std::vector<double> samples_ms) {
  for (double& ms : samples_ms) ms = std::round(ms * 1e5) / 1e5;
  return samples_ms;
}

}  // namespace shiplap
