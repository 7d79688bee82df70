#include "cli/plan.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/profile_cache.hpp"
#include "cli/subject.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/emit/cuda_program.hpp"
#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/plan/plan.hpp"
#include "shiplap/report/memory_report.hpp"
#include "shiplap/report/plan_report.hpp"
#include "shiplap/report/trace.hpp"

namespace shiplap::cli {

void add_plan(CLI::App& app) {
  auto flags = std::make_shared<PlanFlags>();
  auto* command = app.add_subcommand("plan", "Rank the ways to run a workload, with predicted times and the reason");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_device_flag(*command, flags->device);
  auto* profile =
      command->add_option("--profile", flags->profile, "plan for a profile (name or file) instead of a device")
          ->type_name("P")
          ->excludes("--device");
  add_scale_flag(*command, flags->scale)->needs(profile);
  command->add_option("--trace", flags->trace, "write the spans of rank 1 for Perfetto or chrome://tracing")
      ->type_name("FILE");
  auto* emit =
      command
          ->add_option("--emit", flags->emit,
                       "write rank 1 as a program that stands alone, with its kernel, timing and verification: "
                       "cuda (for nvcc), on stdout and nothing else there, or into the file of --output")
          ->type_name("LANGUAGE")
          ->check(CLI::IsMember({"cuda"}));
  command->add_option("-o,--output", flags->output, "the file of --emit, beside the plan on stdout")
      ->type_name("FILE")
      ->needs(emit);
  command
      ->add_option("--reuse", flags->reuse,
                   "runs with the same arrays: whether it pays to page-lock pageable ones (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53));
  add_json_flag(*command, flags->json);
  command->callback([flags] { run_plan(*flags); });
}

namespace {

void write_trace(const std::string& file, const Job& job, const Choice& choice, const Timeline& timeline,
                 const Limits& limits) {
  const Schedule schedule = find_strategy(choice.strategy).schedule(job, choice, limits);
  const std::array processes{TraceProcess{"predicted", schedule, timeline}};
  write_file_atomically(file, chrome_trace(processes).dump() + "\n");
}

std::string program(const Workload& workload, const Job& job, const Plan& plan, const Limits& limits) {
  Workload costed = workload;
  costed.job = job;
  const Candidate& best = plan.best();
  const Schedule schedule = find_strategy(best.choice.strategy).schedule(job, best.choice, limits);
  return cuda_program(costed, best.choice, schedule,
                      {.command = "shiplap plan --emit cuda",
                       .profile = fmt::format("{} ({})", plan.profile, plan.profile_hash),
                       .predicted = best.predicted});
}

}  // namespace

void run_plan(const PlanFlags& flags) {
  if (!flags.trace.empty()) require_writable(flags.trace, "--trace");
  if (!flags.output.empty()) require_writable(flags.output, "--output");
  if (flags.json && !flags.emit.empty() && flags.output.empty())
    throw UsageError("--json and --emit both want stdout: name a file for the program with --output FILE");
  const Workload workload = workload_of(flags.workload);
  PlanOptions options = plan_options_of(flags.choice, workload.job);
  Job job = workload.job;
  Limits limits;
  std::optional<MemoryChoice> memory;
  const Plan ranked = [&] {
    const auto planned = [&](const Profile& profile) {
      Plan as_it_is = plan(job, profile, options);
      if (std::ranges::any_of(job.arrays, [](const Array& a) { return a.memory == MemoryKind::pageable; }))
        memory = choose_memory(job, profile, options, as_it_is, flags.reuse);
      else if (flags.reuse > 1)
        throw UsageError("--reuse: no array of the workload is in pageable memory (--memory pageable)");
      return as_it_is;
    };
    if (!flags.profile.empty()) {
      const Profile profile = scaled(find_any_profile(flags.profile), flags.scale);
      give_derived_cost(job, profile);
      limits = limits_of(profile);
      return planned(profile);
    }
    const Subject subject(flags.device, "");
    options.device_memory = subject.limits.device_memory;
    limits = subject.limits;
    job = subject.costed(workload);
    return planned(subject.profile);
  }();
  if (!flags.trace.empty()) write_trace(flags.trace, job, ranked.best().choice, ranked.best().timeline, limits);
  if (!flags.emit.empty()) {
    const std::string text = program(workload, job, ranked, limits);
    if (flags.output.empty()) return print(text);
    write_file_atomically(flags.output, text);
  }
  if (flags.json) {
    Json json = to_json(ranked);
    json["memory"] = memory ? to_json(*memory) : Json(nullptr);
    print_json(json);
    return;
  }
  print(plan_report(ranked, {.style = style_of_stdout()}) +
        (memory ? "\n" + memory_report(*memory, style_of_stdout()) : "") +
        (flags.trace.empty() ? "" : fmt::format("\ntrace written to {}\n", flags.trace)) +
        (flags.output.empty() ? "" : fmt::format("\nprogram written to {}\n", flags.output)));
}

}  // namespace shiplap::cli
