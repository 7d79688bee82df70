#include "cli/measure.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/interruption.hpp"
#include "cli/node.hpp"
#include "cli/profile_cache.hpp"
#include "cli/resume.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/report/measurements_report.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/report/transfers_report.hpp"

namespace shiplap {

template <class V, Like<Primitive> R>
void describe(V& v, R& primitive) {
  v.field("name", primitive.name, "name of the primitive, which --only takes");
  v.field("clock", primitive.clock, "clock: events or host");
  v.field("summary", primitive.summary, "what is measured");
  v.field("on_request", primitive.on_request, "whether it is measured only with --full or when it is named");
}

namespace cli {
namespace {

/// "copy.* (17)" and so on: what primitives of one kind are called, and how many there are.
std::vector<std::string> families_of_primitives() {
  std::vector<std::pair<std::string, int>> families;
  for (const Primitive& p : primitives()) {
    const std::string family = p.name.substr(0, p.name.find('.'));
    auto found = std::ranges::find(families, family, &std::pair<std::string, int>::first);
    if (found == families.end()) found = families.insert(families.end(), {family, 0});
    ++found->second;
  }
  std::vector<std::string> texts;
  texts.reserve(families.size());
  for (const auto& [family, count] : families) texts.push_back(fmt::format("{}.* ({})", family, count));
  return texts;
}

void list_primitives(const document::Detail detail, bool json) {
  if (json) {
    const std::span<const Primitive> all = primitives();
    print_json({{"primitives", Form<std::vector<Primitive>>{}.write({all.begin(), all.end()})}});
    return;
  }
  const TextStyle style = style_of_stdout();
  print(fmt::format("{} primitives, which --only takes by name or pattern:\n\n", primitives().size()));
  if (detail != document::Detail::all) {
    print(wrap(fmt::format("{}", fmt::join(families_of_primitives(), ", ")), style.width) +
          "\n\n--all lists each of them with its clock and what it measures.\n");
    return;
  }
  Table table{.columns = {{"primitive", Align::left}, {"clock", Align::left}, {"what", Align::left}}};
  for (const Primitive& p : primitives()) table.add({p.name + (p.on_request ? " *" : ""), p.clock, p.summary});
  print(table.text(style));
  print("\n* measured with --full, or when --only names it\n");
}

std::string command_line(const MeasureFlags& flags, const std::string& device) {
  return fmt::format("shiplap measure --device {}{}{}", shell_word(device),
                     flags.quick  ? " --quick"
                     : flags.full ? " --full"
                                  : "",
                     flags.only == "*" ? "" : fmt::format(" --only {}", shell_word(flags.only))) +
         (flags.smallest.empty() ? "" : " --smallest " + shell_word(flags.smallest)) +
         (flags.largest.empty() ? "" : " --largest " + shell_word(flags.largest));
}

std::filesystem::path partial(const std::string& file) { return std::filesystem::path(file + ".partial"); }

/// What -o FILE writes: nothing beside --list.
std::vector<std::filesystem::path> files_written(const MeasureFlags& flags, const std::string& file) {
  if (flags.list) return {};
  return {file, partial(file)};
}
std::vector<std::filesystem::path> points_written(const MeasureFlags& flags, const std::string& file) {
  if (flags.list) return {};
  return {file};
}

/// The file to go on with: FILE.partial when it is newer than FILE. A measurement that was killed after it had written
/// FILE leaves an older one.
std::filesystem::path newest_of(const std::string& file) {
  namespace fs = std::filesystem;
  if (!is_there(partial(file))) return file;
  if (!is_there(file)) return partial(file);
  std::error_code gone;
  const bool is_older = fs::last_write_time(file, gone) < fs::last_write_time(partial(file), gone);
  return is_older ? partial(file) : fs::path(file);
}

/// What an interrupted measurement left beside `file`, or else the file itself; nothing when there is neither. Throws
/// Error when it is of another node or of another kind of measurement.
Profile measured_before(const std::string& file, const std::string& command, const DeviceInfo& info) {
  const std::filesystem::path found = newest_of(file);
  if (!is_there(found)) {
    note(fmt::format("there is no {} to go on with: measuring everything", file));
    return {};
  }
  const Json json = parse_json(read_regular_file(found), found.string());
  Profile before = profile_from_json(json, found.string());
  require_same_run(found.string(), {before.source, before.conditions}, {command, info.conditions});
  return before;
}

/// Writes what there is after a row, beside the file that the whole goes to. It is written every few seconds, more
/// often where this takes little of the time.
class SaveWhileMeasuring {
 public:
  SaveWhileMeasuring(const MeasureFlags& flags, std::string command, const DeviceInfo& info)
      : flags_(flags), command_(std::move(command)), info_(info) {}

  void operator()(const MeasureResult& so_far) {
    const Clock::time_point begin = Clock::now();
    if (so_far.measurements.empty() || begin < next_) return;
    Profile profile = profile_from(so_far, info_, command_);
    if (!flags_.name.empty()) profile.name = printable(flags_.name);
    try {
      save_profile(profile, partial(flags_.output));
    } catch (const Error& error) {
      if (!failed_) note(fmt::format("what is measured so far cannot be kept: {}", error.what()));
      failed_ = true;
    }
    constexpr Clock::duration longest_pause = std::chrono::seconds(3);
    constexpr int times_as_long = 20;
    const Clock::time_point end = Clock::now();
    next_ = end + std::min(longest_pause, times_as_long * (end - begin));
  }

 private:
  using Clock = std::chrono::steady_clock;

  const MeasureFlags& flags_;
  std::string command_;
  const DeviceInfo& info_;
  Clock::time_point next_{};
  bool failed_ = false;
};

}  // namespace

void add_measure(CLI::App& app) {
  auto flags = std::make_shared<MeasureFlags>();
  auto* command = app.add_subcommand("measure", "Measure how a node moves bytes and fit its profile");
  add_device_flag(*command, flags->device);
  auto* quick = command->add_flag("--quick", flags->quick, "few points, about 15 s");
  auto* standard = command->add_flag("--standard", flags->standard, "all points that plans use, about 90 s (default)");
  standard->excludes(quick);
  command
      ->add_flag(
          "--full", flags->full,
          "further points and five seconds for each, as long as Comm|Scope takes (an hour and more; --resume goes on)")
      ->excludes(quick)
      ->excludes(standard);
  command->add_option("--only", flags->only, "only primitives that match, as in 'copy.*'; nothing is kept then")
      ->type_name("GLOB")
      ->capture_default_str();
  command
      ->add_option("--smallest", flags->smallest, "leave points of fewer bytes out, as in 4KiB; nothing is kept then")
      ->type_name("SIZE");
  command->add_option("--largest", flags->largest, "largest copy (default: 1GiB); nothing is kept then")
      ->type_name("SIZE");
  command->add_flag("--list", flags->list, "list the primitives and stop");
  command->add_option("--name", flags->name, "name of the profile (default: the GPU's)")->type_name("NAME");
  auto* output = declare_file(command->add_option("-o,--output", flags->output,
                                                  "write the profile to this file; while it grows, to FILE.partial"),
                              FileUse::write, [flags](const std::string& file) { return files_written(*flags, file); })
                     ->type_name("FILE");
  declare_file(command->add_option("--csv", flags->csv, "write the measured points to this file, one a line"),
               FileUse::write, [flags](const std::string& file) { return points_written(*flags, file); })
      ->type_name("FILE");
  command->add_flag("--resume", flags->resume, "go on where an interrupted measurement left FILE")->needs(output);
  add_all_flag(*command, flags->all, "show every point and parameter with its interval, and every way to move bytes");
  add_json_flag(*command, flags->json);
  command->footer(
      "The profile of a GPU is also kept in the cache, where plan and run find it. With several GPUs (cuda:0,1) the "
      "rows "
      "of one GPU run on the first of them.");
  command->callback([flags] { run_measure(*flags); });
}

void run_measure(const MeasureFlags& flags) {
  const document::Detail detail = detail_of(flags.all, flags.json);
  if (flags.list) {
    note_unused_beside_list(flags);
    list_primitives(detail, flags.json);
    return;
  }
  const auto device = open(device_to_measure(flags.device));
  const DeviceInfo info = device->info();
  MeasureOptions options;
  options.effort = flags.quick ? Effort::quick : flags.full ? Effort::full : Effort::standard;
  options.only = flags.only;
  if (!flags.smallest.empty()) options.smallest = parse_bytes(flags.smallest, "--smallest");
  if (!flags.largest.empty()) options.largest = parse_bytes(flags.largest, "--largest");
  const bool whole = flags.only == "*" && flags.smallest.empty() && flags.largest.empty();
  const bool kept = whole && !info.is_virtual;
  if (!flags.name.empty() && !kept && flags.output.empty() && !flags.json)
    note_without_effect(fmt::format("--name {}", flags.name),
                        "the profile is not kept, and neither --output nor --json writes it");
  // Printable, as it is when the profile is read again.
  const std::string command = printable(command_line(flags, info.id));
  if (flags.resume) {
    Profile before = measured_before(flags.output, command, info);
    options.have = std::move(before.measurements);
    for (const auto& [name, value] : before.conditions)
      if (!info.conditions.contains(name)) options.state[name] = value;
  }
  const InterruptionNote note_on_interruption(
      flags.output.empty() ? "no profile is kept; with -o FILE, what was measured is kept, and --resume goes on"
                           : fmt::format("{} holds what was measured; the same command with --resume goes on",
                                         partial(flags.output).string()));
  SaveWhileMeasuring saving(flags, command, info);
  if (!flags.output.empty()) options.row_done = [&](const MeasureResult& so_far) { saving(so_far); };
  Measured measured = measure_profile(*device, options, command);
  if (!flags.name.empty()) measured.profile.name = printable(flags.name);
  if (measured.profile.measurements.empty() && measured.result.failed.empty()) {
    print_to_stderr(skips_report(measured.result));
    throw Error("nothing was measured, because all that was asked for is skipped here; no profile is written");
  }

  if (!flags.output.empty()) {
    save_profile(measured.profile, flags.output);
    std::error_code not_there;
    std::filesystem::remove(partial(flags.output), not_there);
  }
  if (!flags.csv.empty())
    write_file_atomically(flags.csv, measurements_csv(measured.profile.measurements, measured.profile.conditions));
  if (kept && measured.result.failed.empty()) note(keep_profile(measured.profile, info));

  const TextStyle style = style_of_stdout();
  if (flags.json) {
    print_json(to_json(measured.profile));
  } else {
    print(whole ? profile_text(measured.profile, detail)
                : measurements_report(measured.result.measurements, style, simulation_note(measured.profile), detail));
    if (!flags.output.empty()) print(fmt::format("\nprofile written to {}\n", printable(flags.output)));
  }
  print_to_stderr(skips_report(measured.result, detail));
  if (!measured.result.failed.empty())
    throw CheckFailed(fmt::format("{} point(s) or rows failed, as listed above: nothing is fitted from them",
                                  measured.result.failed.size()));
}

}  // namespace cli
}  // namespace shiplap
