#include "cli/adaptive.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/temporary_file.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap::cli {
namespace {

constexpr std::size_t most_decisions_kept = 24;
constexpr auto line_every = std::chrono::milliseconds(200);

/// Writes the log line by line, so that it can be replayed even when the program was killed. It takes the place of an
/// earlier log with its first line. It ends when it has become as long as what is read of a log.
class LogFile {
 public:
  explicit LogFile(const std::string& path) try : path_(path), file_(file_behind_links(path).parent_path()) {
  } catch (const std::system_error& error) {
    throw Error(fmt::format("{}: it cannot be written ({})", path, error.code().message()));
  }
  void operator()(std::string_view line) {
    if (length_.has_ended()) return;
    if (!length_.takes(line))
      return note(fmt::format("{} has {}, and no more of a log is read: what follows is not in it", path_,
                              to_string(Bytes{length_.bytes()})));
    int failure = file_.write(fmt::format("{}\n", line));
    if (failure == 0 && !has_begun_) failure = file_.replace(file_behind_links(path_));
    if (failure != 0)
      throw Error(fmt::format("{}: writing failed: {}", path_, std::generic_category().message(failure)));
    has_begun_ = true;
  }

 private:
  std::string path_;
  TemporaryFile file_;
  LogLength length_;
  bool has_begun_ = false;
};

/// Shows a line of progress on a terminal.
class Live {
 public:
  Live(const Adaptive& adaptive) : adaptive_(adaptive) {}
  void operator()(const Adaptive::Progress& progress) {
    ++batches_;
    if (progress.decision != nullptr) kernel_ = progress.decision->kernel;
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < line_every) return;
    shown_ = now;
    const double passed = (progress.ended - last_ended_).count();
    const double rate = passed > 0 ? static_cast<double>(batches_ * adaptive_.batch().items) / passed : 0;
    line_.update(fmt::format("{:.4g} items/s | {} | kernel x {:.3g}", rate,
                             to_string(adaptive_.table().choices[progress.seen.choice]), kernel_));
    last_ended_ = progress.ended;
    batches_ = 0;
  }
  void clear() { line_.clear(); }

 private:
  const Adaptive& adaptive_;
  shiplap::Progress line_;
  std::chrono::steady_clock::time_point shown_{};
  Seconds last_ended_{0};
  std::uint64_t batches_ = 0;
  double kernel_ = 1;
};

/// The factor by which --vary lengthens the kernel of a batch, by the number of the batch.
std::function<double(std::uint64_t)> variation_of(const std::string& text) {
  const auto refuse = [&] {
    throw UsageError(
        fmt::format("--vary {}: expected factors and how many batches each is for, as in 1,4,0.5:100", text));
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) refuse();
  std::vector<double> factors;
  std::uint64_t batches = 0;
  try {
    std::size_t used = 0;
    for (std::size_t at = 0; at < colon;) {
      factors.push_back(std::stod(text.substr(at, colon - at), &used));
      if (!(factors.back() > 0) || factors.back() > 1e6) refuse();
      at += used;
      if (at < colon && text[at] != ',') refuse();
      if (at < colon && ++at == colon) refuse();
    }
    batches = std::stoull(text.substr(colon + 1), &used);
    if (colon + 1 + used != text.size() || text[colon + 1] == '-') refuse();
  } catch (const std::logic_error&) {  // no number, or one too large
    refuse();
  }
  if (factors.empty() || batches == 0) refuse();
  return [factors, batches](std::uint64_t batch) { return factors[batch / batches % factors.size()]; };
}

}  // namespace

CLI::Option* add_adaptive_flags(CLI::App& command, AdaptiveFlags& flags) {
  CLI::Option* adaptive = command.add_flag(
      "--adaptive", flags.adaptive, "run batch after batch of the workload, each cut as those before it suggest");
  const auto needs_it = [&](CLI::Option* option) { return option->needs(adaptive)->group("Endless input"); };
  adaptive->group("Endless input");
  needs_it(command.add_option("--frames", flags.frames,
                              "number of items in all; a batch has as many as the workload, the last one what is left"))
      ->type_name("N");
  needs_it(command.add_option("--in-flight", flags.in_flight, "batches in flight; 1: each is waited for (default: 3)"))
      ->type_name("D")
      ->check(CLI::Range(1u, 16u));
  needs_it(command.add_option("--latency-limit", flags.latency_limit,
                              "longest time from when a batch's turn comes to its results (\"200us\")"))
      ->type_name("TIME");
  needs_it(
      command.add_option("--vary", flags.vary,
                         "on a virtual device, multiply the kernel's time by these factors in turn, each for N batches "
                         "(\"1,4:100\")"))
      ->type_name("F,F:N");
  needs_it(
      declare_file(command.add_option("--log", flags.log, "write what is observed and decided, for shiplap replay"),
                   FileUse::write))
      ->type_name("FILE");
  return adaptive;
}

namespace {

void refuse_what_adaptation_chooses(const WorkloadFlags& workload, const ChoiceFlags& choice) {
  for (const auto& [flag, value] : {std::pair{"--strategy", &choice.strategy},
                                    {"--chunks", &choice.chunks},
                                    {"--ramp", &choice.ramp},
                                    {"--max-grid", &choice.max_grid},
                                    {"--layout", &choice.layout},
                                    {"--order", &choice.order},
                                    {"--threads", &choice.threads}})
    if (*value != "auto")
      throw UsageError(
          fmt::format("{} {}: --adaptive chooses how batches are cut and laid out; leave it out", flag, *value));
  if (choice.saved) throw UsageError("--saved: --adaptive chooses how batches are cut and laid out; leave it out");
  if (choice.graph) throw UsageError("--graph: batches that overlap cannot be graphs; leave it out");
  if (choice.batched) throw UsageError("--batched: adaptive runs submit copies one by one; leave it out");
  if (!workload.memory.empty() && workload.memory != "pinned")
    throw UsageError("--adaptive takes batches from pinned memory of its own: leave --memory out");
}

/// All items: batches of the workload, and a smaller last one for the remainder.
struct Batches {
  Workload workload;
  std::uint64_t count = 0;  ///< without the last one
  std::optional<Workload> last{};
};

/// Throws UsageError when a smaller batch is needed and the workload cannot have one.
Batches batches_of(const WorkloadFlags& flags, std::uint64_t items) {
  Batches batches{.workload = workload_of(flags)};
  const Job& job = batches.workload.job;
  batches.count = items / job.items;
  const std::uint64_t rest = items % job.items;
  if (rest == 0) return batches;
  batches.last = with_items(flags.name, rest);
  if (!batches.last)
    throw UsageError(fmt::format("--frames {}: a batch of {} has {} items and cannot have fewer; give a multiple of {}",
                                 items, job.name, job.items, job.items));
  batches.last->job.cost = job.cost;
  if (batches.count > 0) {
    note(fmt::format("{} items are {} batches of {} and one of {}, which is run when the others have ended", items,
                     batches.count, job.items, rest));
  } else {
    batches.workload = std::move(*batches.last);
    batches.last.reset();
    batches.count = 1;
  }
  return batches;
}

/// Makes the kernel of a batch longer by the factor that --vary gives for `number`.
void vary(Workload& workload, const std::function<double(std::uint64_t)>& by, const std::uint64_t& number) {
  workload.job.binding.duration = [job = workload.job, by, &number](const Launch& l) {
    return kernel_time(job, average_items(job, {l.first_item, l.items}), 0) * by(number);
  };
}

/// Runs batches of one size. `number` is set to the number of the batch whose kernels are performed, counted from
/// `first`. Returns what differs in the last results of the slots; nothing where there is no reference.
std::optional<std::string> run_batches(Adaptive& adaptive, const Workload& workload, std::uint64_t first,
                                       std::uint64_t count, std::uint64_t& number, const Adaptive::Watch& watch,
                                       AdaptiveReport& report) {
  for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) workload.fill(adaptive.arrays(slot));
  const bool in_place =
      std::ranges::any_of(workload.job.arrays, [](const Array& array) { return array.role == Role::inout; });
  report = adaptive.run(
      [&](Batch& batch) {
        number = first + batch.number;
        if (batch.number >= count) return false;
        // A run in place leaves results where its inputs were, so the slot is filled again.
        if (in_place || batch.number + adaptive.slots() >= count) workload.fill(batch.arrays);
        return true;
      },
      {}, watch);
  if (!workload.verify) return std::nullopt;
  std::string difference;
  for (std::size_t slot = 0; slot < std::min<std::uint64_t>(count, adaptive.slots()) && difference.empty(); ++slot)
    difference = workload.verify(adaptive.arrays(slot));
  return difference;
}

/// Runs the smaller batch that is left, and adds it to what the others gave.
void run_last(const Node& node, Workload last, AdaptiveOptions options, std::uint64_t number, AdaptiveRun& run) {
  options.in_flight = 1;
  options.sample = last.fill;
  Adaptive adaptive(node, last.job, options);
  AdaptiveReport report;
  const std::optional<std::string> difference = run_batches(adaptive, last, number, 1, number, {}, report);
  run.report.batches += report.batches;
  run.report.items += report.items;
  run.report.elapsed += report.elapsed;
  if (run.difference && run.difference->empty() && difference) run.difference = difference;
}

}  // namespace

void run_adaptive(const AdaptiveFlags& flags, const WorkloadFlags& workload_flags, const ChoiceFlags& choice,
                  const NodeFlags& node_flags, bool json) {
  if (flags.frames.empty()) throw UsageError("--adaptive needs --frames: how many items there are in all");
  const std::uint64_t frames = parse_count(flags.frames, "--frames");
  if (frames == 0) throw UsageError("--frames 0: there is nothing to run");
  refuse_what_adaptation_chooses(workload_flags, choice);
  AdaptiveOptions options{.in_flight = flags.in_flight};
  if (!flags.latency_limit.empty())
    options.adaptation.latency_limit = parse_seconds(flags.latency_limit, "--latency-limit");
  Batches batches = batches_of(workload_flags, frames);
  Workload& workload = batches.workload;
  const OpenedNode opened = open_node(node_flags);
  const Node& node = opened.node;
  std::uint64_t number = 0;  // number of the batch whose kernels are performed
  if (!flags.vary.empty()) {
    if (node.has_gpu()) throw UsageError("--vary is for virtual devices: the kernel time of a GPU cannot be set");
    give_derived_cost(node, workload);
    vary(workload, variation_of(flags.vary), number);
  }

  shiplap::Progress preparing;
  preparing.update("preparing every choice …");
  options.sample = workload.fill;
  Adaptive adaptive(node, workload.job, options);
  std::unique_ptr<LogFile> log;
  if (!flags.log.empty()) {
    log = std::make_unique<LogFile>(flags.log);
    adaptive.log_to([&](std::string_view line) { (*log)(line); });
  }
  preparing.clear();

  AdaptiveRun run{.workload = workload.job.name,
                  .device = opened.device->info().id,
                  .simulated = !node.has_gpu(),
                  .profile = node.profile->name,
                  .profile_hash = parameter_hash(*node.profile),
                  .items_of_batch = workload.job.items,
                  .in_flight = adaptive.table().in_flight};
  Live live(adaptive);
  const auto watch = [&](const Adaptive::Progress& progress) {
    live(progress);
    if (progress.decision == nullptr) return;
    ++run.all_decisions;
    if (run.decisions.size() == most_decisions_kept) run.decisions.erase(run.decisions.begin());
    run.decisions.push_back(*progress.decision);
  };
  run.difference = run_batches(adaptive, workload, 0, batches.count, number, watch, run.report);
  live.clear();
  for (std::size_t c = 0; c < adaptive.table().choices.size(); ++c)
    run.choices.push_back({.choice = adaptive.table().choices[c],
                           .batches = run.report.batches_of_choice.at(c),
                           .predicted_period = adaptive.table().at(c, 1).period});
  if (batches.last) {
    batches.last->job.cost = adaptive.batch().cost;
    if (!flags.vary.empty()) vary(*batches.last, variation_of(flags.vary), number);
    number = batches.count;
    run_last(node, std::move(*batches.last), options, number, run);
  }
  if (json)
    print_json(to_json(run));
  else
    print(document::text(document::adaptive_section(run), style_of_stdout()));
  show_simulation(opened, node_flags, json);
  if (run.difference && !run.difference->empty())
    throw CheckFailed(fmt::format("the result is wrong: {}", *run.difference));
}

void add_replay(CLI::App& app) {
  struct Flags {
    std::string log;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  auto* command = app.add_subcommand("replay", "Decide once more, from the log of an adaptive run");
  declare_file(command->add_option("LOG", flags->log, "what shiplap run --adaptive --log has written"), FileUse::read)
      ->required();
  add_json_flag(*command, flags->json);
  command->callback([flags] {
    const Replay again = replay(read_text_file(flags->log, limits::log_bytes), flags->log);
    if (flags->json)
      print_json(to_json(again));
    else
      print(document::text(document::adaptation_section(again), style_of_stdout()));
    if (!again.difference.empty()) throw CheckFailed("the decisions are not those of the log");
  });
}

}  // namespace shiplap::cli
