#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

const std::array all_targets{&adaptation_target,   &emit_target,           &evaluation_target,  &history_target,
                             &json_target,         &kernel_profile_target, &nsys_target,        &profile_target,
                             &rank_message_target, &recording_target,      &report_target,      &schedule_target,
                             &sweep_target,        &tool_output_target,    &torch_trace_target, &values_target,
                             &workload_target};

}  // namespace

std::span<const Target* const> targets() { return all_targets; }

const Target& find_target(std::string_view name) {
  const auto found = std::ranges::find(all_targets, name, [](const Target* target) { return target->name; });
  if (found != all_targets.end()) return **found;
  std::string names;
  for (const Target* target : all_targets) names += fmt::format("{}{}", names.empty() ? "" : ", ", target->name);
  throw UsageError(fmt::format("there is no target '{}'; there are: {}", name, names));
}

}  // namespace shiplap::fuzz
