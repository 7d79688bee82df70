// Verdicts as pure functions of figures, each with its tolerance.
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

/// The paper says "fits" without a figure; its graphs cannot be read to better than about this.
inline constexpr double fit_tolerance = 0.05;
/// The paper takes two numbers of streams as equally good within 1 %; following an estimate may cost a little more.
inline constexpr double optimum_tolerance = 0.01;
inline constexpr double regret_tolerance = 0.02;
/// Percentage points by which a gain may leave the published range: ranges are printed in whole points, and runs vary.
inline constexpr double gain_tolerance = 2;
/// Two times without streams of the same work.
inline constexpr double same_alone = 0.05;
/// A run without streams takes its stages one after the other; one that takes longer by more than this was disturbed.
inline constexpr double alone_tolerance = 0.10;
/// Copies of the two directions that differ by less do so by noise.
inline constexpr double least_asymmetry = 0.01;
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

/// What the paper tells eq 1 from eq 3 by.
bool copies_dominate(const StageTimes&, std::uint32_t streams);
/// A point of Fig. 3 (top).
struct AsymmetricPoint {
  bool short_there = false;    ///< its kernel is shorter than the copies on the GTX 280: 1, 2 and 4 iterations
  gomez_luna_2012::Work work;  ///< with t_E as the sum over the streams' kernels
  Seconds observed{0};
  bool steady = true;
};
/// t_T where transfers dominate, t_E + t_T/n where the kernel does. Which is which is told by the stages of each point:
/// a kernel that is short there need not be here, where a launch of few threads takes longer than its share.
Finding of_dominant(const std::string& claim, std::span<const AsymmetricPoint>, std::uint32_t streams);

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
/// The whole number that follows from an estimate: of both beside it the one that the equations put first, without
/// streams below 2; no more than `most`.
std::uint32_t whole_streams(double estimate, const gomez_luna_2012::Work&, gomez_luna_2012::Architecture,
                            std::uint32_t most);
/// What following an estimate costs: the better time of the numbers run on either side of it over the best, minus 1.
double regret(std::span<const Timed>, double estimate);
/// The numbers that estimates give for a size, beside the best of a sweep, all of them timed again in turn: the best of
/// many was the best partly by luck.
struct Duel {
  std::string_view size;
  Layout layout = Layout::one_engine;
  std::uint32_t printed = 1;  ///< by the equations as printed; 1: without streams
  std::uint32_t capped = 1;   ///< with eq 2 capped
  std::uint32_t best = 1;     ///< of the sweep
  std::vector<Timed> times{};
  double noise = 0;  ///< of the least certain of the times, as a share
  bool steady = true;
  std::optional<double> alone_in_sweep{};  ///< in ms, the time without streams when the best was looked for

  std::optional<double> ms(std::uint32_t streams) const;
  /// Than the best of the sweep, as a share.
  std::optional<double> longer(std::uint32_t streams) const;
  /// Times that are not steady, or of which that without streams is another than in the sweep by more than
  /// `same_alone`: what was the best there need not be here.
  bool disturbed() const;
};
/// On a claim that estimates are near the optimum: by what they cost, at most `regret_tolerance`, or what two times
/// differ by that are as noisy; the claim may leave out a few sizes itself. Cases that were disturbed are left out,
/// and so are those in which neither the estimate nor the best has streams: they are named apart.
Finding of_estimates(const std::string& claim, std::span<const Duel>, std::size_t exceptions = 0);

/// holds: all within `regret_tolerance`; with a change: all are with the changed form.
Verdict verdict_of_regrets(std::span<const double> printed, std::span<const double> changed);

/// What streams gain over none: t_unstreamed / t_streamed − 1, in %.
struct Gain {
  double percent = 0;
  /// Each stage takes its own time whatever overlaps it: no more than this, with what the run without streams loses
  /// between its stages.
  double most = 0;
  double noise = 0;    ///< of `percent`, in points
  bool steady = true;  ///< of both times and the stages, which add up to the time without streams
};
/// Of stages, of which copies of both directions share one engine or do not.
double most_gain(const StageTimes&, Seconds handing_over, bool one_copy_engine);
/// A gain that is not steady, or above what there is to gain by more than its noise and `gain_tolerance`: something
/// else took time, which says nothing of streams.
bool disturbed(const Gain&);
/// "8.1", "17.0, disturbed"
std::string to_string(const Gain&);

/// In %, the lowest and highest; of none, zeros.
Range range_of(std::span<const double> values);
/// "8 to 19 %"
std::string to_string(const Range&);
/// holds: all gains within the published range and `gain_tolerance`; with a change: some are.
Verdict verdict_of_gains(const Range& published, std::span<const double> here);
/// asymmetry: by how much a copy takes longer to the host than to the GPU, as a share.
Finding of_asymmetry(double longer);
/// blocks: whether the best numbers of streams lie below the whole number that is estimated. `text` says what was seen.
Finding of_blocks(std::uint32_t estimated, const std::vector<std::uint32_t>& best, bool steady,
                  const std::string& text);
/// adaptation: gains of the protocol over no streams, and of Adaptive over the protocol (empty where it did not run),
/// in
/// %; `changes`: cases in which the two halves ask for different numbers of streams.
Finding of_adaptation(std::span<const double> adapted, std::span<const double> ours, std::size_t changes);
/// Of two verdicts on the same claim the worse; one that cannot be checked leaves the other.
Verdict worse_of(Verdict, Verdict);

}  // namespace shiplap::experiments::gomez_luna
