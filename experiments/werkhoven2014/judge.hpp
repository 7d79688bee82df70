// Verdicts from numbers: pure functions, so that tests can plant the numbers.
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

using shiplap::to_string;  // of times, which experiments::to_string hides

/// Two times that differ by less are a tie: medians of separate runs do, on a GPU that is shared by nobody.
inline constexpr double tie = 0.02;
/// A parameter of a link is that of the table when it is within this: what links of the same kind differ by.
inline constexpr double same_link = 0.10;

/// A finding that something cannot be checked, for each of these claims.
void cannot_check(StepResult&, std::span<const std::string_view> claims, const std::string& why);

/// "12.30 %", with a sign.
std::string signed_percent(double fraction);

/// One burst of equal copies: observed, and by L+o + k·G + g·(n − 1).
struct Transfer {
  bool to_device = true;
  Bytes total;
  std::uint32_t copies = 1;
  Seconds observed{0};
  Seconds model{0};
  double error() const { return model / observed - 1; }  ///< positive: predicted too long
};
/// Largest errors of both signs over one direction, with where they are.
struct Extremes {
  std::size_t points = 0;
  double over = 0;   ///< largest positive error, 0 where there is none
  double under = 0;  ///< largest negative error, likewise
  Bytes worst_size;  ///< where the largest of either sign is
};
Extremes extremes(std::span<const Transfer>, bool to_device);

/// table1: the six numbers against `table1()`.
Finding judge_table1(const loggp::Parameters& h2d, const loggp::Parameters& d2h);
/// latency: g < L+o both ways.
Finding judge_latency(const loggp::Parameters& h2d, const loggp::Parameters& d2h);
/// fig5 and fig6: a straight line in the number of streams, and the published one.
Finding judge_line(std::string_view claim, std::span<const Transfer>, bool to_device);
/// error-h2d, error-d2h, largest-error.
std::vector<Finding> judge_transfer_errors(std::span<const Transfer>);

/// G of both directions, alone and while the other is busy.
struct BothWays {
  van_werkhoven_2014::UnderLoad alone;
  std::optional<van_werkhoven_2014::UnderLoad> copies;  ///< by two copy engines
  std::optional<van_werkhoven_2014::UnderLoad> mapped;  ///< results written by a kernel that fills the GPU
};
/// table2 and contention.
std::vector<Finding> judge_both_ways(const BothWays&);

/// What takes longest. `between`: the kernel takes longer than the copies to the GPU, and less than those both ways,
/// where the two obvious tests of what dominates differ.
enum class Scenario : std::uint8_t { kernel, between, transfers };
/// "dominant kernel"
std::string to_string(Scenario);

/// One point of streams on a device of a category.
struct CategoryPoint {
  van_werkhoven_2014::Category category{};
  Scenario scenario{};
  std::uint32_t chunks = 1;
  Seconds observed{0};
  Seconds printed{0};     ///< the equation that t_E > T_hd selects; t_E is the sum over the chunks' kernels
  Seconds corrected{0};   ///< the larger of both
  Seconds one_launch{0};  ///< `printed` with t_E of one launch over everything, whatever the number of chunks
  StageTimes stages{};    ///< with the sum
  /// Of two copy engines: with three streams, one each for copies in, kernels and copies out. A stream for each stream,
  /// as the paper has, lets kernels run side by side, which no equation has.
  std::optional<Seconds> three_streams{};
};
/// eqs1-2, eqs3-4, eq5 (those with points), and drawback.
std::vector<Finding> judge_equations(std::span<const CategoryPoint>);
/// second-engine: one engine against two of the same scenario and number of chunks. Of two engines the times in three
/// streams, which differ from the one emulated engine in nothing but what shares a stream of copies.
Finding judge_second_engine(std::span<const CategoryPoint>);

/// Where the printed rule puts the number of streams, and what that costs.
struct StreamsChoice {
  van_werkhoven_2014::Category category{};
  Scenario scenario{};
  std::string rule;              ///< "√(Thd/g)"
  std::optional<double> wanted;  ///< number of streams; nullopt: the paper has no rule
  std::uint32_t nearest = 1;     ///< of those run, see `standing_for`
  std::uint32_t best = 1;        ///< of those run
  double regret = 0;             ///< time at `nearest` over that at `best`, minus 1
};
/// What was run for a wanted number of streams: that number, else the faster of the two beside it; of a `smallest`
/// number the next one. Points are by increasing number; there is one at least.
const CategoryPoint& standing_for(std::span<const CategoryPoint>, double wanted, bool smallest);
/// number-of-streams.
Finding judge_streams_choice(std::span<const StreamsChoice>);

/// One kernel on a device of one category: the four implementations.
struct OceanTimes {
  std::size_t kernel = 0;  ///< index into `ocean_kernels`
  van_werkhoven_2014::Category category{};
  /// As the paper has it: the kernel's own grid, 42 streams with a stream each.
  std::array<std::optional<Seconds>, 4> observed{};
  /// The best of other grids and, of Hybrid, of other numbers of streams and in three streams, where it accesses host
  /// memory.
  std::array<std::optional<Seconds>, 4> tuned{};
  std::array<std::string, 4> tuned_as{};  ///< "21 chunks, 16 blocks"
  /// Of Streams on two copy engines: three streams, one each for copies in, kernels and copies out. Shown, not judged.
  std::optional<Seconds> three_streams{};
  std::array<std::optional<Seconds>, 4> equation{};  ///< of `observed`
  /// The other reading of §VIII: slower only while both directions move, where a kernel accesses host memory.
  std::array<std::optional<Seconds>, 4> while_both_move{};
  std::array<std::optional<Seconds>, 4> simulated{};
};
/// The least; nullopt unless all four are there.
std::optional<std::size_t> fastest(const std::array<std::optional<Seconds>, 4>&);
/// Whether `which` is the least, or ties with it.
bool is_fastest(const std::array<std::optional<Seconds>, 4>&, std::size_t which);

/// state, buoydiff-fig8, …-fig9, …-fig10, classification: as far as the points have all four implementations. `how`
/// says where the times come from: "by the equations".
std::vector<Finding> judge_fastest(std::span<const OceanTimes>, std::string_view how);
/// error-explicit, …-implicit, …-streams, …-hybrid, hardest. Errors are compared by |log(predicted/observed)|: half of
/// a time is as far off as twice, and a published p % allows a factor of 1 + p both ways.
std::vector<Finding> judge_ocean_errors(std::span<const OceanTimes>);
/// bounds: the least time any implementation took, against §III's full overlap with the bytes of both directions added
/// and with each direction by itself.
struct OverlapBound {
  std::string_view kernel;
  Seconds best{0};
  Seconds printed{0};
  Seconds corrected{0};
};
Finding judge_bounds(std::span<const OverlapBound>);

}  // namespace shiplap::experiments::werkhoven
