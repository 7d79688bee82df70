// Verdicts as pure functions of numbers, so that tests can choose the numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"
#include "experiments/werkhoven2014/published.hpp"
#include "shiplap/model/stage_times.hpp"

namespace shiplap::experiments::werkhoven {

using shiplap::to_string;  // text of times, which to_string of scenarios would hide

/// Relative difference below which two times are a tie. Medians of separate runs differ by this on an idle GPU.
inline constexpr double tie = 0.02;
/// Relative tolerance of a link parameter against the table. Links of the same kind differ by this.
inline constexpr double same_link = 0.10;

/// Adds the finding "cannot be checked" for each of these claims.
void cannot_check(StepResult&, std::span<const std::string_view> claims, const std::string& why);

/// Text of a fraction in per cent with its sign, as in "+12.30 %".
std::string signed_percent(double fraction);

/// Time of one burst of equal copies: observed, and by the model L+o + k·G + g·(n − 1).
struct Transfer {
  bool to_device = true;
  Bytes total;
  std::uint32_t copies = 1;
  Seconds observed{0};
  Seconds model{0};
  double error() const { return model / observed - 1; }  ///< relative error; positive means predicted too long
};
/// Largest errors of both signs in one direction.
struct Extremes {
  std::size_t points = 0;
  double over = 0;   ///< largest positive error, 0 where there is none
  double under = 0;  ///< largest negative error, 0 where there is none
  Bytes worst_size;  ///< size at which the largest error is
};
Extremes extremes(std::span<const Transfer>, bool to_device);

/// Claim table1: compares the six numbers with `table1()`.
Finding judge_table1(const loggp::Parameters& h2d, const loggp::Parameters& d2h);
/// Claim latency: g < L+o in both directions.
Finding judge_latency(const loggp::Parameters& h2d, const loggp::Parameters& d2h);
/// Claim stream-creation: `creation`, shared by the published number of uses, adds less than `tie` to g, which every
/// use takes for each message.
Finding judge_stream_creation(Seconds creation, Seconds gap);
/// Claims fig5 and fig6: the times are a straight line over the number of streams, and match the published one.
Finding judge_line(std::string_view claim, std::span<const Transfer>, bool to_device);
/// Claims error-h2d, error-d2h and largest-error.
std::vector<Finding> judge_transfer_errors(std::span<const Transfer>);

/// G of both directions, alone and in duplex.
struct DuplexRates {
  van_werkhoven_2014::UnderLoad alone;
  std::optional<van_werkhoven_2014::UnderLoad> copies;  ///< duplex copies by two copy engines
  std::optional<van_werkhoven_2014::UnderLoad> mapped;  ///< copies H2D while a kernel that fills the GPU writes results
                                                        ///< to mapped memory
};
/// Claims table2 and contention.
std::vector<Finding> judge_duplex(const DuplexRates&);

/// The stage that takes longest. `between`: the kernel takes longer than the H2D copies and less than the copies of
/// both directions together, where two obvious tests for the dominant stage disagree.
enum class Scenario : std::uint8_t { kernel, between, transfers };
/// Text of a scenario, as in "dominant kernel".
std::string to_string(Scenario);

/// Times of one number of streams on a device of a category.
struct CategoryPoint {
  van_werkhoven_2014::Category category{};
  Scenario scenario{};
  std::uint32_t chunks = 1;
  Seconds observed{0};
  Seconds printed{0};     ///< time by the equation that the test t_E > T_hd selects, with t_E as the sum over the
                          ///< chunks' kernels
  Seconds corrected{0};   ///< the larger time of both equations
  Seconds one_launch{0};  ///< `printed` with t_E of a single launch over all items
  StageTimes stages{};    ///< stage times with that sum as t_E
  /// Observed time with three streams, one each for copies in, kernels and copies out, on two copy engines. A stream
  /// for each chunk, as in the paper, lets kernels run concurrently, which no equation describes.
  std::optional<Seconds> three_streams{};
};
/// Claims eqs1-2, eqs3-4 and eq5, as far as there are points, and drawback.
std::vector<Finding> judge_equations(std::span<const CategoryPoint>);
/// Claim second-engine: compares one copy engine with two at the same scenario and number of chunks. The times of two
/// engines are those with three streams, which differ from the emulated single engine only in that the directions do
/// not share a stream.
Finding judge_second_engine(std::span<const CategoryPoint>);

/// The number of streams by the printed rule, and its cost.
struct StreamsChoice {
  van_werkhoven_2014::Category category{};
  Scenario scenario{};
  std::string rule;              ///< text of the rule: "√(Thd/g)"
  std::optional<double> wanted;  ///< number of streams by the rule; nullopt when the paper has no rule
  std::uint32_t nearest = 1;     ///< the number that was run for it (`standing_for`)
  std::uint32_t best = 1;        ///< the best number that was run
  double regret = 0;             ///< time at `nearest` over that at `best`, minus 1
};
/// The point that represents a wanted number of streams: that number if it was run, else the faster of the two next to
/// it. For a `smallest` number it is the next larger one. There must be at least one point, and points are by
/// increasing number.
const CategoryPoint& standing_for(std::span<const CategoryPoint>, double wanted, bool smallest);
/// Claim number-of-streams.
Finding judge_streams_choice(std::span<const StreamsChoice>);

/// Times of the four implementations of one kernel on a device of one category.
struct OceanTimes {
  std::size_t kernel = 0;  ///< index into `ocean_kernels`
  van_werkhoven_2014::Category category{};
  /// Observed times of the paper's variants: the kernel's own grid, and 42 streams.
  std::array<std::optional<Seconds>, 4> observed{};
  /// Best observed times with other grids, and for Hybrid with other numbers of streams and with three streams, where
  /// the kernel accesses host memory.
  std::array<std::optional<Seconds>, 4> tuned{};
  std::array<std::string, 4> tuned_as{};  ///< variant of the tuned time, as in "21 chunks, 16 blocks"
  /// Observed time of Streams on two copy engines with three streams, one each for copies in, kernels and copies out.
  /// It is shown and not judged.
  std::optional<Seconds> three_streams{};
  std::array<std::optional<Seconds>, 4> equation{};  ///< times by the equations, for `observed`
  /// Times by the other reading of §VIII, in which copies are slower only while both directions are busy, where a
  /// kernel accesses host memory.
  std::array<std::optional<Seconds>, 4> while_both_move{};
  std::array<std::optional<Seconds>, 4> simulated{};
};
/// Index of the least time; nullopt unless all four are present.
std::optional<std::size_t> fastest(const std::array<std::optional<Seconds>, 4>&);
/// Whether time `which` is the least or ties with it.
bool is_fastest(const std::array<std::optional<Seconds>, 4>&, std::size_t which);

/// Claims state, buoydiff-fig8, …-fig9, …-fig10 and classification, as far as the points have all four implementations.
/// `how` names the origin of the times, as in "by the equations".
std::vector<Finding> judge_fastest(std::span<const OceanTimes>, std::string_view how);
/// Claims error-explicit, …-implicit, …-streams, …-hybrid and hardest. Errors are compared by
/// |log(predicted/observed)|, so half of a time is as wrong as twice the time, and a published error of p % allows a
/// factor of 1 + p up or down.
std::vector<Finding> judge_ocean_errors(std::span<const OceanTimes>);
/// Claim bounds: compares the least time of any implementation with §III's full overlap, once with the bytes of both
/// directions added and once with each direction separately.
struct OverlapBound {
  std::string_view kernel;
  Seconds best{0};
  Seconds printed{0};
  Seconds corrected{0};
};
Finding judge_bounds(std::span<const OverlapBound>);

}  // namespace shiplap::experiments::werkhoven
