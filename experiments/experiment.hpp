// What reproducing a paper consists of, as values: its claims, the steps that check them, and what they found.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::experiments {

/// What became of a claim on the hardware at hand.
enum class Verdict : std::uint8_t { holds, holds_with_a_change, does_not_hold, cannot_be_checked };
/// "holds", "holds with a change", "does not hold on this hardware", "cannot be checked"
std::string to_string(Verdict);

/// What a paper says, with where it says it.
struct Claim {
  std::string_view id;     ///< "table2": unique in its paper
  std::string_view where;  ///< "Table II"
  std::string_view text;   ///< in one sentence of ours, with the published figure
};

/// What a step found about a claim.
struct Finding {
  std::string claim;  ///< its id
  Verdict verdict = Verdict::cannot_be_checked;
  std::string observed{};  ///< the figure beside the published one, with its unit
  std::string why{};       ///< why it does not hold, what was changed, or why it cannot be checked; "" where it holds
};

/// Of a table: what a column holds.
struct Column {
  std::string name;  ///< "bandwidth"
  std::string unit;  ///< "GB/s"; "" for names and counts
};
/// Empty where there is nothing to tell.
using Cell = std::variant<std::monostate, double, std::string>;

/// A table or a figure of the paper as data: ours, with the published figures in columns of their own.
struct Figure {
  std::string id;       ///< "fig9": unique in its paper, and the name of its CSV file
  std::string where{};  ///< "Fig. 9"
  std::string title{};
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  ///< as long as `columns`
  std::string note{};                     ///< what a reader must know: what was changed, what is not there and why
};

/// What one step brings.
struct StepResult {
  std::vector<Figure> figures;
  std::vector<Finding> findings;
};

/// What steps work with.
struct Bench {
  MeasurableDevice& device;
  DeviceInfo info;
  Profile profile;  ///< of the device, made before anything of the paper runs
  Limits limits;
  bool quick = false;  ///< fewer points and repeats; on a virtual device what its host can bear
  /// Told what is going on.
  std::function<void(std::string_view what, std::size_t done, std::size_t total)> progress{};
  /// A figure that a step of the same reproduction has made before, by its id, for what one table of a paper takes from
  /// another. Null: that step was not run, or made none. `run_steps` sets it.
  std::function<const Figure*(std::string_view id)> made_before{};
};

/// A part of a reproduction that is run by itself, in less than ten minutes on a GPU.
struct Step {
  std::string_view id;     ///< "fig9": unique in its paper
  std::string_view title;  ///< for people
  /// Throws Error when the device fails; what a device does not have is a finding, not an error.
  StepResult (*run)(const Bench&);
};

/// One paper.
struct Experiment {
  std::string_view name;      ///< "werkhoven2014"
  std::string_view title;     ///< of the paper
  std::string_view citation;  ///< authors, venue, year
  std::span<const Claim> claims;
  std::span<const Step> steps;  ///< every claim is found about in at least one
  /// What in the paper is wrong, contradicts itself or says too little to be reproduced: a sentence each.
  std::span<const std::string_view> faults;
};

/// All that there are.
std::span<const Experiment> experiments();
/// Throws UsageError that lists the names.
const Experiment& find_experiment(std::string_view name);

/// Runs choices of a workload in turn, each verified, beside what every model predicts: `evaluate` with these choices
/// instead of a grid, without the duel; a device that fails ends it. On a virtual device the kernel's cost is derived
/// from flops and bytes and each choice runs once. `rounds` 0: 11 on a GPU, 5 if quick.
EvaluatedWorkload observe(const Bench&, Workload, std::vector<Choice>, unsigned rounds = 0);
/// Median time of one choice of those observed; nullopt where it could not run.
std::optional<Seconds> time_of(const EvaluatedWorkload&, const Choice&);

}  // namespace shiplap::experiments
