// The reproduction of a paper as values: its claims, the steps that check them, and their findings.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/reproduction_view.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::experiments {

/// Verdict on a claim on this hardware.
using Verdict = ClaimVerdict;
/// A table or figure of the paper as data.
using Figure = PaperFigure;
using Column = PaperColumn;
using Cell = PaperCell;

/// A claim of a paper, with its place in the paper.
struct Claim {
  std::string_view id;     ///< id, unique in its paper: "table2"
  std::string_view where;  ///< "Table II"
  std::string_view text;   ///< the claim in our words, in one sentence with the published figure
};

/// The finding of a step about a claim.
struct Finding {
  std::string claim;  ///< its id
  Verdict verdict = Verdict::cannot_be_checked;
  std::string observed{};  ///< observed figure with its unit, beside the published one
  std::string why{};       ///< reason why it does not hold or cannot be checked, or the change; "" where it holds
};

/// The result of one step.
struct StepResult {
  std::vector<Figure> figures;
  std::vector<Finding> findings;
};

/// The inputs of a step.
struct Bench {
  MeasurableDevice& device;
  DeviceInfo info;
  Profile profile;  ///< profile of the device, measured before the steps run
  Limits limits;
  bool quick = false;  ///< fewer points and repeats; on a virtual device sizes that the host can handle
  /// Called to report progress.
  std::function<void(std::string_view what, std::size_t done, std::size_t total)> progress{};
  /// Returns a figure that an earlier step of the same reproduction has made, by its id, for tables that depend on
  /// others. It returns null when that step was not run or made no such figure. `run_steps` sets it.
  std::function<const Figure*(std::string_view id)> made_before{};
};

/// A step of a reproduction. It can run without the others, in less than ten minutes on a GPU.
struct Step {
  std::string_view id;     ///< id, unique in its paper: "fig9"
  std::string_view title;  ///< title for people
  /// Runs the step. Throws Error when the device fails. A feature that the device lacks is a finding, not an error. The
  /// step judges figures that nobody observed like any others; `run_steps` weakens the verdicts.
  StepResult (*run)(const Bench&);
  bool observes = true;  ///< false: its figures come from the paper's equations alone, on every device
};

/// The plot of a table (`Figure`). Its axes have the units of the columns. Columns that the table lacks are left out,
/// because devices differ in what they can do.
struct Curves {
  std::string_view table;    ///< id of the table
  std::string_view title{};  ///< what is drawn; "" means the title of the table
  /// Name of the column of the abscissas. Where it is "", the numbers in the names of the columns `y` are the
  /// abscissas, and each row is a curve.
  std::string_view x{};
  std::string_view x_label{};  ///< "" means `x`
  std::string_view y_label{};
  /// Names of the columns of the ordinates, all of one unit. One '*' in a name stands for any text. A column with
  /// "published" in its name is drawn as points, every other one as a line.
  std::array<std::string_view, 6> y{};
  std::array<std::string_view, 2> each{};  ///< columns whose values tell curves apart, such as the size
  bool log_x = true;
  bool log_y = false;
};

/// The reproduction of one paper.
struct Experiment {
  std::string_view name;      ///< "werkhoven2014"
  std::string_view title;     ///< title of the paper
  std::string_view citation;  ///< authors, venue, year
  std::span<const Claim> claims;
  std::span<const Step> steps;  ///< steps; at least one has a finding for each claim
  /// Errors, contradictions and omissions of the paper, a sentence each.
  std::span<const std::string_view> faults;
  std::span<const Curves> curves{};  ///< figures of the paper that are curves
};

/// All reproductions.
std::span<const Experiment> experiments();
/// The reproduction with this name. Throws UsageError with the list of names when there is none.
const Experiment& find_experiment(std::string_view name);

/// Runs and verifies choices of a workload, beside the predictions of every model. It calls `evaluate` with these
/// choices instead of a grid and without the duel. An error of the device ends it. On a virtual device the kernel's
/// cost is derived from flops and bytes, and each choice runs once. With `rounds` 0 there are 11 rounds on a GPU, 5 in
/// a quick run.
EvaluatedWorkload observe(const Bench&, Workload, std::vector<Choice>, unsigned rounds = 0);
/// Median observed time of a choice; nullopt if it could not run.
std::optional<Seconds> time_of(const EvaluatedWorkload&, const Choice&);

}  // namespace shiplap::experiments
