#include "cli/run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/effects.hpp"
#include "cli/help.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/report/explain_report.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/run_pictures.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/report/trace.hpp"

namespace shiplap::cli {

void add_run(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  auto* command = app.add_subcommand("run", "Run a workload, verified, predicted beside observed");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_use_flags(*command, flags->use);
  add_race_flag(
      *command, flags->use.race,
      "run the best candidates in turn for at most this time, as in 200ms, or use a cached winner of such a job");
  add_device_flags(*command, flags->node);
  command->add_option("--repeat", flags->repeat, "timed repetitions (default: 21; 1 on a virtual device)")
      ->type_name("R")
      ->check(CLI::Range(1u, 100000u));
  command->add_flag("--gantt", flags->gantt, "draw the timeline as text; with --json, both timelines");
  declare_file(command->add_option("--svg", flags->svg, "draw the timeline, predicted above observed, into this file"),
               FileUse::write)
      ->type_name("FILE");
  declare_file(command->add_option("--trace", flags->trace,
                                   "write predicted and observed spans for Perfetto or chrome://tracing"),
               FileUse::write)
      ->type_name("FILE");
  command->add_flag("--explain", flags->explain,
                    "compare predicted and observed op by op, and name the largest difference");
  add_all_flag(*command, flags->all, "show the plan that ran with its reasons, all candidates, and what it assumes");
  CLI::Option* adaptive = add_adaptive_flags(*command, flags->adaptive);
  for (const char* of_one_run : {"--repeat", "--race", "--reuse", "--gpus", "--relay", "--device-memory", "--no-pin",
                                 "--check-reach", "--gantt", "--svg", "--trace", "--explain", "--all"})
    adaptive->excludes(command->get_option(of_one_run));
  put_into_group(*command, "Pictures and traces", {"--svg", "--trace", "--explain"});
  add_json_flag(*command, flags->json);
  command->callback([flags] {
    if (flags->adaptive.adaptive)
      run_adaptive(flags->adaptive, flags->workload, flags->choice, flags->node, flags->json);
    else
      run_run(*flags);
  });
}

namespace {

constexpr unsigned repeats_on_a_gpu = 21;
constexpr unsigned warm_up_on_a_gpu = 3;

bool is_traced(const RunFlags& flags) {
  return flags.gantt || flags.explain || !flags.svg.empty() || !flags.trace.empty();
}

RunReportOptions report_options_of(const RunFlags& flags, const Node& node, WorkloadData& data) {
  RunReportOptions options{.repeats = 1, .ideal_overlap = true};  // all runs on a virtual device take the same
  if (node.has_gpu()) options.repeats = flags.repeat == 0 ? repeats_on_a_gpu : flags.repeat;
  if (node.has_gpu()) options.warm_up = warm_up_on_a_gpu;
  if (is_traced(flags)) options.trace = Trace::best;
  options.refill = [&data] { data.refill(); };
  options.verify = [&data] { return data.verify(); };
  return options;
}

void write_files(const RunFlags& flags, const Report& report) {
  if (!flags.svg.empty()) write_file_atomically(flags.svg, run_picture(report));
  if (flags.trace.empty()) return;
  const Schedule& schedule = *report.planned.schedule;
  const std::array processes{TraceProcess{"predicted", schedule, report.planned.timeline},
                             TraceProcess{observed_label(report), schedule, report.timeline}};
  write_file_atomically(flags.trace, json_text(chrome_trace(processes)) + "\n");
}

void show(const RunFlags& flags, const Plan& plan, const Report& report) {
  const TextStyle style = style_of_stdout();
  print(document::text(document::run_section(run_view(report)), style));
  if (plan.race && !flags.all) print("\n" + wrap(plan.race->to_string() + ".", style.width) + "\n");
  if (flags.all)
    print("\n" + document::text(document::plan_section(plan_view(plan)), style, document::Detail::all));
  else
    print("\n" +
          wrap(fmt::format("Predicted on profile {} ({}). --all shows the plan, why, and what it assumes.",
                           plan.ranking.profile, plan.ranking.profile_hash),
               style.width) +
          "\n");
  if (flags.gantt) print("\n" + run_gantt(report, style));
  if (flags.explain) {
    const std::string_view label = observed_label(report);
    print("\n" + explain_report(*report.planned.schedule, report.planned.timeline, report.timeline, style, label));
    print("\n" + distance_report({report.planned.timeline, plan.ranking.ideal_overlap.time.value},
                                 {report.timeline, report.ideal_overlap->value}, style, label));
    print(fmt::format("spans: {}\n", report.trace_source));
  }
  if (!flags.trace.empty()) print(fmt::format("\ntrace written to {}\n", printable(flags.trace)));
  if (!flags.svg.empty()) print(fmt::format("\npicture written to {}\n", printable(flags.svg)));
}

}  // namespace

void run_run(const RunFlags& flags) {
  detail_of(flags.all, flags.json);  // for its note
  const Workload workload = workload_of(flags.workload);
  PlanOptions options = plan_options_of(flags.choice, flags.use, workload.job);
  const OpenedNode opened = open_node(flags.node);
  require_memory_for_run(opened.node, workload.job);
  note_idle_gpus(opened.node, options);
  note_uses_without_effect(flags.use, workload.job);
  PlannedWorkload planned = plan_workload(opened.node, workload, options);
  if (is_traced(flags) && !tells_ops_apart(opened.node, planned.plan.chosen.choice)) {
    note(
        fmt::format("{} is the plan's choice, whose ops a GPU does not tell apart: the run that is traced submits them "
                    "one by one",
                    to_string(planned.plan.chosen.choice)));
    options.space.fewer_calls = false;
    planned = {};  // frees the data before they are made again
    planned = plan_workload(opened.node, workload, options);
  }
  note_choices_without_effect(flags.choice, planned.plan, opened.node);
  note_runs_without_effect(flags.use, flags.repeat, planned.plan, opened.node);
  Progress progress;
  progress.update("running …");
  if (!planned.data) planned.data = std::make_unique<WorkloadData>(*opened.device, workload);
  const Report report =
      run(*opened.device, planned.plan, planned.data->job(), report_options_of(flags, opened.node, *planned.data));
  progress.clear();
  write_files(flags, report);
  if (flags.json)
    print_json(to_json(run_view(report, planned.plan, opened.node.profile->origin)));
  else
    show(flags, planned.plan, report);
  show_simulation(opened, flags.node, flags.json);
  report.require_right();
}

}  // namespace shiplap::cli
