// Code that the subcommands share: flags for workloads and nodes, and how output is printed.
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
