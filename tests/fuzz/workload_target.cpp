// Names of workloads with any sizes: a job is refused, or it can be cut, scheduled and simulated. A JSON object is a
// model in layers, which is refused or planned within its limit.
#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"
#include "shiplap/plan/layer_plan.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/timelines.hpp"

namespace shiplap::fuzz {
namespace {

void schedule_and_simulate(const Workload& workload, std::uint32_t chunks) {
  static const Profile profile = find_profile("h200");
  const Schedule schedule =
      find_strategy("streams").schedule(workload.job, {.chunks = chunks, .ring = 2}, limits_of(profile));
  validate(schedule);
  require_sound(schedule, simulate(schedule, profile).timeline);
}

void plan_any_model(std::string_view bytes) {
  static const Profile profile = find_profile("h200");
  const std::string file = "input";
  const auto model = read_or_refused([&] {
    const Json json = parse_json(bytes, file);
    LayeredModel read;
    from_json(JsonReader(json, file), read);
    return read.each();
  });
  if (!model || model->layers.size() > 6) return;  // larger ones take long, and are not planned in another way
  std::size_t tensors = 0;
  Bytes largest;
  for (const ModelLayer& layer : model->layers) {
    tensors += layer.tensors.size();
    largest = std::max(largest, layer.weights());
  }
  if (tensors > 12) return;
  const Bytes memory = model->fixed + largest + model->weights() / 3;
  read_or_refused([&] {
    const LayerPlan plan = plan_layers(profile, *model, memory);
    require(plan.kept + plan.ring + model->fixed <= memory, "a plan of layers keeps its limit");
    validate(*plan.schedule);
    return true;
  });
}

void plan_any_workload(std::string_view name) {
  if (name.starts_with('{')) return plan_any_model(name);
  if (name.ends_with(".json")) return;       // a file of this machine
  if (name.find('\0') != name.npos) return;  // neither an argument of a program nor a text of a file has it
  static const Profile profile = find_profile("h200");
  auto workload = read_or_refused([&] { return find_workload(name); });
  if (!workload) return;
  read_or_refused([&] {
    require_valid(workload->job);
    workload->job.cost = derived_cost(workload->job, profile);
    for (const std::uint32_t chunks : {1u, 3u}) schedule_and_simulate(*workload, chunks);
    return true;
  });
  for (const Array& array : workload->job.arrays)
    require(array.element.count > 0 && array.size.count % array.element.count == 0, "an array has whole elements");
  read_or_refused([&] { return with_items(name, 1000); });
  with_size(name, 64_MiB);
}

}  // namespace

const Target workload_target{"workload", plan_any_workload};

}  // namespace shiplap::fuzz
