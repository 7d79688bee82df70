// What the sweeps say of the report's claims: pure functions of the data.
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

/// Speed-ups that differ by less are alike: the same point of the report is 1.766 in one run and 1.814 in another, and
/// our figures are of another machine.
inline constexpr double alike = 0.10;
/// Another number of streams is as good as the best when it costs no more: the optimum is flat.
inline constexpr double as_good = 0.05;
/// A speed-up of less is no gain: medians of runs differ by 1 to 2 % anyway.
inline constexpr double gain = 1.02;

/// A claim about the best speed-up of one sweep against the published one; `what` names the sweep.
Finding best_speedup(std::string_view claim, const Sweep&, const PublishedBest&, const std::string& what);

// Figs 1 and 2: sweeps of one call by elements, in increasing order.
Finding grows_with_size(std::span<const Sweep>);      ///< "fig1-size"
Finding optimum_depends(std::span<const Sweep>);      ///< "fig1-streams"
Finding pays_from(std::span<const Sweep>);            ///< "fig2-from"
Finding many_streams_pay(std::span<const Sweep>);     ///< "fig2-256"
Finding overhead_of_streams(std::span<const Sweep>);  ///< "fig2-overhead"
Finding gt4py_arccos(const Sweep& largest);           ///< "fig2-gt4py"

// Fig. 3: sweeps by calls, in increasing order.
/// How many calls make the kernel take as long as the copies, by straight lines between sweeps; nullopt where all or
/// none do, or without a sweep of one call, whose bound are the copies.
std::optional<double> balance_of_calls(std::span<const Sweep>);
/// Numbers of calls close to a balance, of which there is no sweep yet.
std::vector<std::uint32_t> calls_around(double balance, std::span<const Sweep>, bool few);
/// "fig3-peak"; `of` names the array.
Finding peak_of_calls(std::span<const Sweep>, const std::string& of);
Finding two_is_most(std::span<const Sweep>, const std::string& of);  ///< "fig3-limit"
Finding falls_beyond(std::span<const Sweep>);                        ///< "fig3-beyond"

// The stencil: sweeps by levels, in increasing order.
Finding gain_grows_with_levels(std::span<const Sweep>);     ///< "fig4-growth"
Finding optimum_moves_with_levels(std::span<const Sweep>);  ///< "fig4-streams"
/// `one_launch_ms`: one stream in which a launch does a step of all levels.
Finding kernels_side_by_side(const Sweep& level_by_level, std::optional<double> one_launch_ms);  ///< "fig5"
Finding gain_of_squares(std::span<const Sweep>);                                                 ///< "squares"

/// Which wrong results a tolerance accepts, by the number of arccos calls.
struct Passed {
  unsigned calls = 1;
  bool zeros_there = false;    ///< zeros, by the published tolerance
  bool zeros_here = false;     ///< zeros, by the check of the built-in workload
  bool one_more_here = false;  ///< the results of one call more, by that check
};
Finding tolerance_of_results(std::span<const Passed>);  ///< "validation"; by increasing calls

/// Times of some levels by number of steps, and the straight line through them (least squares).
struct Line {
  std::uint64_t levels = 0;
  double ms = 0;           ///< where it begins
  double ms_per_step = 0;  ///< its slope
  double off = 0;          ///< the largest distance of a point, relative to its time
};
/// Throws Error for fewer than two different numbers of steps.
Line line_through(std::uint64_t levels, const std::vector<std::pair<double, double>>& steps_and_ms);
Finding linear_in_steps(std::span<const Line> one_stream);                            ///< "fig7-linear"
Finding gt4py_stencil(std::span<const Line> one_stream, std::span<const Line> best);  ///< "fig6-gt4py"
Finding slope_and_levels(std::span<const Line> one_stream);                           ///< "fig8-slope"

}  // namespace shiplap::experiments::eth
