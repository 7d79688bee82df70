// The flags of what a plan may choose and how the job will be used, and the options of the library for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli11.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap::cli {

/// The number of threads that --threads asks for. Throws UsageError when it is 0 or too large.
std::uint32_t threads_of(const std::string& text);

/// The choices that flags leave open; "auto" leaves one to the plan.
struct ChoiceFlags {
  std::string strategy = "auto";
  std::string chunks = "auto";
  std::string ramp = "auto";
  std::string max_grid = "auto";
  std::string layout = "auto";
  std::string order = "auto";
  std::string threads = "auto";
  bool graph = false;
  bool batched = false;
  std::uint32_t gpus = 1;
  std::uint32_t relays = 0;
  std::string device_memory;           ///< a size; empty: as much as the node allows
  std::optional<std::string> saved{};  ///< the file of a plan whose choice is taken; nullopt: choices are searched
};
void add_choice_flags(CLI::App&, ChoiceFlags&);

/// Flags that say how the job will be used.
struct UseFlags {
  std::uint64_t reuse = 1;
  bool no_pin = false;
  bool check_reach = false;
  std::string race{};  ///< a time; empty: no race
};
/// Adds every flag of UseFlags but --race.
void add_use_flags(CLI::App&, UseFlags&);
void add_race_flag(CLI::App&, std::string& race, const std::string& help);

/// The search space that the flags leave open. Throws UsageError for an unknown name, and for more chunks than the job
/// has items. Notes on stderr when the number of chunks does not divide the items evenly.
PlanOptions plan_options_of(const ChoiceFlags&, const UseFlags&, const Job&);

}  // namespace shiplap::cli
