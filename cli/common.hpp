// What the subcommands share: flags for workloads and choices, and the manners of their output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/cli11.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/plan/plan.hpp"
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

/// What is asked for of a run; "auto" leaves it to the plan.
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
};
void add_choice_flags(CLI::App&, ChoiceFlags&);
/// Throws UsageError for an unknown word, and for more chunks than the job has items. A number of chunks that does not
/// divide the items evenly is noted on stderr.
PlanOptions plan_options_of(const ChoiceFlags&, const Job&);

void add_device_flag(CLI::App&, std::string& device);
void add_json_flag(CLI::App&, bool& json);

/// Colour when stdout is a terminal and NO_COLOR is unset; as wide as the terminal, 100 otherwise.
TextStyle style_of_stdout();
void print(std::string_view text);
void print_json(const Json&);
/// "note: …" on stderr, wrapped.
void note(std::string_view text);

/// Throws Error that names the flag when `path` could not be written: before any work is done, not after it.
void require_writable(const std::filesystem::path& path, std::string_view flag);

}  // namespace shiplap::cli
