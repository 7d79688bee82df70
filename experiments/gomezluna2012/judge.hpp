// Verdicts as pure functions of figures, each with its tolerance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "experiments/gomezluna2012/published.hpp"

namespace shiplap::experiments::gomez_luna {

/// The paper says "fits" without a figure; its graphs cannot be read to better than about this.
inline constexpr double fit_tolerance = 0.05;
/// The paper takes two numbers of streams as equally good within 1 %; following an estimate may cost a little more.
inline constexpr double optimum_tolerance = 0.01;
inline constexpr double regret_tolerance = 0.02;
/// Percentage points by which a gain may leave the published range: ranges are printed in whole points, and runs vary.
inline constexpr double gain_tolerance = 2;
/// A constant of hardware is the same within a factor of this.
inline constexpr double same_constant = 1.25;

/// How predictions fare: relative errors, predicted over observed minus 1.
struct Fit {
  std::size_t points = 0;
  double median = 0;  ///< of their absolute values
  double worst = 0;   ///< the largest absolute value, with its sign
};
Fit fit_of(std::span<const double> errors);
/// "1.2 % median, -7.4 % worst of 96 points"
std::string to_string(const Fit&);
/// Of a form as printed and, where there is one, with a change. Without points: cannot be checked.
Verdict verdict_of_fit(const Fit& printed, const std::optional<Fit>& changed = std::nullopt);
/// Of two hypotheses of which the paper keeps the first: it fits, and better than the other.
Verdict verdict_between(const Fit& kept, const Fit& refused);

/// The time under so many streams.
struct Timed {
  std::uint32_t streams = 1;
  double ms = 0;
};
/// All within `optimum_tolerance` of the best, ascending.
std::vector<std::uint32_t> best_streams(std::span<const Timed>);
/// "8", "4–8": as Table 2 prints them.
std::string to_string(const std::vector<std::uint32_t>& streams);
/// Of those that were run, the one nearest to an estimate by their ratio.
const Timed& nearest(std::span<const Timed>, double estimate);
/// What following an estimate costs: the better time of the numbers run on either side of it over the best, minus 1.
double regret(std::span<const Timed>, double estimate);
/// holds: all within `regret_tolerance`; with a change: all are with the changed form.
Verdict verdict_of_regrets(std::span<const double> printed, std::span<const double> changed);

/// In %, the lowest and highest; of none, zeros.
Range range_of(std::span<const double> values);
/// "8 to 19 %"
std::string to_string(const Range&);
/// holds: all gains within the published range and `gain_tolerance`; with a change: some are.
Verdict verdict_of_gains(const Range& published, std::span<const double> here);
/// Of two verdicts on the same claim the worse; one that cannot be checked leaves the other.
Verdict worse_of(Verdict, Verdict);

}  // namespace shiplap::experiments::gomez_luna
