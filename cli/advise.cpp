#include "cli/advise.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/held_signals.hpp"
#include "cli/recorded_program.hpp"
#include "cli/temporary_folder.hpp"
#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/advice_view.hpp"
#include "shiplap/advise/recorded_link.hpp"
#include "shiplap/advise/recording_file.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/advice_pictures.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {
namespace {

namespace fs = std::filesystem;

std::size_t work_in(const Recording& recording) { return submitted_order(recording).size(); }

/// The recording with the most work, and its file.
std::optional<std::pair<Recording, fs::path>> busiest(const std::vector<fs::path>& files) {
  std::optional<std::pair<Recording, fs::path>> most;
  for (const fs::path& file : files) {
    Recording recording = read_recording_file(file);
    if (!most || work_in(recording) > work_in(most->first)) most.emplace(std::move(recording), file);
  }
  return most;
}

/// The node that was asked for, or else that of the recording.
RecordedLink node_for(const Recording& recording, const AdviseFlags& flags) {
  if (flags.node.profile.empty() && flags.node.device.empty()) return profile_of_recording(recording);
  return with_link_of(
      flags.node.profile.empty() ? *open_node(flags.node).node.profile : find_any_profile(flags.node.profile),
      recording);
}

void write_pictures(const Advised& advised, const AdviseFlags& flags) {
  if (!flags.svg.empty()) write_file_atomically(flags.svg, advice_svg(advised));
  if (!flags.trace.empty()) write_file_atomically(flags.trace, json_text(advice_trace(advised)));
}

void show(const Recording& recording, const AdviseFlags& flags) {
  if (!recording.complete)
    note("the recording breaks off: the program ended without a regular exit, or the file was cut");
  if (recording.lost > 0)
    note(
        "records are missing: the recorder had too little memory, the recording is as large as one can be (1 GiB), or "
        "events of a trace are no valid JSON; --duration records a shorter time");
  const RecordedLink node = node_for(recording, flags);
  const Advised advised =
      advise(recording, node.profile, {.range = flags.range, .only = flags.only, .link = node.note});
  write_pictures(advised, flags);
  const document::Detail detail = detail_of(flags.all, flags.json);
  if (flags.json)
    print_json(to_json(advice_view(advised)));
  else
    print(document::text(document::advice_section(advice_view(advised)), style_of_stdout(), detail));
  if (detail != document::Detail::all && !flags.json && !advised.advice.empty())
    print("\n--all says how each change is made, in code, and when it is allowed.\n");
}

constexpr double longest_recording = 30 * 24 * 3600;

unsigned seconds_of(const std::string& duration) {
  if (duration.empty()) return 0;
  const double seconds = std::ceil(parse_seconds(duration, "--duration").count());
  if (!(seconds >= 1 && seconds <= longest_recording))
    throw UsageError(fmt::format("--duration {}: give a time of at most 30 days", duration));
  return static_cast<unsigned>(seconds);
}

/// Each file is replaced as a whole.
void keep_recordings(const std::vector<fs::path>& files, const fs::path& main, const std::string& as) {
  for (const fs::path& file : files) {
    const std::string process = file.stem().extension().string();  // ".1234"
    write_file_atomically(file == main ? as : as + process, read_text_file(file.string(), limits::log_bytes));
  }
}

/// The recording of the process that gave a GPU the most work; nullopt when none gave it any. All are kept where the
/// flags say so.
std::optional<Recording> main_recording(const RecordedProgram& recorded, const AdviseFlags& flags) {
  for (const std::string& why : recorded.refused) note("a process was not recorded: " + why);
  auto main = busiest(recorded.recordings);
  if (!main || work_in(main->first) == 0) {
    note("nothing was recorded: no process of the program gave a GPU any work");
    return std::nullopt;
  }
  if (recorded.recordings.size() > 1)
    note(fmt::format("{} processes used a GPU; the advice is for the one that gave it the most work",
                     recorded.recordings.size()));
  if (!flags.record.empty()) keep_recordings(recorded.recordings, main->second, flags.record);
  return std::move(main->first);
}

/// Runs and records the program, gives advice, and returns the program's exit code, whatever becomes of the advice.
int advise_program(const std::vector<std::string>& program, const AdviseFlags& flags) {
  RecordedProgram recorded;
  std::optional<Recording> recording;
  const auto exit_code_after = [&recorded](const auto& work) {
    try {
      work();
      return recorded.exit_code;
    } catch (const std::exception& error) {
      note(fmt::format("no advice: {}", error.what()));
      const auto* known = dynamic_cast<const Error*>(&error);
      return recorded.exit_code != 0 ? recorded.exit_code
                                     : static_cast<int>(known != nullptr ? known->code() : ExitCode::failure);
    }
  };
  {
    // Nothing temporary is left at the end of this scope or when a signal ends this process.
    HeldSignals signals;
    const TemporaryFolder folder;
    recorded = run_recorded(program, folder.path(), seconds_of(flags.duration), signals);
    const int code = exit_code_after([&] { recording = main_recording(recorded, flags); });
    if (!recording) return code;
  }
  return exit_code_after([&] { show(*recording, flags); });
}

void run_advise(const std::string& file, const std::vector<std::string>& program, const AdviseFlags& flags) {
  if (file.empty() == program.empty())
    throw UsageError("give a recording, or a program behind --, as in: shiplap advise -- python3 train.py");
  if (file.empty()) {
    if (const int code = advise_program(program, flags); code != 0) throw CLI::RuntimeError(code);
  } else {
    if (!flags.record.empty() || !flags.duration.empty())
      throw UsageError("--record and --duration are for a program that is run, and here a recording is read");
    show(read_recording_file(file), flags);
  }
}

}  // namespace

void add_advise(CLI::App& app, std::vector<std::string> program) {
  auto flags = std::make_shared<AdviseFlags>();
  auto file = std::make_shared<std::string>();
  auto* command =
      app.add_subcommand("advise", "Record an unmodified program, and predict the gain of pinning and overlap");
  declare_file(command->add_option("recording", *file,
                                   "a file of --record, an SQLite export of nsys, or a trace of the PyTorch profiler"),
               FileUse::read)
      ->type_name("RECORDING");
  add_device_flag(*command, flags->node.device);
  add_profile_flag(*command, flags->node.profile, "predict from this profile (name or file)")->excludes("--device");
  command->add_option("--duration", flags->duration, "record for this time only, as in 30s (default: to the end)")
      ->type_name("TIME");
  command->add_option("--from", flags->range, "a step is an NVTX range of this name (default: what repeats)")
      ->type_name("RANGE");
  command
      ->add_option("--only", flags->only,
                   "predict these changes instead of the best ones, as in pin,'chunks on streams'")
      ->type_name("RULE")
      ->delimiter(',')
      ->allow_extra_args(false);  // a RECORDING may follow
  declare_file(command->add_option("--record", flags->record, "keep the recording in this file"), FileUse::write)
      ->type_name("FILE");
  declare_file(
      command->add_option("--svg", flags->svg, "draw the recorded steps above the advised ones into this file"),
      FileUse::write)
      ->type_name("FILE");
  declare_file(command->add_option("--trace", flags->trace, "write both as a trace for Perfetto"), FileUse::write)
      ->type_name("FILE");
  add_all_flag(*command, flags->all, "say how each change is made, in code, and when it is allowed");
  add_json_flag(*command, flags->json);
  command->footer(
      "The exit status is that of PROGRAM. What was recorded are the command line, names, sizes, addresses, times, and "
      "hashes of samples "
      "of what is copied to the GPU, never contents. docs/how-to/advise.md explains the advice.");
  declare_program(*command, program);
  command->callback([flags, file, program = std::move(program)] { run_advise(*file, program, *flags); });
}

}  // namespace shiplap::cli
