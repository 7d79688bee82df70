#include "cli/common.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/help.hpp"
#include "cli/parameter_names.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/temporary_file.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/terminal.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap::cli {
namespace {

/// What can be given as WORKLOAD.
std::string forms_of_workloads() {
  std::vector<std::string> names;
  for (const WorkloadHelp& w : built_in_workloads()) names.push_back(w.name);
  return fmt::format(
      "WORKLOAD is {}, with parameters as in saxpy:n=64Mi, or a .json file, or stated by hand: --in 1GiB --out 512MiB "
      "--kernel 12ms. Sizes are binary (64MiB), and 1GB is decimal. --help-all lists all parameters.",
      fmt::join(names, ", "));
}

std::string workload_help() {
  std::string list = "Built-in workloads and their parameters:\n";
  for (const WorkloadHelp& w : built_in_workloads())
    list += fmt::format("  {:<12}  {}\n  {:<12}  {}\n", w.name, w.summary, "", w.parameters);
  list.pop_back();
  return forms_of_workloads() + "\n\n" + list;
}

}  // namespace

void add_workload_flags(CLI::App& app, WorkloadFlags& flags) {
  declare_file(app.add_option("WORKLOAD", flags.name, "built-in name with parameters, or a .json file"), FileUse::read,
               files_of_workload);
  app.add_option("--in", flags.in, "stated by hand: bytes that go to the GPU")->type_name("SIZE");
  app.add_option("--out", flags.out, "stated by hand: bytes that come back")->type_name("SIZE");
  app.add_option("--kernel", flags.kernel, "kernel time of the whole job, stated instead of measured or derived")
      ->type_name("TIME");
  declare_file(app.add_option(
                   "--kernel-profile", flags.kernel_profile,
                   "kernel times from this file (written by tune --write-kernel) instead of measured or derived ones"),
               FileUse::read)
      ->type_name("FILE")
      ->excludes("--kernel");
  app.add_option("--memory", flags.memory,
                 "memory that the host arrays live in (default: as the workload says, pinned)")
      ->type_name("KIND")
      ->check(CLI::IsMember({"pageable", "pinned", "managed"}));
  app.add_option("--reads", flags.reads,
                 "how often the kernel reads each byte of its inputs: eq 6 of the paper of 2014 counts every read over "
                 "the link (default: as the workload says, 1)")
      ->type_name("N");
  app.add_option(
         "--access", flags.access,
         "stated by hand: the kernel reads and writes each byte about once, or some repeatedly; where it is not "
         "stated, no kernel that accesses host memory is considered")
      ->type_name("PATTERN")
      ->check(CLI::IsMember({"once", "repeated"}));
  app.add_option("--item", flags.item,
                 "stated by hand: bytes of an item of --in (of --out without one), as of a row; chunks are whole items")
      ->type_name("SIZE");
  app.add_option("--halo", flags.halo,
                 "stated by hand: items before and after a chunk whose inputs its kernel reads too, as in 1,1")
      ->type_name("N,N");
  put_into_group(app, "A job stated by hand",
                 {"--in", "--out", "--kernel", "--access", "--item", "--halo", "--kernel-profile", "--reads"});
  app.footer(workload_help());
}

namespace {

/// The bytes of --in or --out. A number without a unit counts bytes, which few mean who give a small one.
Bytes stated_bytes(const std::string& text, std::string_view flag) {
  if (text.empty()) return Bytes{0};
  const Bytes bytes = parse_bytes(text, flag);
  const bool has_unit = text.find_first_not_of("0123456789") != std::string::npos;
  constexpr Bytes few = 64_KiB;
  if (!has_unit && bytes.count > 0 && bytes < few)
    note(fmt::format(
        "{0} {1} is {2}, which takes no longer than a kernel launch; for more write a unit, as in {0} {1}MiB", flag,
        text, to_string(bytes)));
  return bytes;
}

StatedJob stated_job(const WorkloadFlags& flags) {
  StatedJob stated{.in = stated_bytes(flags.in, "--in"),
                   .out = stated_bytes(flags.out, "--out"),
                   .kernel = parse_seconds(flags.kernel, "--kernel")};
  if (!flags.access.empty()) stated.each_byte_once = parse_access(flags.access, "--access");
  if (!flags.item.empty()) stated.item = parse_bytes(flags.item, "--item");
  if (!flags.halo.empty()) {
    const std::string_view text = flags.halo;
    const auto comma = text.find(',');
    if (comma == text.npos) throw UsageError(fmt::format("--halo {}: give two numbers of items, as in 1,1", text));
    stated.before = parse_count(text.substr(0, comma), "--halo");
    stated.after = parse_count(text.substr(comma + 1), "--halo");
  }
  return stated;
}

}  // namespace

Workload workload_of(const WorkloadFlags& flags) {
  Workload workload;
  if (!flags.name.empty()) {
    for (const auto& [flag, text] :
         {std::pair("--in", &flags.in), std::pair("--out", &flags.out), std::pair("--access", &flags.access),
          std::pair("--item", &flags.item), std::pair("--halo", &flags.halo)})
      if (!text->empty())
        throw UsageError(
            fmt::format("{} states a workload by hand, and {} has its own; give one or the other", flag, flags.name));
    workload = find_workload(flags.name);
    if (!flags.kernel.empty())
      workload.job.cost = {
          .points = {{workload.job.items, Interval<Seconds>::exact(parse_seconds(flags.kernel, "--kernel"))}},
          .origin = "stated"};
    if (!flags.kernel_profile.empty()) workload.job.cost = load_kernel_profile(workload.job.name, flags.kernel_profile);
  } else if (!flags.kernel_profile.empty()) {
    throw UsageError("--kernel-profile needs a WORKLOAD: name the one whose kernel was measured");
  } else if (!flags.in.empty() || !flags.out.empty()) {
    if (flags.kernel.empty())
      throw UsageError(
          "--kernel is missing: the kernel time of the whole job, as in --kernel 12ms, or --kernel 0 for copies alone");
    workload = stated_workload(stated_job(flags));
  } else if (!flags.kernel.empty() || !flags.access.empty() || !flags.item.empty() || !flags.halo.empty()) {
    throw UsageError(fmt::format("{} needs --in or --out beside it, as in --in 1GiB --kernel 12ms",
                                 !flags.kernel.empty()   ? "--kernel without a WORKLOAD"
                                 : !flags.access.empty() ? "--access"
                                 : !flags.item.empty()   ? "--item"
                                                         : "--halo"));
  } else {
    throw UsageError("WORKLOAD is missing. " + forms_of_workloads());
  }
  if (!flags.memory.empty()) put_into(workload, parse_array_memory(flags.memory));
  if (flags.reads) read_inputs(workload, *flags.reads);
  return workload;
}

void add_device_flag(CLI::App& app, std::string& device) {
  declare_file(app.add_option("--device", device,
                              "cuda:N or virtual:NAME or virtual:FILE; several GPUs: cuda:0,1 or virtual:h200:2 "
                              "(default: a GPU if there is one)"),
               FileUse::read, files_of_device)
      ->type_name("D");
}

CLI::Option* add_profile_flag(CLI::App& app, std::string& profile, const std::string& help) {
  return declare_file(app.add_option("--profile", profile, help), FileUse::read, files_of_profile)->type_name("P");
}

void add_json_flag(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "JSON on stdout, and nothing else there");
}

void add_all_flag(CLI::App& app, bool& all, const std::string& help) { app.add_flag("-a,--all", all, help); }

namespace {

std::string when_colour = "auto";  // --color
bool is_quiet = false;             // --quiet

}  // namespace

void add_style_flags(CLI::App& app) {
  app.add_option("--color", when_colour, "colours in the output: auto (on terminals), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_flag(
      "-q,--quiet",
      [](std::int64_t) {
        is_quiet = true;
        Progress::silence();
      },
      "no notes and no progress on stderr; errors remain");
  const auto fall_through = [](const auto& self, CLI::App& command) -> void {
    for (CLI::App* sub : command.get_subcommands({})) {
      sub->fallthrough();
      self(self, *sub);
    }
  };
  fall_through(fall_through, app);
}

TextStyle style_of_stdout() {
  TextStyle style;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  style.colour = when_colour == "auto" ? is_ansi_terminal(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0')
                                       : when_colour == "always";
  constexpr std::size_t narrowest = 60;
  constexpr std::size_t widest = 120;
  winsize size{};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= narrowest)
    style.width = std::min<std::size_t>(size.ws_col, widest);
  else if (const char* columns = std::getenv("COLUMNS"); columns != nullptr)
    if (const std::size_t stated = std::strtoul(columns, nullptr, 10); stated >= narrowest)
      style.width = std::min(stated, widest);
  return style;
}

void print(std::string_view text) { print_verbatim(printable_lines(in_flags(text), style_of_stdout().colour)); }

void print_json(const Json& json) {
  const std::string text = json_text(json, 2) + "\n";
  print_verbatim(text);
  if (text.size() > limits::document_bytes)
    note(fmt::format("the JSON has {}, and shiplap report reads no more than {} of it", to_string(Bytes{text.size()}),
                     to_string(Bytes{limits::document_bytes})));
}

void print_to_stderr(std::string_view text) { print_error(printable_lines(in_flags(text))); }

void note(std::string_view text) {
  if (is_quiet) return;
  print_to_stderr(wrap(fmt::format("note: {}", text), style_of_stdout().width, "      ") + "\n");
}

void note_without_effect(std::string_view option, std::string_view reason) {
  note(fmt::format("{} has no effect: {}", option, reason));
}

document::Detail detail_of(bool all, bool json) {
  if (all && json) note_without_effect("--all", "the JSON holds everything");
  return all ? document::Detail::all : document::Detail::figures;
}

}  // namespace shiplap::cli
