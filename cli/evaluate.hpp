// shiplap evaluate: compares predictions and plans with observations, on a grid of choices that runs now, on a recorded
// grid, and on jobs drawn at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli11.hpp"
#include "shiplap/evaluate/evaluation.hpp"

namespace shiplap::cli {

struct EvaluateFlags {
  std::vector<std::string> workloads;
  std::string device;
  std::string profile;
  std::vector<std::string> sizes;
  std::vector<std::string> strategies;
  std::vector<std::string> chunks;
  std::vector<std::string> layouts;
  std::vector<std::string> max_grids;
  std::vector<std::string> threads;
  std::vector<std::string> memory{"pinned"};
  unsigned rounds = 0;       ///< 0: 11 on a GPU; 1 on a virtual device, where all runs are equal
  unsigned duel_rounds = 0;  ///< 0: 51 on a GPU; 1 on a virtual device
  std::string budget;
  std::string again;
  unsigned random = 0;  ///< number of randomly drawn jobs; 0: the named workloads
  std::uint64_t seed = 1;
  std::string race;
  bool transfers_only = false;
  bool no_transfers = false;
  bool resume = false;
  std::string output;
  std::string markdown;
  std::string csv;
  bool all = false;
  bool json = false;
};
void add_evaluate(CLI::App&);

/// The time that --budget allows; infinite without the flag.
Seconds budget_of(const EvaluateFlags&);
/// The command line that says what is evaluated on the device, without options for files and the budget.
std::string command_of(const EvaluateFlags&, const std::string& device);
/// Whether there is a file to go on with; notes on stderr when --resume is given and there is none.
bool can_resume(const EvaluateFlags&);
/// What an interrupted evaluation has left in the file of -o: the workloads that ran and the transfers. Without
/// --resume or a file it is `begun`. Throws Error when the file is of another command, device or profile than `begun`.
Evaluation evaluated_before(const EvaluateFlags&, Evaluation begun);
/// What has been evaluated now, and behind it the workloads of `before` that are still to come.
Evaluation together(Evaluation now, const Evaluation& before);
/// The workload of this name in this memory, if it has been evaluated.
const EvaluatedWorkload* find_evaluated(const Evaluation&, const std::string& name, MemoryKind);

/// Writes the evaluation to the files asked for. Results arrive over minutes, and a later failure must not lose them.
void save(const EvaluateFlags&, const Evaluation&);
/// Prints the evaluation. Throws CheckFailed when a result was wrong.
void show(const EvaluateFlags&, const Evaluation&);

/// Runs the grid of every workload.
void evaluate_grid(const EvaluateFlags&);
/// Predicts a recorded evaluation again.
void evaluate_again(const EvaluateFlags&);
/// Draws jobs at random and measures the regret of plan and race.
void evaluate_random(const EvaluateFlags&);

}  // namespace shiplap::cli
