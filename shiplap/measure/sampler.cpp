#include "shiplap/measure/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

/// Least number of samples for an interval of the median, because fewer agree by chance too often. For 5 samples, order
/// statistics give an interval of at most 94 %.
constexpr unsigned fewest_for_an_interval = 5;
/// Factor between numbers of samples at which the interval is checked. Each check may find a narrow interval by chance,
/// so there are few.
constexpr double between_looks = std::numbers::sqrt2;

bool narrow_enough(std::span<const double> samples, double relative_half_width) {
  const Estimate median = median_estimate(samples);
  return (median.high - median.low) / 2 <= relative_half_width * std::abs(median.value);
}

/// Leaves `most_kept_samples`, evenly spaced.
void keep_some(std::vector<double>& samples) {
  if (samples.size() <= most_kept_samples) return;
  for (std::size_t i = 0; i < most_kept_samples; ++i) samples[i] = samples[i * samples.size() / most_kept_samples];
  samples.resize(most_kept_samples);
}

}  // namespace

std::vector<std::vector<double>> sample(std::span<const Probe> probes, const SampleOptions& options) {
  if (probes.empty() || options.least == 0 || options.most < options.least)
    throw Error("sampling needs a probe, at least one sample and no upper limit below the lower one");
  for (unsigned i = 0; i < options.warm_up; ++i)
    for (const Probe& probe : probes) probe();

  std::vector<std::vector<double>> samples(probes.size());
  Seconds used{0};
  double look_at = std::max(fewest_for_an_interval, options.least);
  for (unsigned round = 1;; ++round) {
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const Reading reading = probes[i]();
      samples[i].push_back(in_microseconds(reading.time));
      used += std::max(reading.cost, reading.time);
    }
    if (options.deadline.passed()) break;
    if (round < options.least) continue;
    if (round >= options.most || used >= options.budget) break;
    if (round < std::lround(look_at)) continue;
    look_at *= between_looks;
    if (used < options.window && !all_equal(samples)) continue;
    if (std::ranges::all_of(samples, [&](const auto& s) { return narrow_enough(s, options.relative_half_width); }))
      break;
  }
  std::ranges::for_each(samples, keep_some);
  return samples;
}

bool all_equal(const std::vector<std::vector<double>>& samples) {
  return std::ranges::all_of(samples, [](const std::vector<double>& one) {
    return std::ranges::adjacent_find(one, std::not_equal_to()) == one.end();
  });
}

}  // namespace shiplap
