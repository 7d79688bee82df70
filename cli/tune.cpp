#include "cli/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/effects.hpp"
#include "cli/interruption.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/sections.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap::cli {

void add_tune(CLI::App& app) {
  auto flags = std::make_shared<TuneFlags>();
  auto* command = app.add_subcommand("tune", "Race the best candidates of a plan and keep the winner");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_use_flags(*command, flags->use);
  add_race_flag(*command, flags->use.race, "time budget of the runs");
  add_device_flags(*command, flags->node);
  declare_file(command->add_option("--write-kernel", flags->write_kernel,
                                   "write the measured kernel times to this file, for --kernel-profile"),
               FileUse::write)
      ->type_name("FILE");
  add_all_flag(*command, flags->all, "show every candidate of the race");
  add_json_flag(*command, flags->json);
  command->footer(
      "Candidates run in turn and are dropped when they are significantly slower than the fastest. The cache key is "
      "the "
      "job's kernel and arrays, its sizes in steps of a factor 1.4, the GPU, the driver and the host; `shiplap run "
      "--race TIME` and plan() with a race read the cache. A race among choices that flags restrict is not cached.");
  command->callback([flags] { run_tune(*flags); });
}

void run_tune(const TuneFlags& flags) {
  const document::Detail detail = detail_of(flags.all, flags.json);
  const Workload workload = workload_of(flags.workload);
  PlanOptions options = plan_options_of(flags.choice, flags.use, workload.job);
  if (!(options.race > Seconds{0})) throw UsageError("--race 0: a race takes time; give more than none");
  options.race_anew = true;
  NodeFlags node = flags.node;
  node.device = device_to_measure(node.device);
  const OpenedNode opened = open_node(node);
  require_memory_for_run(opened.node, workload.job);
  note_idle_gpus(opened.node, options);
  note_uses_without_effect(flags.use, workload.job);
  const Plan made = [&] {
    const InterruptionNote note("no winner is cached; a smaller --race ends sooner");
    return plan_workload(opened.node, workload, options).plan;
  }();
  note_choices_without_effect(flags.choice, made, opened.node);
  note_runs_without_effect(flags.use, 0, made, opened.node);
  const DeviceInfo info = opened.device->info();
  if (!flags.write_kernel.empty()) save_kernel_profile(made.job.name, info.name, made.job.cost, flags.write_kernel);
  const RaceView view{.workload = made.job.name, .device = info.id, .race = *made.race};
  if (flags.json) {
    show_simulation(opened, node, true);
    return print_json(to_json(view));
  }
  document::Section section = document::race_section(view);
  if (std::string pinning = document::pinning_sentence(plan_view(made)); !pinning.empty())
    section.sentences.push_back(std::move(pinning));
  print(document::text(section, style_of_stdout(), detail));
  if (!flags.all) print(fmt::format("\n--all shows all {} candidates.\n", view.race.finalists.size()));
  show_simulation(opened, node, false);
}

}  // namespace shiplap::cli
