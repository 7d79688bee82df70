// Verdicts on the report's claims, as pure functions of sweeps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/cells.hpp"
#include "experiments/eth2025/published.hpp"
#include "experiments/eth2025/sweep.hpp"
#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

/// Largest relative difference of equal speed-ups. The same point of the report is 1.766 in one run and 1.814 in
/// another, and our machine is a different one.
inline constexpr double alike = 0.10;
/// Largest relative cost of a number of streams that counts as good as the best, because the optimum is flat.
inline constexpr double as_good = 0.05;
/// Least speed-up that counts as a gain, because medians of runs differ by 1 to 2 %.
inline constexpr double gain = 1.02;

/// Compares the best speed-up of one sweep with the published one; `what` names the sweep.
Finding best_speedup(std::string_view claim, const Sweep&, const PublishedBest&, const std::string& what);

// Verdicts on Figs 1 and 2, from sweeps of one call by increasing number of elements.
Finding grows_with_size(std::span<const Sweep>);      ///< "fig1-size"
Finding optimum_depends(std::span<const Sweep>);      ///< "fig1-streams"
Finding pays_from(std::span<const Sweep>);            ///< "fig2-from"
Finding many_streams_pay(std::span<const Sweep>);     ///< "fig2-256"
Finding overhead_of_streams(std::span<const Sweep>);  ///< "fig2-overhead"
Finding gt4py_arccos(const Sweep& largest);           ///< "fig2-gt4py"

// Verdicts on Fig. 3, from sweeps by increasing number of calls.
/// Number of calls at which the kernel takes as long as the copies, by linear interpolation between sweeps. nullopt
/// where the kernel is always or never longer, or without a sweep of one call, whose time is that of the copies.
std::optional<double> balance_of_calls(std::span<const Sweep>);
/// Numbers of calls near the balance for which there is no sweep yet.
std::vector<std::uint32_t> calls_around(double balance, std::span<const Sweep>, bool few);
/// Claim "fig3-peak"; `of` names the array.
Finding peak_of_calls(std::span<const Sweep>, const std::string& of);
Finding two_is_most(std::span<const Sweep>, const std::string& of);  ///< "fig3-limit"
Finding falls_beyond(std::span<const Sweep>);                        ///< "fig3-beyond"

// Verdicts on the stencil, from sweeps by increasing number of levels.
Finding gain_grows_with_levels(std::span<const Sweep>);     ///< "fig4-growth"
Finding optimum_moves_with_levels(std::span<const Sweep>);  ///< "fig4-streams"
/// `one_launch_ms` is the time in one stream with one launch for each step of all levels.
Finding kernels_side_by_side(const Sweep& level_by_level, std::optional<double> one_launch_ms);  ///< "fig5"
Finding gain_of_squares(std::span<const Sweep>);                                                 ///< "squares"

/// Wrong results that a tolerance accepts, for one number of arccos calls.
struct Passed {
  unsigned calls = 1;
  bool zeros_there = false;    ///< the published tolerance accepts zeros
  bool zeros_here = false;     ///< the check of the built-in workload accepts zeros
  bool one_more_here = false;  ///< that check accepts the results of one call more
};
Finding tolerance_of_results(std::span<const Passed>);  ///< claim "validation"; entries by increasing number of calls

/// The straight line through times over the number of steps (least squares), for one number of levels.
struct Line {
  std::uint64_t levels = 0;
  double ms = 0;           ///< intercept in ms
  double ms_per_step = 0;  ///< slope in ms per step
  double off = 0;          ///< largest deviation of a point, relative to its time
};
/// Fits the line. Throws Error for fewer than two different numbers of steps.
Line line_through(std::uint64_t levels, const std::vector<std::pair<double, double>>& steps_and_ms);
Finding linear_in_steps(std::span<const Line> one_stream);                            ///< "fig7-linear"
Finding gt4py_stencil(std::span<const Line> one_stream, std::span<const Line> best);  ///< "fig6-gt4py"
Finding slope_and_levels(std::span<const Line> one_stream);                           ///< "fig8-slope"

}  // namespace shiplap::experiments::eth
