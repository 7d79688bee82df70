#include "cli/plan.hpp"

#include <memory>

#include "cli/profile_cache.hpp"
#include "cli/subject.hpp"
#include "shiplap/plan/plan.hpp"
#include "shiplap/report/plan_report.hpp"

namespace shiplap::cli {

void add_plan(CLI::App& app) {
  auto flags = std::make_shared<PlanFlags>();
  auto* command = app.add_subcommand("plan", "Rank the ways to run a workload, with predicted times and the reason");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_device_flag(*command, flags->device);
  command->add_option("--profile", flags->profile, "plan for a profile (name or file) instead of a device")
      ->type_name("P")
      ->excludes("--device");
  add_json_flag(*command, flags->json);
  command->callback([flags] { run_plan(*flags); });
}

void run_plan(const PlanFlags& flags) {
  Workload workload = workload_of(flags.workload);
  PlanOptions options = plan_options_of(flags.choice, workload.job);
  const Plan ranked = [&] {
    if (!flags.profile.empty()) {
      const Profile profile = find_any_profile(flags.profile);
      give_derived_cost(workload.job, profile);
      return plan(workload.job, profile, options);
    }
    const Subject subject(flags.device, "");
    options.device_memory = subject.limits.device_memory;
    return plan(subject.costed(std::move(workload)), subject.profile, options);
  }();
  if (flags.json)
    print_json(to_json(ranked));
  else
    print(plan_report(ranked, {.style = style_of_stdout()}));
}

}  // namespace shiplap::cli
