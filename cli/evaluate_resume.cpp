#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/common.hpp"
#include "cli/evaluate.hpp"
#include "cli/resume.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap::cli {

std::string command_of(const EvaluateFlags& flags, const std::string& device) {
  std::string command = fmt::format("shiplap evaluate --device {}", device);
  const auto add = [&](std::string_view flag, std::string_view value) {
    if (!value.empty()) command += fmt::format(" {} {}", flag, value);
  };
  const auto add_number = [&](std::string_view flag, std::uint64_t value) {
    if (value > 0) add(flag, std::to_string(value));
  };
  const auto add_list = [&](std::string_view flag, const std::vector<std::string>& values) {
    add(flag, fmt::format("{}", fmt::join(values, ",")));
  };
  add("--profile", flags.profile);
  add_list("--sizes", flags.sizes);
  add_list("--strategies", flags.strategies);
  add_list("--chunks", flags.chunks);
  add_list("--layouts", flags.layouts);
  add_list("--max-grid", flags.max_grids);
  add_list("--threads", flags.threads);
  add_list("--memory", flags.memory);
  add_number("--repeat", flags.rounds);
  add_number("--duel-repeat", flags.duel_rounds);
  if (flags.random > 0) command += fmt::format(" --random {} --seed {}", flags.random, flags.seed);
  add("--race", flags.race);
  if (flags.transfers_only) command += " --transfers";
  if (flags.no_transfers) command += " --no-transfers";
  for (const std::string& workload : flags.workloads) command += " " + workload;
  return command;
}

bool can_resume(const EvaluateFlags& flags) {
  if (!flags.resume) return false;
  const bool exists = is_there(flags.output);
  if (!exists) note(fmt::format("there is no {} to go on with: evaluating everything", flags.output));
  return exists;
}

Evaluation evaluated_before(const EvaluateFlags& flags, Evaluation begun) {
  if (!can_resume(flags)) return begun;
  Evaluation before = Form<Evaluation>::read(JsonReader(read_json_file(flags.output), flags.output));
  require_same_run(flags.output, {before.command, before.conditions}, {begun.command, begun.conditions});
  require_same_profile(flags.output, before.profile_hash, begun.profile_hash);
  // What did not run may run now: the budget is another one, and memory may have become free.
  std::erase_if(before.workloads, [](const EvaluatedWorkload& workload) { return !workload.not_run.empty(); });
  note(fmt::format("going on with {}; workloads evaluated before: {}", flags.output, before.workloads.size()));
  return before;
}

const EvaluatedWorkload* find_evaluated(const Evaluation& evaluation, const std::string& name, MemoryKind memory) {
  const auto found = std::ranges::find_if(evaluation.workloads, [&](const EvaluatedWorkload& workload) {
    return workload.name == name && workload.memory == memory;
  });
  return found == evaluation.workloads.end() ? nullptr : &*found;
}

Evaluation together(Evaluation now, const Evaluation& before) {
  for (const EvaluatedWorkload& workload : before.workloads)
    if (find_evaluated(now, workload.name, workload.memory) == nullptr) now.workloads.push_back(workload);
  return now;
}

}  // namespace shiplap::cli
