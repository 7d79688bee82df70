#include "cli/run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/subject.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/report/explain_report.hpp"
#include "shiplap/report/plan_report.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/run_report.hpp"
#include "shiplap/report/trace.hpp"

namespace shiplap::cli {

void add_run(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  auto* command = app.add_subcommand("run", "Run a workload, verify it, and set predicted beside observed");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_device_flag(*command, flags->device);
  command->add_option("--profile", flags->profile, "predict from this profile (default: the device's own)")
      ->type_name("P");
  command->add_option("--repeat", flags->repeat, "timed repetitions (default: 21 on a GPU, 1 on a virtual device)")
      ->type_name("R")
      ->check(CLI::Range(1u, 100000u));
  command->add_flag("--gantt", flags->gantt, "draw the timeline as text");
  command->add_option("--svg", flags->svg, "draw the timeline, predicted above observed, into this file")
      ->type_name("FILE");
  command->add_option("--trace", flags->trace, "write predicted and observed spans for Perfetto or chrome://tracing")
      ->type_name("FILE");
  command->add_flag("--explain", flags->explain, "compare predicted and observed op by op, and say what is off most");
  command
      ->add_option(
          "--race", flags->race,
          "run the best candidates in turn until the fastest is known or this time of runs is spent, as in 200ms; "
          "a cached winner of such a job is used instead")
      ->type_name("TIME");
  CLI::Option* adaptive = add_adaptive_flags(*command, flags->adaptive);
  for (const char* of_one_run : {"--repeat", "--race", "--gantt", "--svg", "--trace", "--explain"})
    adaptive->excludes(command->get_option(of_one_run));
  add_json_flag(*command, flags->json);
  command->callback([flags] {
    if (flags->adaptive.adaptive)
      run_adaptive(flags->adaptive, flags->workload, flags->choice, flags->device, flags->profile, flags->json);
    else
      run_run(*flags);
  });
}

void run_run(const RunFlags& flags) {
  if (!flags.svg.empty()) require_writable(flags.svg, "--svg");
  if (!flags.trace.empty()) require_writable(flags.trace, "--trace");
  const Seconds race_budget = flags.race.empty() ? Seconds{0} : parse_seconds(flags.race, "--race");
  Workload workload = workload_of(flags.workload);
  PlanOptions options = plan_options_of(flags.choice, workload.job);
  const Subject subject(flags.device, flags.profile);
  options.device_memory = subject.limits.device_memory;
  // The ops of a graph cannot be told apart while it runs.
  const bool trace = flags.gantt || flags.explain || !flags.svg.empty() || !flags.trace.empty();
  options.fewer_calls = !trace;

  Progress progress;
  progress.update("preparing the data …");
  const bool probe = wants_probe(workload, subject.info);
  Plan ranked;
  if (!probe) {
    // Planned before memory is touched, so that a job that cannot run is refused at once.
    workload.job = subject.costed(workload);
    ranked = plan(workload.job, subject.profile, options);
  }
  Pipeline pipeline(*subject.device, std::move(workload));
  if (probe) {
    progress.update("measuring the kernel …");
    pipeline.set_cost(pipeline.probe_kernel(subject.limits));
    ranked = plan(pipeline.workload().job, subject.profile, options);
  }
  Candidate best = ranked.best();
  std::optional<RaceResult> raced;
  if (race_budget > Seconds{0}) {
    progress.update("racing …");
    const Job& job = pipeline.workload().job;
    const RaceField field = race_field(job, subject.profile, ranked, subject.limits, options);
    const MakeReady make_ready = [&](const Choice& choice) { return pipeline.prepare(choice, subject.limits); };
    raced = race_or_kept(
        subject.info,
        {.job = job, .profile = subject.profile, .limits = subject.limits, .options = options, .budget = race_budget},
        field, make_ready);
    best = predict(job, subject.profile, raced->best().choice, subject.limits);
  }

  progress.update("running …");
  RunPlan run_plan;
  run_plan.choice = best.choice;
  run_plan.predicted = best;
  run_plan.repeat = flags.repeat > 0 ? flags.repeat : subject.info.is_virtual ? 1 : run_plan.repeat;
  if (subject.info.is_virtual) run_plan.warm_up = 0;
  run_plan.trace = trace;
  const RunReport report = run(pipeline, *subject.device, subject.limits, run_plan);
  progress.clear();

  if (!flags.svg.empty()) write_file_atomically(flags.svg, run_picture(report));
  if (!flags.trace.empty()) {
    const std::array processes{
        TraceProcess{"predicted", report.schedule, best.timeline},
        TraceProcess{subject.info.is_virtual ? "simulated" : "observed", report.schedule, report.timeline}};
    write_file_atomically(flags.trace, chrome_trace(processes).dump() + "\n");
  }
  const TextStyle style = style_of_stdout();
  if (flags.json) {
    Json json = to_json(report);
    json["profile"] = ranked.profile;
    json["profile_hash"] = ranked.profile_hash;
    json["kernel_cost"] = ranked.kernel_cost_origin;
    json["assumptions"] = ranked.assumptions;
    json["race"] = raced ? to_json(*raced) : Json(nullptr);
    print_json(json);
  } else {
    print(run_report(report, style));
    print("\n" +
          wrap(fmt::format("predicted on profile {} ({}); kernel time {}", ranked.profile, ranked.profile_hash,
                           ranked.kernel_cost_origin),
               style.width) +
          "\n");
    print(assumptions_report(ranked.assumptions, style));
    if (raced)
      print("\n" + wrap(raced->to_string(), style.width) + "\n");
    else if (flags.choice.strategy == "auto" && !ranked.why.empty())
      print("\n" + wrap(ranked.why, style.width) + "\n");
    if (flags.gantt) print("\n" + run_gantt(report, style));
    if (flags.explain) {
      print("\n" + explain_report(report.schedule, best.timeline, report.timeline, style));
      if (!report.bound_samples_ms.empty())
        print("\n" + distance_report({best.timeline, ranked.bound.value},
                                     {report.timeline, milliseconds(report.bound_ms.value)}, style));
      print("observed by " + report.trace_source + "\n");
    }
    if (!flags.trace.empty()) print(fmt::format("\ntrace written to {}\n", flags.trace));
    if (!flags.svg.empty()) print(fmt::format("\npicture written to {}\n", flags.svg));
  }
  if (!report.verified) throw CheckFailed(fmt::format("the result is wrong: {}", report.difference));
}

}  // namespace shiplap::cli
