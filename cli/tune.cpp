#include "cli/tune.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/subject.hpp"
#include "shiplap/pipeline/pipeline.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/race_report.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap::cli {

void add_tune(CLI::App& app) {
  auto flags = std::make_shared<TuneFlags>();
  auto* command = app.add_subcommand(
      "tune",
      "Run the best candidates of a plan in turn until the fastest is known, and cache the winner for such jobs");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_device_flag(*command, flags->device);
  command->add_option("--profile", flags->profile, "plan from this profile (default: the device's own)")
      ->type_name("P");
  command->add_option("--race", flags->race, "time budget of the runs")->type_name("TIME")->capture_default_str();
  command
      ->add_option("--write-kernel", flags->write_kernel,
                   "write the measured kernel times to this file, for --kernel-profile")
      ->type_name("FILE");
  add_json_flag(*command, flags->json);
  command->footer(
      "Candidates run in turn and are dropped when they are significantly slower than the fastest. The cache key is "
      "the "
      "job's kernel and arrays, its sizes in steps of a factor 1.4, the GPU, the driver and the host; `shiplap run "
      "--race` and plan() with a race read the cache. A race among choices that flags restrict is not cached.");
  command->callback([flags] { run_tune(*flags); });
}

void run_tune(const TuneFlags& flags) {
  const Seconds budget = parse_seconds(flags.race, "--race");
  if (!flags.write_kernel.empty()) require_writable(flags.write_kernel, "--write-kernel");
  Workload workload = workload_of(flags.workload);
  PlanOptions options = plan_options_of(flags.choice, workload.job);
  const Subject subject(flags.device, flags.profile);
  options.device_memory = subject.limits.device_memory;
  Progress progress;
  progress.update("preparing the data …");
  const bool probe = wants_probe(workload, subject.info);
  if (!probe) workload.job = subject.costed(workload);
  Pipeline pipeline(*subject.device, std::move(workload));
  if (probe) {
    progress.update("measuring the kernel …");
    pipeline.set_cost(pipeline.probe_kernel(subject.limits));
  }
  const Job& job = pipeline.workload().job;
  if (!flags.write_kernel.empty()) save_kernel_profile(job.name, subject.info.name, job.cost, flags.write_kernel);
  const Plan ranked = plan(job, subject.profile, options);
  progress.update("racing …");
  const MakeReady make_ready = [&](const Choice& choice) { return pipeline.prepare(choice, subject.limits); };
  const RaceField field = race_field(job, subject.profile, ranked, subject.limits, options);
  const RaceResult result = race_or_kept(subject.info,
                                         {.job = job,
                                          .profile = subject.profile,
                                          .limits = subject.limits,
                                          .options = options,
                                          .budget = budget,
                                          .anew = true},
                                         field, make_ready);
  progress.clear();
  if (flags.json) {
    Json json = to_json(result);
    json["schema"] = "shiplap/race";
    json["version"] = 1;
    json["workload"] = job.name;
    json["device"] = subject.info.id;
    print_json(json);
    return;
  }
  print(race_report(job.name, result, style_of_stdout()));
}

}  // namespace shiplap::cli
