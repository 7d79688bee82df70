#include "cli/evaluate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "cli/help.hpp"
#include "cli/interruption.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/evaluate_csv.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {
namespace {

void run_evaluate(const EvaluateFlags& flags) {
  if (!flags.again.empty()) return evaluate_again(flags);
  const InterruptionNote note(
      flags.output.empty()
          ? "nothing is kept; with -o FILE, what was evaluated is kept, and --resume goes on"
          : fmt::format("{} holds what was evaluated; the same command with --resume goes on", flags.output));
  if (flags.random > 0) return evaluate_random(flags);
  evaluate_grid(flags);
}

void add_grid_flags(CLI::App& command, EvaluateFlags& flags) {
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* what, const char* type) {
    return command.add_option(name, into, what)
        ->delimiter(',')
        ->expected(1)
        ->allow_extra_args(false)  // a WORKLOAD may follow
        ->take_all()
        ->type_name(type);
  };
  list("--sizes", flags.sizes,
       "bytes of each array, as in 1MiB,64MiB (default: 1 MiB to 1 GiB, on a virtual device to 16 MiB)", "SIZES");
  list("--strategies", flags.strategies,
       "default: all for such memory but managed-implicit, whose advice would change the times of the others", "NAMES");
  list("--chunks", flags.chunks,
       "numbers of chunks (default: powers of two to 256; divisors where there are few items; a few for zero-copy)",
       "COUNTS");
  list("--layouts", flags.layouts, "default: three,few,per-chunk", "LAYOUTS");
  list("--threads", flags.threads, "numbers of host threads, for memory that is not pinned (default: 1,2,4,8)",
       "COUNTS");
  list("--max-grid", flags.max_grids,
       "grids of zero-copy kernels, full for the kernel's own (default: 8 to one for each SM, full)", "COUNTS");
  list("--memory", flags.memory, "memory that the arrays live in (default: pinned)", "KINDS")
      ->check(CLI::IsMember({"pageable", "pinned", "managed"}));
  command.add_option("--repeat", flags.rounds, "times that each choice is run (default: 11, on a virtual device 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000u));
  command
      .add_option("--duel-repeat", flags.duel_rounds,
                  "times that the automatic choice is run against the winner (default: 51, on a virtual device 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000u));
}

/// The recorded or random jobs that are evaluated instead of named workloads.
void add_source_flags(CLI::App& command, EvaluateFlags& flags, CLI::Option* workloads) {
  declare_file(command.add_option("--again", flags.again,
                                  "instead of a device: an evaluation that was written before with -o; what it "
                                  "observed, beside what this version predicts on --profile"),
               FileUse::read)
      ->type_name("FILE")
      ->excludes(workloads);
  CLI::Option* random =
      command
          .add_option("--random", flags.random,
                      "evaluate N randomly drawn jobs: how much slower the plan's and the race's choice are than the "
                      "best of an exhaustive sweep")
          ->type_name("N")
          ->check(CLI::Range(1u, 100000u))
          ->excludes(workloads);
  command.add_option("--seed", flags.seed, "seed of --random (default: 1)")
      ->type_name("N")
      ->check([](const std::string& text) { return text.starts_with("-") ? "a seed is not negative: " + text : ""; })
      ->needs(random);
  command.add_option("--race", flags.race, "time budget of each race of --random (default: 200ms)")
      ->type_name("TIME")
      ->needs(random);
  CLI::Option* only =
      command.add_flag("--transfers", flags.transfers_only, "copies alone only, from 16 MiB on")->excludes(workloads);
  command.add_flag("--no-transfers", flags.no_transfers, "leave the copies alone out")->excludes(only);
}

void add_output_flags(CLI::App& command, EvaluateFlags& flags) {
  CLI::Option* output =
      declare_file(command.add_option("-o,--output", flags.output,
                                      "write points, samples and statistics to this JSON file as they come"),
                   FileUse::write)
          ->type_name("FILE");
  command
      .add_flag("--resume", flags.resume,
                "go on where an interrupted evaluation left FILE, and run only what is not in it")
      ->needs(output)
      ->excludes(command.get_option("--again"));
  declare_file(command.add_option("--markdown", flags.markdown, "write the tables to this Markdown page"),
               FileUse::write)
      ->type_name("FILE");
  declare_file(
      command.add_option("--csv", flags.csv, "write the points to this file, one a line, without their samples"),
      FileUse::write)
      ->type_name("FILE");
  add_json_flag(command, flags.json);
  add_all_flag(command, flags.all,
               "show errors by strategy, where each model is worst, and what following it would cost");
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  auto* command = app.add_subcommand("evaluate", "Run a grid of choices, and judge the predictions");
  CLI::Option* workloads =
      declare_file(command->add_option("WORKLOAD", flags->workloads,
                                       "built-in names, sized by --sizes unless they state sizes themselves, or .json "
                                       "files (default: scalar-add and saxpy)"),
                   FileUse::read, files_of_workload);
  add_device_flag(*command, flags->device);
  add_profile_flag(*command, flags->profile, "predict from this profile (default: the device's own)");
  add_grid_flags(*command, *flags);
  command->add_option("--budget", flags->budget, "start no further workload after this time, as in 300s")
      ->type_name("TIME");
  add_source_flags(*command, *flags, workloads);
  add_output_flags(*command, *flags);
  command->footer(
      "Predictions are made before anything of a workload runs, from a profile whose hash is noted first. Every choice "
      "is verified once and runs in turn with others, with the automatic choice and with ideal overlap. A wrong result "
      "is "
      "kept and makes the command exit with 2. docs/schema/evaluation.schema.json describes the file.");
  put_into_group(*command, "The grid",
                 {"--strategies", "--chunks", "--layouts", "--threads", "--max-grid", "--duel-repeat", "--transfers",
                  "--no-transfers"});
  put_into_group(*command, "Files and recorded evaluations", {"--again", "--resume", "--markdown", "--csv"});
  command->callback([flags] { run_evaluate(*flags); });
}

Seconds budget_of(const EvaluateFlags& flags) {
  return flags.budget.empty() ? Seconds{std::numeric_limits<double>::infinity()}
                              : parse_seconds(flags.budget, "--budget");
}

namespace {

/// The JSON. The samples of each point are halved, keeping every second one, until a reader accepts the length of the
/// file.
std::string document_of(Evaluation evaluation) {
  for (;;) {
    std::string text = json_text(to_json(evaluation), 1) + "\n";
    if (text.size() <= limits::document_bytes || !halve_samples(evaluation)) return text;
  }
}

}  // namespace

void save(const EvaluateFlags& flags, const Evaluation& evaluation) {
  if (!flags.output.empty()) write_document(flags.output, document_of(evaluation));
  if (!flags.markdown.empty())
    write_file_atomically(flags.markdown, document::markdown(document::evaluation_section(evaluation)));
  if (!flags.csv.empty()) write_file_atomically(flags.csv, evaluation_csv(evaluation));
}

void show(const EvaluateFlags& flags, const Evaluation& evaluation) {
  const document::Detail detail = detail_of(flags.all, flags.json);
  if (flags.json) {
    print_json(to_json(evaluation));
  } else {
    print(document::text(document::evaluation_section(evaluation), style_of_stdout(), detail));
    if (!flags.all) print("\n--all shows errors by strategy, the worst points, and what a model would cost.\n");
    if (!flags.output.empty()) print(fmt::format("\nresults written to {}\n", printable(flags.output)));
    if (!flags.markdown.empty()) print(fmt::format("\npage written to {}\n", printable(flags.markdown)));
    if (!flags.csv.empty()) print(fmt::format("\npoints written to {}\n", printable(flags.csv)));
  }
  if (const auto wrong = wrong_results(evaluation); !wrong.empty())
    throw CheckFailed(fmt::format("{} result(s) are wrong, the first: {}", wrong.size(), wrong.front()));
}

}  // namespace shiplap::cli
