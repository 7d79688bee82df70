#include "cli/plan_layers.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/common.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/record_forms.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/plan/layer_plan_view.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {

void add_layers_flag(CLI::App& command, std::string& file) {
  constexpr std::array<std::string_view, 6> allowed{"--device", "--profile", "--device-memory",
                                                    "--all",    "--json",    "--help"};
  const std::vector<CLI::Option*> others = command.get_options();
  auto* layers = declare_file(
      command.add_option("--layers", file,
                         "plan a model in layers that does not fit on the GPU, from a .json file: what stays there, "
                         "and what a step takes by the memory that it may use"),
      FileUse::read);
  layers->type_name("FILE");
  for (CLI::Option* other : others)
    if (std::ranges::find(allowed, other->get_name()) == allowed.end()) layers->excludes(other);
}

void run_plan_layers(const std::string& file, const std::string& device_memory, const NodeFlags& flags, bool all,
                     bool json) {
  const Json text = read_json_file(file);
  LayeredModel model;
  from_json(JsonReader(text, file), model);
  const OpenedNode opened = open_node_or_profile(flags);
  const Profile& profile = *opened.node.profile;
  Bytes memory = opened.node.limits.device_memory;
  if (!device_memory.empty()) memory = std::min(memory, parse_bytes(device_memory, "--device-memory"));
  const LayerPlanView view = layer_plan_view(plan_layers(profile, model, memory), layer_points(profile, model));
  show_simulation(opened, flags, json);
  if (json) return print_json(to_json(view));
  print(document::text(document::layer_plan_section(view), style_of_stdout(), detail_of(all, json)));
}

}  // namespace shiplap::cli
