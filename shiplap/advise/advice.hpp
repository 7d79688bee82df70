// Advice for a recorded program: changes of its step, their simulated times, and what must hold for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/advise/program_step.hpp"
#include "shiplap/advise/recorded_link.hpp"
#include "shiplap/advise/recording.hpp"
#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_schedule.hpp"
#include "shiplap/core/interval.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// One piece of advice.
struct Advice {
  std::string rule;               ///< name of the rule
  std::string what;               ///< what to change
  std::string allowed_if;         ///< what must hold
  std::vector<HowTo> how;         ///< how it is done in each language
  Seconds once{0};                ///< time that the change costs once
  bool bound = false;             ///< whether the step takes at least as long as predicted
  Interval<Seconds> step;         ///< predicted time of the step with this change alone
  bool needs_before = false;      ///< whether it does not apply without the changes before it; `step` is with them
  Interval<Seconds> with_before;  ///< predicted time with this change and those before it in the list
};

/// The advice for a program.
struct Advised {
  std::string program;                   ///< command line of the program
  std::string gpu;                       ///< name of the GPU
  std::vector<std::string> languages;    ///< languages and libraries that the program seems to use
  std::string profile;                   ///< name of the profile
  LinkNote link;                         ///< AdviseOptions::link, and `assumed` only where a predicted step uses it
  bool inferred_waits = false;           ///< Recording::has_inferred_waits
  std::string failed;                    ///< which calls failed, as sentences, or ""
  ProgramStep step;                      ///< the typical step, as recorded
  double coverage = 0;                   ///< Steps::coverage
  std::vector<StepLevel> levels;         ///< Steps::levels
  Seconds initialisation{0};             ///< time that no step contains (initialisation.hpp)
  double fidelity = 0;                   ///< simulated time of the recorded step over its recorded time, minus 1
  SimulatedStep recorded;                ///< the recorded step, simulated
  std::vector<std::string> left_out;     ///< names of the rules that need another step, where the program has one only
  std::vector<Advice> advice;            ///< what saves most comes first, and then what saves most beside it
  std::optional<SimulatedStep> advised;  ///< the step with all advice; nullopt without advice
  std::string refused;                   ///< why there is no advice at all, or ""
  bool slowed_by_recording = false;      ///< whether the program is so dense that recording slowed it
  std::string limit;                     ///< what the step is bound by in the end, as a sentence
};

/// What `advise` takes from its caller.
struct AdviseOptions {
  std::string range{};              ///< name of the NVTX range that is a step; "": steps are found
  std::vector<std::string> only{};  ///< names of the rules that are applied, in this order; empty: those that gain most
  LinkNote link{};                  ///< what is to be said of the profile's link
  double least_gain = 0.02;         ///< fraction of the step that a change must save
  double largest_infidelity = 0.2;  ///< largest |fidelity| with which advice is given
  /// Recording slows a program that gives a GPU more ops a second than this, and the simulation does not have that.
  double ops_per_second = 100'000;
  std::size_t most_ops_once = 50'000;  ///< a program in which nothing repeats gets advice up to this number of ops
  double largest_slowdown = 0.5;       ///< fraction by which the simulation of such a program may be shorter
};

/// Finds the typical step, simulates it, and tries the rules: the change that saves most is taken, and then the one
/// that saves most together with it, and so on. Changes whose time is only a bound come after all others, unless the
/// recording speaks for one that may save far more; then all that follow are bounds. A program in which nothing repeats
/// is its own step, and so is one whose steps hold less than half of the GPU's work, or get no advice while more
/// happens outside them: rules that need another step are left out, and what a change costs once counts. When the
/// simulated step is not as long as the recorded one, `refused` says so and there is no advice. Throws Error when the
/// recording has no work of a GPU, and UsageError for the name of a rule that does not exist or does not apply.
Advised advise(const Recording&, const Profile&, const AdviseOptions& = {});

}  // namespace shiplap
