// Verdicts as pure functions of numbers, each with its tolerance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "experiments/gomezluna2012/published.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"

namespace shiplap::experiments::gomez_luna {

/// Largest relative error of a model that "fits". The paper has no figure, and its graphs can be read to about this
/// precision.
inline constexpr double fit_tolerance = 0.05;
/// Largest relative difference of two numbers of streams that are equally good, as in the paper.
inline constexpr double optimum_tolerance = 0.01;
inline constexpr double regret_tolerance = 0.02;
/// Percentage points by which a gain may exceed the published range, because ranges are printed in whole points and
/// runs vary.
inline constexpr double gain_tolerance = 2;
/// Largest relative difference of two times of the same work without streams.
inline constexpr double same_alone = 0.05;
/// Largest relative excess of a run without streams over the sum of its stages. A longer run was disturbed.
inline constexpr double alone_tolerance = 0.10;
/// Least relative difference between copies of both directions that is not noise.
inline constexpr double least_asymmetry = 0.01;
/// Largest factor between equal constants of the hardware.
inline constexpr double same_constant = 1.25;

/// Errors of predictions: predicted over observed minus 1.
struct Fit {
  std::size_t points = 0;
  double median = 0;  ///< median of the absolute errors
  double worst = 0;   ///< error with the largest absolute value, signed
};
Fit fit_of(std::span<const double> errors);
/// Text of a fit: "1.2 % median, -7.4 % worst of 96 points".
std::string to_string(const Fit&);
/// Verdict on a form as printed and, if there is one, with a change. Without points it is "cannot be checked".
Verdict verdict_of_fit(const Fit& printed, const std::optional<Fit>& changed = std::nullopt);
/// Verdict on two hypotheses of which the paper keeps the first: it holds when the first fits, and better than the
/// other.
Verdict verdict_between(const Fit& kept, const Fit& refused);

/// The paper's criterion that selects eq 1 or eq 3.
bool copies_dominate(const StageTimes&, std::uint32_t streams);
/// A point of Fig. 3 (top).
struct AsymmetricPoint {
  bool short_there = false;    ///< whether its kernel is shorter than the copies on the GTX 280, with 1, 2 or 4
                               ///< iterations
  gomez_luna_2012::Work work;  ///< inputs of the equations, with t_E as the sum over the streams' kernels
  Seconds observed{0};
  bool steady = true;
};
/// Finding on the times t_T where transfers dominate and t_E + t_T/n where the kernel does. The stages of each point
/// decide which applies, because a kernel that is short on the GTX 280 may be long here, where a launch of few threads
/// is less efficient.
Finding of_dominant(const std::string& claim, std::span<const AsymmetricPoint>, std::uint32_t streams);

/// The time with a number of streams.
struct Timed {
  std::uint32_t streams = 1;
  double ms = 0;
};
/// Numbers of streams within `optimum_tolerance` of the best, ascending.
std::vector<std::uint32_t> best_streams(std::span<const Timed>);
/// Text of numbers of streams in the form of Table 2: "8", "4–8".
std::string to_string(const std::vector<std::uint32_t>& streams);
/// The measured number of streams nearest to an estimate, by ratio.
const Timed& nearest(std::span<const Timed>, double estimate);
/// The integer for an estimate: of the two nearest, the one with the smaller time by the equations, from 1 (without
/// streams) to `most`.
std::uint32_t whole_streams(double estimate, const gomez_luna_2012::Work&, gomez_luna_2012::Architecture,
                            std::uint32_t most);
/// Cost of following an estimate: the better time of the measured numbers on either side of it over the best, minus 1.
double regret(std::span<const Timed>, double estimate);
/// Numbers of streams by the estimates for a size, and the best of a sweep. All are timed again alternately, because
/// the winner of a sweep wins partly by chance.
struct Duel {
  std::string_view size;
  Layout layout = Layout::one_engine;
  std::uint32_t printed = 1;  ///< number by the equations as printed; 1 means without streams
  std::uint32_t capped = 1;   ///< number with eq 2 capped
  std::uint32_t best = 1;     ///< best number of the sweep
  std::vector<Timed> times{};
  double noise = 0;  ///< relative noise of the least certain time
  bool steady = true;
  std::optional<double> alone_in_sweep{};  ///< ms; time without streams during the sweep

  std::optional<double> ms(std::uint32_t streams) const;
  /// Relative excess of the time over the best of the sweep.
  std::optional<double> longer(std::uint32_t streams) const;
  /// Whether times are not steady, or the time without streams differs from that of the sweep by more than
  /// `same_alone`. The best of the sweep may then not be the best here.
  bool disturbed() const;
};
/// Finding on a claim that estimates are near the optimum. The time that they cost must be at most
/// `regret_tolerance`, or the noise of the times. The claim may be wrong for `exceptions` sizes, which the publication
/// itself excludes. The finding leaves out and names disturbed cases, and cases in which neither the estimate nor the
/// best choice has streams.
Finding of_estimates(const std::string& claim, std::span<const Duel>, std::size_t exceptions = 0);

/// Verdict on costs: "holds" when all are within `regret_tolerance`, "holds with a change" when all are with the
/// changed form.
Verdict verdict_of_regrets(std::span<const double> printed, std::span<const double> changed);

/// Gain of streams over no streams: t_unstreamed / t_streamed − 1, in %.
struct Gain {
  double percent = 0;
  /// Largest possible gain when each stage takes its own time regardless of overlap, including the time that the run
  /// without streams loses between its stages.
  double most = 0;
  double noise = 0;    ///< noise of `percent`, in percentage points
  bool steady = true;  ///< whether both times are steady, and the stages, which add up to the time without streams
};
/// Largest gain for these stages. With `one_copy_engine`, copies of both directions share one engine.
double most_gain(const StageTimes&, Seconds handing_over, bool one_copy_engine);
/// Whether a gain is not steady, or exceeds the largest possible gain by more than its noise and `gain_tolerance`.
/// Something else took time then.
bool disturbed(const Gain&);
/// Text of a gain: "8.1", "17.0, disturbed".
std::string to_string(const Gain&);

/// Lowest and highest of values in %; zeros without values.
Range range_of(std::span<const double> values);
/// Text of a range: "8 to 19 %".
std::string to_string(const Range&);
/// Verdict on gains: "holds" when all are within the published range and `gain_tolerance`, "holds with a change" when
/// some are.
Verdict verdict_of_gains(const Range& published, std::span<const double> here);
/// Claim asymmetry. `longer` is the relative excess of the time of a D2H copy over an H2D copy.
Finding of_asymmetry(double longer);
/// Claim blocks: whether the best numbers of streams are below the estimated integer. `text` describes the observation.
Finding of_blocks(std::uint32_t estimated, const std::vector<std::uint32_t>& best, bool steady,
                  const std::string& text);
/// Claim adaptation: gains of the protocol over no streams, and of Adaptive over the protocol (empty where it did not
/// run), in %. `changes` is the number of cases in which the two halves need different numbers of streams.
Finding of_adaptation(std::span<const double> adapted, std::span<const double> ours, std::size_t changes);
/// The worse of two verdicts on a claim. "Cannot be checked" yields to the other verdict.
Verdict worse_of(Verdict, Verdict);

}  // namespace shiplap::experiments::gomez_luna
