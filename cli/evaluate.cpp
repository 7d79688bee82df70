#include "cli/evaluate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/common.hpp"
#include "cli/node.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/evaluate/predict_again.hpp"
#include "shiplap/evaluate/random_jobs.hpp"
#include "shiplap/evaluate/regret.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/report/evaluate_csv.hpp"
#include "shiplap/report/evaluate_report.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/regret_report.hpp"

namespace shiplap::cli {
namespace {

std::uint32_t chunk_count(const std::string& text) {
  const std::uint64_t count = parse_count(text, "--chunks");
  if (count == 0 || count > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("--chunks {}: give numbers from 1 on, as in 1,2,4", text));
  return static_cast<std::uint32_t>(count);
}

std::uint64_t block_count(const std::string& text) {
  if (text == "full") return 0;
  const std::uint64_t count = parse_count(text, "--blocks");
  if (count == 0) throw UsageError("--blocks 0: give 1 or more, or full");
  return count;
}

GridOptions grid_options_of(const EvaluateFlags& flags) {
  GridOptions grid;
  for (const std::string& name : flags.strategies) grid.strategies.emplace_back(find_strategy(name).name);
  for (const std::string& text : flags.chunks) grid.chunks.push_back(chunk_count(text));
  for (const std::string& text : flags.blocks) grid.blocks.push_back(block_count(text));
  if (!flags.threads.empty()) grid.threads.clear();
  for (const std::string& text : flags.threads) grid.threads.push_back(threads_of(text));
  if (!flags.layouts.empty()) grid.layouts.clear();
  for (const std::string& text : flags.layouts) {
    Choice choice;
    parse_layout(text, choice);
    grid.layouts.push_back({choice.layout, choice.queues});
  }
  return grid;
}

std::vector<Bytes> sizes_of(const EvaluateFlags& flags, std::vector<Bytes> otherwise, Bytes most) {
  std::vector<Bytes> sizes;
  for (const std::string& text : flags.sizes) sizes.push_back(parse_bytes(text, "--sizes"));
  if (sizes.empty()) {
    std::erase_if(otherwise, [&](Bytes size) { return size > most; });
    return otherwise;
  }
  return sizes;
}

/// Every workload in every size, the small ones first; those that state their sizes once.
std::vector<std::string> names_of(const EvaluateFlags& flags, const std::vector<Bytes>& sizes) {
  std::vector<std::string> names;
  const std::vector<std::string> both{"scalar-add", "saxpy"};
  for (const Bytes size : sizes)
    for (const std::string& workload : flags.workloads.empty() ? both : flags.workloads)
      if (std::string name = with_size(workload, size); std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
  return names;
}

/// Writes what there is to the files asked for: results arrive over minutes, and a later failure must not lose them.
void save(const EvaluateFlags& flags, const Evaluation& evaluation) {
  if (!flags.output.empty()) write_file_atomically(flags.output, to_json(evaluation).dump(1) + "\n");
  if (!flags.markdown.empty()) write_file_atomically(flags.markdown, evaluate_markdown(evaluation));
  if (!flags.csv.empty()) write_file_atomically(flags.csv, evaluation_csv(evaluation));
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  auto* command =
      app.add_subcommand("evaluate", "Run a grid of choices, verified, and say how good every model's predictions are");
  auto* workloads = command->add_option(
      "WORKLOAD", flags->workloads,
      "built-in names, sized by --sizes unless they state sizes themselves, or .json files (default: "
      "scalar-add and saxpy)");
  add_device_flag(*command, flags->device);
  command->add_option("--profile", flags->profile, "predict from this profile (default: the device's own)")
      ->type_name("P");
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* what, const char* type) {
    return command->add_option(name, into, what)
        ->delimiter(',')
        ->expected(1)
        ->allow_extra_args(false)  // a WORKLOAD may follow
        ->take_all()
        ->type_name(type);
  };
  list("--sizes", flags->sizes,
       "bytes of each array, as in 1MiB,64MiB (default: 1 MiB to 1 GiB, on a virtual device to 16 MiB)", "SIZES");
  list("--strategies", flags->strategies, "default: all", "NAMES");
  list("--chunks", flags->chunks,
       "numbers of pieces (default: powers of two to 256, of few items what divides them; where kernels access host "
       "memory a few)",
       "COUNTS");
  list("--layouts", flags->layouts, "default: three,few,per-chunk", "LAYOUTS");
  list("--threads", flags->threads, "of host threads, for memory that is not page-locked; default: 1,2,4,8", "COUNTS");
  list("--blocks", flags->blocks,
       "grids of kernels that access host memory, full for their own (default: 8 to one for each multiprocessor, full)",
       "COUNTS");
  list("--memory", flags->memory, "memory that the arrays live in (default: pinned)", "KINDS")
      ->check(CLI::IsMember({"pageable", "pinned", "managed"}));
  command->add_option("--rounds", flags->rounds, "times that each choice is run (default: 11, on a virtual device 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000u));
  command
      ->add_option("--duel-rounds", flags->duel_rounds,
                   "times that the automatic choice is run against the winner (default: 51, on a virtual device 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000u));
  command->add_option("--budget", flags->budget, "start no further workload after this time, as in 300s")
      ->type_name("TIME");
  command
      ->add_option("--again", flags->again,
                   "instead of a device: an evaluation that was written before with -o; what it observed, beside what "
                   "this version predicts on --profile")
      ->type_name("FILE")
      ->excludes(workloads);
  auto* random =
      command
          ->add_option(
              "--random", flags->random,
              "evaluate N randomly drawn jobs: how much slower the plan's and the race's choice are than the best "
              "of an exhaustive sweep")
          ->type_name("N")
          ->check(CLI::Range(1u, 100000u))
          ->excludes(workloads);
  command->add_option("--seed", flags->seed, "seed of --random (default: 1)")->type_name("N")->needs(random);
  command->add_option("--race", flags->race, "time budget of each race of --random (default: 200ms)")
      ->type_name("TIME")
      ->needs(random);
  auto* only =
      command->add_flag("--transfers", flags->transfers_only, "copies alone only, from 16 MiB on")->excludes(workloads);
  command->add_flag("--no-transfers", flags->no_transfers, "leave the copies alone out")->excludes(only);
  command
      ->add_option("-o,--output", flags->output, "write points, samples and statistics to this JSON file as they come")
      ->type_name("FILE");
  command->add_option("--markdown", flags->markdown, "write the tables to this Markdown page")->type_name("FILE");
  command->add_option("--csv", flags->csv, "write the points to this file, one a line, without their samples")
      ->type_name("FILE");
  add_json_flag(*command, flags->json);
  command->footer(
      "Predictions are made before anything of a workload runs, from a profile whose hash is noted first. Every choice "
      "is verified once and runs in turn with others, with the automatic choice and with the bound. A wrong result is "
      "kept and makes the command exit with 2. docs/schema/evaluation.schema.json describes the file.");
  command->callback([flags] { run_evaluate(*flags); });
}

namespace {

bool about_a_run(const EvaluateFlags& flags) {
  return !flags.device.empty() || !flags.sizes.empty() || !flags.strategies.empty() || !flags.chunks.empty() ||
         !flags.layouts.empty() || !flags.blocks.empty() || !flags.threads.empty() || flags.rounds > 0 ||
         flags.duel_rounds > 0 || !flags.budget.empty() || flags.transfers_only || flags.no_transfers ||
         flags.memory != EvaluateFlags{}.memory;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
}

void show(const EvaluateFlags& flags, const Evaluation& evaluation) {
  if (flags.json) {
    print_json(to_json(evaluation));
    return;
  }
  print(evaluate_report(evaluation, style_of_stdout()));
  if (!flags.output.empty()) print(fmt::format("\nresults written to {}\n", flags.output));
  if (!flags.markdown.empty()) print(fmt::format("\npage written to {}\n", flags.markdown));
  if (!flags.csv.empty()) print(fmt::format("\npoints written to {}\n", flags.csv));
}

void require_right(const Evaluation& evaluation) {
  if (const auto wrong = wrong_results(evaluation); !wrong.empty())
    throw CheckFailed(fmt::format("{} result(s) are wrong, the first: {}", wrong.size(), wrong.front()));
}

void run_again(const EvaluateFlags& flags) {
  if (about_a_run(flags))
    throw UsageError("--again: nothing runs on a device; leave out what is about a device or a grid");
  for (const std::string& written : {flags.output, flags.markdown, flags.csv})
    if (is_same_file(written, flags.again))
      throw UsageError(fmt::format("{}: that is the file of --again, and would be lost: name another", written));
  Evaluation recorded = evaluation_from_json(read_json_file(flags.again), flags.again);
  if (flags.profile.empty())
    throw UsageError(fmt::format("--again: name the profile to predict from with --profile; it was {} ({}) then",
                                 recorded.profile, recorded.profile_hash));
  const Profile profile = find_any_profile(flags.profile);
  if (parameter_hash(profile) != recorded.profile_hash)
    note(fmt::format("profile {} ({}) is not the one of the file, {} ({}): errors are of model and profile together",
                     profile.name, parameter_hash(profile), recorded.profile, recorded.profile_hash));
  const Evaluation evaluation = predict_again(std::move(recorded), profile, limits_of(profile));
  save(flags, evaluation);
  show(flags, evaluation);
  require_right(evaluation);
}

void run_random(const EvaluateFlags& flags) {
  if (!flags.csv.empty()) throw UsageError("--csv: --random has a page and JSON; give --markdown or -o");
  if (!flags.sizes.empty() || !flags.strategies.empty() || !flags.chunks.empty() || !flags.layouts.empty() ||
      !flags.blocks.empty() || !flags.threads.empty() || flags.transfers_only || flags.no_transfers ||
      flags.memory != EvaluateFlags{}.memory)
    throw UsageError(
        "--random draws the sizes and sweeps the whole grid of pinned arrays; leave out options for sizes, memory, "
        "transfers and the grid");
  const auto began = std::chrono::steady_clock::now();
  const Seconds budget =
      flags.budget.empty() ? Seconds{std::numeric_limits<double>::infinity()} : parse_seconds(flags.budget, "--budget");
  const OpenedNode opened = open_node({.device = flags.device, .profile = flags.profile, .scale = {}});
  const Node& node = opened.node;
  RegretOptions options;
  if (flags.rounds > 0) options.rounds = flags.rounds;
  if (flags.duel_rounds > 0) options.final_rounds = flags.duel_rounds;
  if (!flags.race.empty()) options.race = parse_seconds(flags.race, "--race");
  Progress progress;
  options.progress = [&](std::string_view what) { progress.update(what); };
  std::vector<JobRegret> jobs;
  const auto keep = [&] {
    if (!flags.output.empty()) write_file_atomically(flags.output, to_json(jobs, node, flags.seed).dump() + "\n");
    if (!flags.markdown.empty()) write_file_atomically(flags.markdown, regret_markdown(jobs));
  };
  for (const std::string& name : random_workloads(flags.random, flags.seed)) {
    if (Seconds{std::chrono::steady_clock::now() - began} > budget) {
      jobs.push_back({.name = name, .not_run = "the time of --budget was spent"});
      continue;
    }
    Workload workload = find_workload(name);
    give_derived_cost(node, workload);
    jobs.push_back(regret_of(node, std::move(workload), options));
    keep();
  }
  keep();
  progress.clear();
  if (flags.json)
    print_json(to_json(jobs, node, flags.seed));
  else
    print(regret_report(jobs, style_of_stdout()));
  for (const JobRegret& job : jobs)
    if (!job.wrong.empty()) throw CheckFailed(fmt::format("{}: the result is wrong: {}", job.name, job.wrong));
}

}  // namespace

void run_evaluate(const EvaluateFlags& flags) {
  if (!flags.output.empty()) require_writable(flags.output, "-o");
  if (!flags.markdown.empty()) require_writable(flags.markdown, "--markdown");
  if (!flags.csv.empty()) require_writable(flags.csv, "--csv");
  if (!flags.again.empty()) return run_again(flags);
  if (flags.random > 0) return run_random(flags);
  EvaluateOptions options;
  options.grid = grid_options_of(flags);
  const Seconds budget =
      flags.budget.empty() ? Seconds{std::numeric_limits<double>::infinity()} : parse_seconds(flags.budget, "--budget");
  const Bytes any_size{std::numeric_limits<std::uint64_t>::max()};
  for (const std::string& name : names_of(flags, sizes_of(flags, {1_MiB}, any_size))) find_workload(name);

  const OpenedNode opened = open_node({.device = flags.device, .profile = flags.profile, .scale = {}});
  const Node& node = opened.node;
  const bool is_virtual = !node.has_gpu();
  options.rounds = flags.rounds > 0 ? flags.rounds : is_virtual ? 1 : options.rounds;
  options.duel_rounds = flags.duel_rounds > 0 ? flags.duel_rounds : is_virtual ? 1 : options.duel_rounds;
  // The memory of a virtual GPU is the host's.
  if (is_virtual) options.ready = 256_MiB;
  Progress progress;
  options.progress = [&](std::string_view what, std::size_t done, std::size_t total) {
    progress.update(what, done, total);
  };
  const Bytes most = is_virtual ? 16_MiB : any_size;
  const auto began = std::chrono::steady_clock::now();
  const auto spent = [&] { return Seconds{std::chrono::steady_clock::now() - began} > budget; };
  Evaluation evaluation = begin_evaluation(node);

  if (!flags.no_transfers && flags.workloads.empty()) {
    const std::vector<std::uint32_t> pieces{1, 2, 4, 8, 16, 32, 64, 128, 256};
    evaluation.transfers = evaluate_transfers(
        *opened.device, node.profile, sizes_of(flags, {16_MiB, 32_MiB, 64_MiB, 128_MiB, 256_MiB, 512_MiB, 1_GiB}, most),
        options.grid.chunks.empty() ? pieces : options.grid.chunks, options);
    save(flags, evaluation);
  }
  if (!flags.transfers_only) {
    const std::vector<std::string> names =
        names_of(flags, sizes_of(flags, {1_MiB, 4_MiB, 16_MiB, 64_MiB, 256_MiB, 1_GiB}, most));
    for (const std::string& name : names)
      for (const std::string& memory : flags.memory) {
        Workload workload = find_workload(name);
        put_into(workload, memory_kind(memory));
        if (spent()) {
          evaluation.workloads.push_back(
              {.name = workload.job.name, .memory = memory_kind(memory), .not_run = "the time of --budget was spent"});
          continue;
        }
        give_derived_cost(node, workload);
        evaluation.workloads.push_back(evaluate(node, std::move(workload), options));
        save(flags, evaluation);
      }
  }
  save(flags, evaluation);
  progress.clear();
  show(flags, evaluation);
  const bool anything =
      !evaluation.transfers.empty() || std::ranges::any_of(evaluation.workloads, [](const EvaluatedWorkload& w) {
        return !w.points.empty() || !w.not_run.empty();
      });
  if (!anything) throw Unsupported("no choice of the grid can run; --json or -o list why");
  require_right(evaluation);
}

}  // namespace shiplap::cli
