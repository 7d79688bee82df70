// Code that the subcommands share: flags for workloads and choices, and how output is printed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/cli11.hpp"
#include "cli/files.hpp"
#include "cli/output.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {

/// A workload by name, by file, or stated by hand. The kernel time can be stated for a named workload too.
struct WorkloadFlags {
  std::string name;
  std::string in;
  std::string out;
  std::string kernel;
  std::string kernel_profile;
  std::string access;
  std::string item;
  std::string halo;
  std::string memory;
  std::optional<double> reads;
};
void add_workload_flags(CLI::App&, WorkloadFlags&);
/// Throws UsageError when there is neither a name nor a stated size, or both, or a stated size without a kernel time.
Workload workload_of(const WorkloadFlags&);

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

void add_device_flag(CLI::App&, std::string& device);
CLI::Option* add_profile_flag(CLI::App&, std::string& profile, const std::string& help);
void add_json_flag(CLI::App&, bool& json);
/// Adds --all, which shows what a report leaves out by default.
void add_all_flag(CLI::App&, bool& all, const std::string& help);

/// Adds --color and --quiet, which every command takes.
void add_style_flags(CLI::App&);

/// The style has colour when stdout is a terminal, TERM names one that knows colours, and NO_COLOR is unset, or as
/// --color says. Its width is that of the terminal, or what COLUMNS says, or 80.
TextStyle style_of_stdout();
/// Prints text for people, with the library's parameters as flags (parameter_names.hpp). Control characters of names in
/// it are replaced (`printable_lines`).
void print(std::string_view text);
/// Prints on stderr as `print` does on stdout. Write errors are ignored.
void print_to_stderr(std::string_view text);
/// Prints JSON, with control characters escaped (`json_text`).
void print_json(const Json&);
/// Prints "note: …" on stderr, wrapped.
void note(std::string_view text);
/// Notes that an option has no effect: "--threads 4 has no effect: strategy streams uses no host threads".
void note_without_effect(std::string_view option, std::string_view reason);
/// How much of a section is printed. Notes on stderr that --all has no effect beside --json, which holds everything.
document::Detail detail_of(bool all, bool json);

}  // namespace shiplap::cli
