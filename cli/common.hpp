// What the subcommands share: flags for workloads and choices, and the manners of their output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/cli11.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/report/table.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::cli {

/// WORKLOAD by name or file, or stated by hand. The kernel time can be stated for a named one too.
struct WorkloadFlags {
  std::string name;
  std::string in;
  std::string out;
  std::string kernel;
  std::string kernel_profile;
  std::string memory;
};
void add_workload_flags(CLI::App&, WorkloadFlags&);
/// Throws UsageError when there is neither a name nor a stated size, or both, or a stated size without a kernel time.
Workload workload_of(const WorkloadFlags&);

/// "pageable", "pinned" or "managed", as the flags' checks have made sure.
MemoryKind memory_kind(const std::string& word);

/// Of --threads. Throws UsageError.
std::uint32_t threads_of(const std::string& text);

/// The choices that flags leave open; "auto" leaves one to the plan.
struct ChoiceFlags {
  std::string strategy = "auto";
  std::string chunks = "auto";
  std::string ramp = "auto";
  std::string blocks = "auto";
  std::string layout = "auto";
  std::string order = "auto";
  std::string threads = "auto";
  bool graph = false;
  bool batched = false;
  std::uint32_t gpus = 1;
  std::string device_memory;  ///< a size; empty: as much as the node allows
};
void add_choice_flags(CLI::App&, ChoiceFlags&);

/// How the job will be used.
struct UseFlags {
  std::uint64_t reuse = 1;
  bool no_pin = false;
  bool check_reach = false;
  std::string race{};  ///< a time; empty: no race
};
/// All but --race.
void add_use_flags(CLI::App&, UseFlags&);
void add_race_flag(CLI::App&, std::string& race, const std::string& help);

/// Throws UsageError for an unknown word, and for more chunks than the job has items. A number of chunks that does not
/// divide the items evenly is noted on stderr.
PlanOptions plan_options_of(const ChoiceFlags&, const UseFlags&, const Job&);

void add_device_flag(CLI::App&, std::string& device);
void add_json_flag(CLI::App&, bool& json);

/// Colour when stdout is a terminal and NO_COLOR is unset; as wide as the terminal, 100 otherwise.
TextStyle style_of_stdout();
/// Text for people, with the library's parameters as flags (parameter_names.hpp).
void print(std::string_view text);
void print_json(const Json&);
/// Text for programs, as it is.
void print_verbatim(std::string_view text);
/// "note: …" on stderr, wrapped.
void note(std::string_view text);

/// Throws Error that names the flag when `path` could not be written: before any work is done, not after it.
void require_writable(const std::filesystem::path& path, std::string_view flag);

}  // namespace shiplap::cli
