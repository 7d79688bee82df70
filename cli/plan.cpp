#include "cli/plan.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/effects.hpp"
#include "cli/help.hpp"
#include "cli/plan_layers.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/emit/cuda_program.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/report/trace.hpp"

namespace shiplap::cli {

void add_plan(CLI::App& app) {
  auto flags = std::make_shared<PlanFlags>();
  auto* command = app.add_subcommand("plan", "Rank the ways to run a workload, with the reason");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_use_flags(*command, flags->use);
  add_device_or_profile_flags(*command, flags->node);
  auto* nodes = add_nodes_flags(*command, flags->nodes);
  declare_file(
      command->add_option("--trace", flags->trace, "write the spans of the choice for Perfetto or chrome://tracing"),
      FileUse::write)
      ->type_name("FILE")
      ->excludes(nodes);
  auto* emit =
      command
          ->add_option("--emit", flags->emit,
                       "write the choice as a program that stands alone, with its kernel, timing and verification: "
                       "cuda (for nvcc), on stdout and nothing else there, or into the file of --output")
          ->type_name("LANGUAGE")
          ->check(CLI::IsMember({"cuda"}))
          ->excludes(nodes);
  declare_file(command->add_option("-o,--output", flags->output, "the file of --emit, beside the plan on stdout"),
               FileUse::write)
      ->type_name("FILE")
      ->needs(emit);
  add_all_flag(*command, flags->all,
               "show every candidate, what strategies do, where time is lost, what was refused, and what is assumed");
  put_into_group(*command, "Strong scaling", {"--nodes", "--network-bandwidth", "--network-latency"});
  put_into_group(*command, "Programs and traces", {"--trace", "--emit", "--output"});
  add_json_flag(*command, flags->json);
  add_layers_flag(*command, flags->layers);
  command->callback([flags] {
    if (flags->layers.empty()) return run_plan(*flags);
    run_plan_layers(flags->layers, flags->choice.device_memory, flags->node, flags->all, flags->json);
  });
}

namespace {

void write_trace(const std::string& file, const Candidate& chosen) {
  if (chosen.timeline.spans.empty())
    throw Unsupported(fmt::format(
        "--trace: the time of {} is by a closed form, which has no spans: choose a simulated strategy with --strategy",
        to_string(chosen.choice)));
  const std::array processes{TraceProcess{"predicted", *chosen.schedule, chosen.timeline}};
  write_file_atomically(file, json_text(chrome_trace(processes)) + "\n");
}

std::string program(Workload workload, const Plan& plan, const std::string& file) {
  workload.job = plan.job;
  return cuda_program(workload, plan.chosen.choice, *plan.chosen.schedule,
                      {.command = "shiplap plan --emit cuda",
                       .profile = fmt::format("{} ({})", plan.ranking.profile, plan.ranking.profile_hash),
                       .predicted = plan.chosen.predicted,
                       .file = file.empty() ? "pipeline.cu" : std::filesystem::path(file).filename().string()});
}

/// What other options add, as in "--all shows 8 candidates, lost time, 2 refused, 1 assumption; --emit cuda writes a
/// program."
std::string what_all_adds(const Ranking& ranking) {
  const auto counted = [](std::size_t n, const char* one, const char* several) {
    return fmt::format("{} {}", n, n == 1 ? one : several);
  };
  std::string what = counted(ranking.candidates.size(), "candidate", "candidates") + ", lost time";
  if (const std::size_t n = ranking.refused.size(); n > 0) what += ", " + fmt::format("{} refused", n);
  if (const std::size_t n = ranking.assumptions.size(); n > 0) what += ", " + counted(n, "assumption", "assumptions");
  return "--all shows " + what + "; --emit cuda writes a program.";
}

}  // namespace

void run_plan(const PlanFlags& flags) {
  network_of(flags.nodes);  // refuses invalid figures before any work is done
  if (flags.json && !flags.emit.empty() && flags.output.empty())
    throw UsageError("--json and --emit both want stdout: name a file for the program with --output FILE");
  const document::Detail detail = detail_of(flags.all, flags.json);
  const Workload workload = workload_of(flags.workload);
  const PlanOptions options = plan_options_of(flags.choice, flags.use, workload.job);
  const OpenedNode opened = open_node_or_profile(flags.node);
  if (flags.nodes.nodes > 0) {
    if (flags.json) show_simulation(opened, flags.node, true);
    run_plan_nodes(opened, workload, options, flags.nodes, flags.json);
    if (!flags.json) show_simulation(opened, flags.node, false);
    return;
  }
  const std::string lacking = lacking_host_memory(opened.node, workload.job);
  note_idle_gpus(opened.node, options);
  const Plan made = plan_workload(opened.node, workload, options).plan;
  note_choices_without_effect(flags.choice, made, opened.node);
  note_uses_without_effect(flags.use, workload.job);
  if (!flags.trace.empty()) write_trace(flags.trace, made.chosen);
  if (!flags.emit.empty()) {
    const std::string text = program(workload, made, flags.output);
    if (flags.output.empty()) {
      if (!lacking.empty()) note(lacking);
      return print_verbatim(text);
    }
    write_file_atomically(flags.output, text);
  }
  if (flags.json) {
    if (!lacking.empty()) note(lacking);
    show_simulation(opened, flags.node, true);
    PlanView view = plan_view(made);
    view.profile_origin = opened.node.profile->origin;
    return print_json(to_json(view));
  }
  document::Section section = document::plan_section(plan_view(made));
  if (!lacking.empty())
    section.headlines.insert(opened.node.device ? section.headlines.end() : section.headlines.begin(),
                             {.sentence = lacking + ".", .judgement = Judgement::bad});
  print(document::text(section, style_of_stdout(), detail));
  if (!flags.all) print("\n" + wrap(what_all_adds(made.ranking), style_of_stdout().width) + "\n");
  show_simulation(opened, flags.node, false);
  if (!flags.trace.empty()) print(fmt::format("\ntrace written to {}\n", printable(flags.trace)));
  if (!flags.output.empty()) print(fmt::format("\nprogram written to {}\n", printable(flags.output)));
}

}  // namespace shiplap::cli
