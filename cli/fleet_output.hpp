// What the commands of `shiplap fleet` print about the nodes that they have judged, and how they exit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/cli11.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/fleet/judge.hpp"

namespace shiplap::cli {

/// Flags that the commands share.
struct FleetOutputFlags {
  std::string history;  ///< a file; empty: none
  std::string expect;   ///< a file with names of nodes; empty: none
  bool json = false;
  bool all = false;
};
void add_fleet_output_flags(CLI::App&, FleetOutputFlags&);
/// The exit status of the commands, for `footer`.
inline constexpr const char* fleet_exit_status =
    "Exit status: 0 no GPU is sick, 2 a GPU is sick, 1 nothing could be judged.";

/// The names of the nodes in the file of --expect, which is read once because it may be a pipe; none without the flag.
std::vector<std::string> expected_nodes(const FleetOutputFlags&);

/// What is known besides the results.
struct FleetGaps {
  std::vector<std::string> expected{};  ///< names of nodes: those without a result are missing
  std::vector<std::string> missing{};   ///< nodes or ranks without a result
  std::vector<std::string> failed{};    ///< checks that could not be read or done, and why
};

/// Judges, adds good results to the history, and prints. Throws Error when there is no result, CheckFailed when a GPU
/// is sick.
void report_fleet(std::span<const NodeResult>, const FleetGaps&, const FleetOutputFlags&, const TextStyle&);

}  // namespace shiplap::cli
