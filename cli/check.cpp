#include "cli/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/child_process.hpp"
#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/exit_codes.hpp"
#include "cli/node.hpp"
#include "cli/parameter_names.hpp"
#include "cli/profile_cache.hpp"
#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/node_check.hpp"
#include "shiplap/report/check_line.hpp"
#include "shiplap/report/check_metrics.hpp"
#include "shiplap/report/measurements_report.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {
namespace {

/// Start of the program, from which a budget counts.
const Seconds program_start = steady_time();

/// Time before the end of a budget at which a process that has not ended is left: a twentieth, at most this.
constexpr Seconds longest_farewell = milliseconds(200);
/// Time before the end of a budget at which measuring ends: a fifth, at most this. The last run, the fit and the output
/// need it.
constexpr Seconds longest_end = milliseconds(2500);

Deadline deadline_before_end(Seconds budget, double fraction, Seconds longest) {
  return Deadline(program_start + budget - std::min(budget * fraction, longest));
}

NodeResult result_of(const CheckedNode& node, const NodeCheck& checked) {
  NodeResult result = result_of(checked);
  result.node = node.node;
  result.gpu = node.gpu;
  result.pci_bus_id = node.pci_bus_id;
  return result;
}

/// A check while it runs: what it is about, and where its results go.
class Checking {
 public:
  explicit Checking(const CheckFlags& flags)
      : flags_(flags), node_{.node = host_name(), .gpu = flags.profile.empty() ? flags.device : flags.profile} {
    if (node_.gpu.empty()) node_.gpu = "gpu";
    // A profile of another node says nothing about this host.
    if (!flags.profile.empty()) node_.node = node_.gpu;
  }

  NodeCheck run() {
    if (!flags_.profile.empty() && !flags_.device.empty())
      throw UsageError("--profile: judge either a profile or a device, not both");
    if (flags_.all && (flags_.line || flags_.json))
      note_without_effect("--all", flags_.line ? "one line is printed" : "the JSON holds everything");
    if (flags_.line && flags_.json) throw UsageError("--line: give either --line or --json, not both");
    if (!flags_.prometheus.empty()) require_writable(flags_.prometheus, "--prometheus");
    Deadline measuring_ends;
    if (!flags_.budget.empty()) {
      const Seconds budget = parse_seconds(flags_.budget, "--budget");
      if (budget <= Seconds{0}) throw UsageError("--budget 0: give more than 0 s");
      measuring_ends = deadline_before_end(budget, 0.2, longest_end);
      progress_.now("starting");
      continue_in_child(progress_, deadline_before_end(budget, 0.05, longest_farewell));
    }
    return judged(measuring_ends);
  }

  void report(const NodeCheck& checked) const {
    print_result(checked);
    write_metrics(checked);
  }

  /// Reports that the check could not be done, where programs look for a result. People read the message on stderr.
  void report_failure(const Error& error) const {
    if (flags_.line) print_verbatim(failed_check_line(node_, in_flags(error.what())) + "\n");
    if (error.code() != ExitCode::usage) write_metrics({});
  }

 private:
  void print_result(const NodeCheck& checked) const {
    if (flags_.line) return print_verbatim(check_line(node_, checked) + "\n");
    if (flags_.json) return print_json(check_document(node_, checked));
    const Profile& profile = checked.profile;
    if (const std::string warning = governor_warning(profile.conditions); !warning.empty()) note(warning);
    const TextStyle style = style_of_stdout();
    const std::string simulated = simulation_note(profile);
    print(fmt::format(
        "{}\nProfile {} ({}, {}).\n{}",
        document::text(document::check_section(result_of(node_, checked)), style, detail_of(flags_.all, false)),
        profile.name, to_string(profile.origin), parameter_hash(profile),
        simulated.empty() ? "" : wrap(simulated, style.width) + "\n"));
  }

  NodeCheck judged(const Deadline& measuring_ends) {
    progress_.now(fmt::format("reading profile {}", flags_.profile));
    if (!flags_.profile.empty()) return check_profile(find_any_profile(flags_.profile));
    progress_.now(fmt::format("opening {}", flags_.device.empty() ? "the first GPU" : flags_.device));
    const auto device = open(device_to_measure(flags_.device));
    const DeviceInfo info = device->info();
    node_.gpu = info.id;
    if (info.gpus > 1)
      note(fmt::format("the first of the {} GPUs of {} is judged; `shiplap fleet check` judges each GPU", info.gpus,
                       info.id));
    if (info.is_virtual) return check_profile(profile_of(*device));
    if (const auto bus = info.conditions.find("gpu.pci_bus_id"); bus != info.conditions.end())
      node_.pci_bus_id = bus->second;
    // An old measurement says nothing about the node today.
    Progress shown;
    NodeCheckOptions options;
    options.deadline = measuring_ends;
    options.retries = flags_.retries;
    options.command = fmt::format("shiplap check --device {}", info.id);
    options.progress = [&](std::string_view point, std::size_t done, std::size_t total) {
      progress_.now(fmt::format("measuring {}", point));
      shown.update(point, done, total);
    };
    progress_.now("looking for others who use the node");
    const NodeCheck checked = check_node(*device, options);
    shown.clear();
    if (!flags_.line) {
      MeasureResult left_out;
      left_out.skipped = checked.skipped;
      left_out.failed = checked.failed;
      print_to_stderr(skips_report(left_out, flags_.all ? document::Detail::all : document::Detail::figures));
    }
    progress_.now("reporting");
    return checked;
  }

  void write_metrics(const NodeCheck& checked) const {
    if (flags_.prometheus.empty()) return;
    const CheckTiming timing{.duration = steady_time() - program_start, .finished = time_since_1970()};
    try {
      write_file_atomically(flags_.prometheus, check_metrics(node_, checked, timing));
    } catch (const Error& error) {  // the verdict stands
      note(fmt::format("--prometheus: {}", error.what()));
    }
  }

  const CheckFlags& flags_;
  CheckedNode node_;
  ChildProgress progress_;
};

std::string bad_figures(const NodeCheck& checked) {
  std::string bad;
  for (const CheckedFigure& f : checked.figures)
    if (f.verdict == Verdict::bad) bad += (bad.empty() ? "" : "; ") + f.what;
  return bad;
}

}  // namespace

Json check_document(const CheckedNode& node, const NodeCheck& checked) { return to_json(result_of(node, checked)); }

void add_check(CLI::App& app) {
  auto flags = std::make_shared<CheckFlags>();
  auto* command = app.add_subcommand("check", "Say whether a node gives what its hardware should");
  add_device_flag(*command, flags->device);
  add_profile_flag(*command, flags->profile, "judge this profile: a file, or a built-in or kept name");
  command
      ->add_option("--budget", flags->budget,
                   "end within this time of the start, as in 30s, even when the driver hangs; figures that were not "
                   "measured by then are unknown")
      ->type_name("TIME");
  command->add_option("--retries", flags->retries, "measure a bad figure again, at most this often")
      ->type_name("N")
      ->check(CLI::Range(0u, 100u))
      ->capture_default_str();
  command->add_option("--exit-codes", flags->exit_codes, "exit codes as shiplap's, nagios or nvsentinel has them")
      ->type_name("SCHEME")
      ->capture_default_str();
  command->add_flag("--line", flags->line, "print one line, which begins with OK, LOW, BAD, BUSY or UNKNOWN");
  declare_file(command->add_option("--prometheus", flags->prometheus,
                                   "also write metrics to this file, for node_exporter's textfile collector"),
               FileUse::update)  // a failure is to be reported as a line with --line
      ->type_name("FILE");
  add_all_flag(*command, flags->all, "show the limit of each figure, and what is good");
  add_json_flag(*command, flags->json);
  command->footer(
      "A GPU is measured now, quickly (about 10 s); a virtual device and --profile are judged as they are. A node "
      "that\n"
      "somebody else uses is busy and not judged. Nothing is written but the file of --prometheus.\n"
      "Exit status:    good  low  busy  bad  could not be done  wrong usage\n"
      "  shiplap          0    0     0    2                  1           64\n"
      "  nagios           0    1     1    2                  3            3\n"
      "  nvsentinel       0    0     0    1                  2            2\n"
      "What cannot be told is unknown. When no figure can be told, the check could not be done.");
  command->callback([flags] { run_check(*flags); });
}

void run_check(const CheckFlags& flags) {
  const ExitCodes codes = parse_exit_codes(flags.exit_codes);
  Checking checking(flags);
  NodeCheck checked;
  try {
    checked = checking.run();
    checking.report(checked);
  } catch (const Error& error) {
    checking.report_failure(error);
    if (!flags.line) throw;
    throw CLI::RuntimeError(exit_code(codes, error.code()));
  }
  const Verdict verdict = checked.verdict();
  if (verdict == Verdict::bad && !flags.line)
    throw CheckFailed(fmt::format("{} does not give what it should: {}", checked.profile.name, bad_figures(checked)));
  if (const int code = exit_code(codes, verdict); code != 0) throw CLI::RuntimeError(code);
}

}  // namespace shiplap::cli
