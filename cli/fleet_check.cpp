#include "cli/fleet_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/check.hpp"
#include "cli/common.hpp"
#include "cli/launcher.hpp"
#include "cli/mpi_communicator.hpp"
#include "cli/node.hpp"
#include "cli/own_program.hpp"
#include "cli/version.hpp"
#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/device/device_name.hpp"
#include "shiplap/device/listed_devices.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/fleet/causes.hpp"
#include "shiplap/fleet/coordinator.hpp"
#include "shiplap/fleet/coordinator_loopback.hpp"
#include "shiplap/fleet/file_communicator.hpp"
#include "shiplap/measure/copies_within.hpp"
#include "shiplap/pipeline/node_check.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/report/progress.hpp"

namespace shiplap::cli {
namespace {

/// Time beyond a budget for starting and ending a process that keeps the budget itself.
constexpr Seconds process_takes{3};
/// As many GPUs as nodes have, each of which may take its time before rank 0 is heard again.
constexpr double gpus_of_a_node = 16;

volatile std::sig_atomic_t is_terminated = 0;
bool has_been_terminated() { return is_terminated != 0; }

/// The first signal of this kind ends what this rank does, the second one ends it at once.
void end_in_order_on(int signal) {
  const auto earlier = std::signal(signal, [](int received) {
    is_terminated = 1;
    std::signal(received, SIG_DFL);
  });
  if (earlier == SIG_IGN) std::signal(signal, SIG_IGN);
}

// --- what a rank does

Json printed_json(const ProcessOutput& output) {
  // Exit code 2 is a bad node, whose check has been printed.
  const bool has_failed = output.exit_code != static_cast<int>(ExitCode::success) &&
                          output.exit_code != static_cast<int>(ExitCode::check_failed);
  if (has_failed || output.out.empty()) throw Error(message_of(output));
  return parse_json(output.out, "output of shiplap");
}

std::vector<RankDevice> listed_gpus(Seconds budget) {
  const Json json = printed_json(
      run_own_program({"devices", "--json"}, Deadline(steady_time() + budget + process_takes), has_been_terminated));
  ListedDevices listed;
  from_json(JsonReader(json, "devices of shiplap"), listed);
  std::vector<RankDevice> gpus;
  for (const DeviceInfo& device : listed.devices)
    if (!device.is_virtual) {
      const auto bus = device.conditions.find("gpu.pci_bus_id");
      gpus.push_back({device.id, bus == device.conditions.end() ? "" : bus->second});
    }
  if (gpus.empty())
    throw Error(fmt::format("no GPU is seen ({})",
                            listed.absent.empty() ? "no driver" : fmt::format("{}", fmt::join(listed.absent, "; "))));
  return gpus;
}

/// Each GPU is judged by itself.
void require_one_gpu(std::string_view device) {
  const bool has_several = device.starts_with(virtual_prefix)
                               ? virtual_name(device.substr(virtual_prefix.size())).gpus.value_or(1) > 1
                               : device.find(',') != device.npos;
  if (has_several)
    throw UsageError(fmt::format(
        "--device {}: these are several GPUs, and each is checked by itself: name each, as in --device cuda:0 "
        "--device cuda:1, or none for all GPUs",
        device));
}

std::vector<RankDevice> devices_of(const FleetCheckFlags& flags, Seconds budget) {
  bool has_gpu = flags.devices.empty();
  for (const std::string& name : flags.devices) has_gpu = has_gpu || !name.starts_with(virtual_prefix);
  const std::vector<RankDevice> gpus = has_gpu ? listed_gpus(budget) : std::vector<RankDevice>{};
  if (flags.devices.empty()) return gpus;
  std::vector<RankDevice> devices;
  for (const std::string& name : flags.devices) {
    const auto gpu = std::ranges::find(gpus, name, &RankDevice::name);
    devices.push_back(gpu == gpus.end() ? RankDevice{name, ""} : *gpu);
  }
  return devices;
}

Json checked(const std::string& device, const std::string& budget) {
  return printed_json(run_own_program({"check", "--device", device, "--budget", budget, "--json"},
                                      Deadline(steady_time() + parse_seconds(budget, "--budget") + process_takes),
                                      has_been_terminated));
}

/// Time from now until copies begin, at a time in seconds since 1970. Throws Error when they are said to begin so late
/// that a clock must have been set.
Seconds until_copies(Seconds begin) {
  constexpr Seconds longest_wait{120};
  const Seconds wait = begin - time_since_1970();
  if (wait > longest_wait)
    throw Error(fmt::format(
        "--begin: the copies are to begin in {:.0f} s, so that the clock of this host or of the one that asked "
        "must have been set meanwhile; nothing was copied, start the check again",
        wait.count()));
  return wait;
}

Json copied(const std::string& device, Seconds begin) {
  constexpr Seconds copies_take{15};
  const Seconds until_begin = until_copies(begin);
  return printed_json(
      run_own_program({"fleet", "copy", "--device", device, "--begin", fmt::format("{}", begin.count())},
                      Deadline(steady_time() + until_begin + copies_take), has_been_terminated));
}

RankWork work_of(const FleetCheckFlags& flags, const std::string& node) {
  const Seconds budget = parse_seconds(flags.budget, "--budget");
  return {.node = node,
          .program = version(),
          .devices = [&flags, budget] { return devices_of(flags, budget); },
          .check = [&flags](const std::string& device) { return checked(device, flags.budget); },
          .copy_at_once = copied,
          .stop = has_been_terminated};
}

// --- which rank this is

LaunchedRank rank_of(const FleetCheckFlags& flags) {
  const auto launched = launched_rank();
  if (flags.rank.has_value() != flags.ranks.has_value())
    throw UsageError("--rank and --ranks: give both, or none under a launcher that sets them");
  LaunchedRank rank = launched.value_or(LaunchedRank{});
  if (flags.rank) {
    if (*flags.rank >= *flags.ranks)
      throw UsageError(fmt::format("--rank {} of --ranks {}: ranks count from 0", *flags.rank, *flags.ranks));
    rank = {.launcher = "--rank", .rank = *flags.rank, .size = *flags.ranks};
  }
  if (rank.size > most_ranks)
    throw UsageError(fmt::format("{} ranks: a check has at most {}; check parts of the fleet one after the other",
                                 rank.size, most_ranks));
  if (!flags.run.empty()) rank.run = flags.run;
  return rank;
}

/// One rank alone, without messages to others.
class OneRank : public Communicator {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void send(std::size_t, const std::string&) override { throw Error("there is no other rank"); }
  std::optional<RankMessage> receive(const Deadline& deadline) override {
    sleep_for(deadline.left());
    return std::nullopt;
  }
  void abandon(std::size_t) override {}
};

constexpr std::string_view run_prefix = "shiplap-run-";

/// Removes what runs have left whose ranks were all killed. A check takes much less than a week.
void remove_old_runs(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  constexpr auto longest_run = std::chrono::hours(7 * 24);
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const auto changed = fs::last_write_time(*entry, gone);
    if (!gone && entry->path().filename().string().starts_with(run_prefix) && entry->is_directory(gone) &&
        !entry->is_symlink(gone) && fs::file_time_type::clock::now() - changed > longest_run)
      old.push_back(entry->path());
  }
  for (const fs::path& run : old) fs::remove_all(run, error);
}

std::unique_ptr<Communicator> connect(const FleetCheckFlags& flags, const LaunchedRank& launched) {
  if (launched.size == 1 && flags.folder.empty() && !launched.has_mpi) return std::make_unique<OneRank>();
  if (!flags.folder.empty()) {
    if (launched.run.empty())
      throw UsageError(
          "--folder: the launcher gives the run no name, so that messages of an earlier one could be taken for this "
          "one's; give a new name with --run");
    // A name of a run is no path.
    std::string name = std::string(run_prefix) + launched.run;
    std::ranges::replace(name, '/', '_');
    if (launched.rank == 0) remove_old_runs(flags.folder);
    return std::make_unique<FileCommunicator>(flags.folder, name, launched.rank, launched.size);
  }
  if (launched.has_mpi) return mpi_communicator(parse_seconds(flags.begin_within, "--begin-within"));
  throw UsageError(fmt::format("{} is not the launcher of an MPI: give a folder that all nodes share with --folder",
                               launched.launcher));
}

// --- rank 0

/// Time after which a rank takes rank 0 for dead: all GPUs of a node have been checked one after the other, as often as
/// wanted, and have copied at once.
Seconds longest_silence(const FleetCheckFlags& flags, const CoordinatorOptions& options) {
  constexpr Seconds copies_at_once{60};
  const double rounds = 1 + flags.repeats;
  return options.begin_within + rounds * (gpus_of_a_node * (options.budget + options.grace) + copies_at_once);
}

CoordinatorOptions options_of(const FleetCheckFlags& flags) {
  return {.begin_within = parse_seconds(flags.begin_within, "--begin-within"),
          .budget = parse_seconds(flags.budget, "--budget") + process_takes,
          .repeats = flags.repeats,
          .at_once = flags.at_once,
          .program = version(),
          .stop = has_been_terminated};
}

/// Collects and prints. Throws Error, CheckFailed among them, after all other ranks were told to end.
void run_rank_zero(Communicator& others, const FleetCheckFlags& flags, CoordinatorOptions options,
                   const RankWork& own_work) {
  Progress shown;
  options.progress = [&](std::string_view what) { shown.update(what); };
  History history;
  std::vector<std::string> expected;
  try {
    if (!flags.output.history.empty()) require_writable(flags.output.history, "--history");
    if (!flags.output.history.empty()) history = read_history(flags.output.history);
    expected = expected_nodes(flags.output);
  } catch (const Error&) {
    end_all_ranks(others, Deadline(steady_time() + options.begin_within));
    throw;
  }
  if (!flags.output.history.empty()) options.history = &history;
  const FleetRun run = coordinate_and_work(others, options, own_work, longest_silence(flags, options));
  shown.clear();
  // mpirun gives ranks a terminal, whatever becomes of their output.
  TextStyle style = style_of_stdout();
  style.colour = style.colour && others.size() == 1;
  // All ranks that have answered end now. MPI ends with them, before a sick GPU becomes an exception.
  auto* const mpi = dynamic_cast<MpiCommunicator*>(&others);
  if (mpi != nullptr && run.missing.empty()) mpi->end();
  report_fleet(run.results, {.expected = std::move(expected), .missing = run.missing, .failed = run.failed},
               flags.output, style);
  if (mpi == nullptr) return;
  const ExitCode code = flush_output() == 0 ? ExitCode::success : ExitCode::failure;
  mpi->abort(static_cast<int>(code));  // an orderly end would wait for missing ranks
}

/// Runs what a rank does. Under MPI an error ends all ranks: an orderly end would wait for those that know nothing of
/// it.
void run_rank(Communicator& ranks, const std::function<void()>& run) {
  auto* const mpi = dynamic_cast<MpiCommunicator*>(&ranks);
  if (mpi == nullptr) return run();
  try {
    run();
  } catch (const Error& error) {
    if (mpi->is_over()) throw;
    print_to_stderr(fmt::format("shiplap: {}\n", error.what()));
    std::fflush(nullptr);
    mpi->abort(static_cast<int>(error.code()));
    throw;
  }
}

}  // namespace

void add_fleet_check(CLI::App& fleet) {
  auto flags = std::make_shared<FleetCheckFlags>();
  auto* command = fleet.add_subcommand("check", "Check many nodes under srun, mpirun or another launcher");
  declare_file(
      command->add_option("--device", flags->devices, "check these devices; default: every GPU that the rank sees"),
      FileUse::read, files_of_device)
      ->type_name("D");
  command->add_option("--budget", flags->budget, "longest time of the check of a GPU")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--begin-within", flags->begin_within, "do not wait longer for ranks that do not begin")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--retries", flags->repeats, "check a GPU that is not good again, at most this often")
      ->type_name("N")
      ->check(CLI::Range(0u, 100u))
      ->capture_default_str();
  command->add_flag("--at-once", flags->at_once, "then copy with all GPUs of each node at once");
  declare_file(command->add_option("--folder", flags->folder,
                                   "send messages as files in this folder, which all nodes share; default: by MPI"),
               FileUse::update)
      ->type_name("DIR");
  command->add_option("--rank", flags->rank, "number of this process, from 0; default: the launcher's")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 31));
  command->add_option("--ranks", flags->ranks, "number of processes; default: the launcher's")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 31));
  command->add_option("--run", flags->run, "name of the run, the same in all ranks; default: the launcher's")
      ->type_name("NAME");
  command->add_option("--node", flags->node, "name of this node; default: the launcher's, or the host's")
      ->type_name("NAME");
  add_fleet_output_flags(*command, flags->output);
  command->footer(
      fmt::format("{} Rank 0 prints. Ranks that\nhave died or hang are reported in time, and the rest is "
                  "judged.",
                  fleet_exit_status));
  command->callback([flags] { run_fleet_check(*flags); });
}

void run_fleet_check(const FleetCheckFlags& flags) {
  for (const std::string& device : flags.devices) require_one_gpu(device);
  const LaunchedRank launched = rank_of(flags);
  const Seconds budget = parse_seconds(flags.budget, "--budget");
  if (budget <= Seconds{0}) throw UsageError("--budget 0: give more than 0 s");
  const std::string node = !flags.node.empty() ? flags.node : !launched.node.empty() ? launched.node : host_name();
  const RankWork own_work = work_of(flags, node);
  const CoordinatorOptions options = options_of(flags);
  const std::unique_ptr<Communicator> ranks = connect(flags, launched);
  // A rank that is ended ends what it checks and takes its messages away. Rank 0 judges what has been reported by then.
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) end_in_order_on(signal);
  run_rank(*ranks, [&] {
    if (ranks->rank() == 0) return run_rank_zero(*ranks, flags, options, own_work);
    auto* const mpi = dynamic_cast<MpiCommunicator*>(ranks.get());
    if (!run_worker(*ranks, own_work, longest_silence(flags, options)) && mpi != nullptr) mpi->leave();
  });
}

void add_fleet_copy(CLI::App& fleet) {
  auto flags = std::make_shared<FleetCopyFlags>();
  auto* command = fleet.add_subcommand("copy", "Copy with one GPU at a given time, beside others that do the same");
  declare_file(command->add_option("--device", flags->device, "the GPU; default: the first"), FileUse::read,
               files_of_device)
      ->type_name("D");
  command->add_option("--begin", flags->begin, "when to begin, in seconds since 1970")->type_name("T")->required();
  command->footer("Prints the document of a check. shiplap fleet check --at-once has each rank run this command.");
  command->callback([flags] { run_fleet_copy(*flags); });
}

void run_fleet_copy(const FleetCopyFlags& flags) {
  constexpr Seconds lasts{1};
  constexpr Seconds between{1};
  const Seconds begin = until_copies(Seconds{flags.begin}) + steady_time();
  const auto device = open(device_to_measure(flags.device));
  const DeviceInfo info = device->info();
  const auto figure = [](const char* what, Bandwidth rate) {
    return CheckedFigure{.what = what,
                         .measured = to_string(rate),
                         .limit = "unknown: others copy at the same time",
                         .unit = "B/s",
                         .measured_value = rate.bytes_per_second,
                         .causes = {}};
  };
  const Bandwidth to = copy_rate_within(*device, CopyDirection::host_to_device, {.begin = begin, .end = begin + lasts});
  const Seconds second = begin + lasts + between;
  const Bandwidth from =
      copy_rate_within(*device, CopyDirection::device_to_host, {.begin = second, .end = second + lasts});
  NodeCheck copied;
  copied.profile.name = kebab_case(info.name);
  copied.figures = {figure(at_once_to_gpu, to), figure(at_once_from_gpu, from)};
  copied.attempts = 1;
  const auto bus = info.conditions.find("gpu.pci_bus_id");
  print_json(check_document(
      {.node = host_name(), .gpu = info.id, .pci_bus_id = bus == info.conditions.end() ? "" : bus->second}, copied));
}

}  // namespace shiplap::cli
