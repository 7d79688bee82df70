#include "shiplap/pipeline/plan_view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/enum_names.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {

JobShape shape_of(const Job& job) {
  JobShape shape{.bytes_in = bytes_in(job), .bytes_out = bytes_out(job), .memory = memory_of(job)};
  if (!job.cost.points.empty()) shape.kernel = kernel_time(job, job.items, 0);
  return shape;
}

PlanView plan_view(const Plan& plan) {
  PlanView view{.ranking = plan.ranking,
                .shape = shape_of(plan.job),
                .chosen = plan.chosen,
                .pins = plan.pins,
                .pinning = plan.pinning};
  if (plan.memory) view.memory = *plan.memory;
  if (plan.race) view.race = *plan.race;
  view.time_of_kept_copies = plan.time_of_kept_copies;
  view.virtual_device = plan.virtual_device;
  return view;
}

template <class V, Like<JobShape> R>
void describe(V& v, R& shape) {
  v.field("bytes_in", shape.bytes_in, "bytes to the GPU");
  v.field("bytes_out", shape.bytes_out, "bytes back");
  v.field("memory", shape.memory, "memory of the arrays");
  v.field("kernel", shape.kernel, "time of the kernel over all items; null: unknown");
}
template <class V, Like<PlanView> R>
void describe(V& v, R& view) {
  v.field("shape", view.shape, "the job");
  v.field("chosen", view.chosen, "the choice");
  v.field("pins", view.pins, "whether arrays are pinned while the job is prepared");
  v.field("pinning", view.pinning, "predicted time of pinning and unpinning, once");
  v.field("memory", view.memory, "ways to prepare pageable arrays; null without any");
  v.field("race", view.race, "the race that chose; null when the predictions chose");
  v.only_if(view.profile_origin.has_value(), "profile_origin", view.profile_origin,
            "where the figures of the profile come from");
  v.added("time_of_kept_copies", view.time_of_kept_copies,
          "predicted time by which the first run is longer, because it copies the arrays that stay on the GPU");
  v.added("virtual_device", view.virtual_device, "id of the virtual device of the node; empty without one");
}

Json to_json(const JobShape& shape) { return write_record(shape); }
void from_json(const JsonReader& json, JobShape& shape) { read_record(json, shape); }
Json json_schema(const JobShape&) { return schema_of<JobShape>(); }

Json to_json(const PlanView& view) {
  Json json = to_json(view.ranking);
  json.update(write_record(view));
  return json;
}
void from_json(const JsonReader& json, PlanView& view) {
  from_json(json, view.ranking);
  read_record(json, view);
  json.at("bound").at("value").positive();
  json.at("chosen").at("predicted").at("value").positive();
}

PlanView load_plan(const std::filesystem::path& path) {
  const Json json = read_json_file(path.string());
  PlanView view;
  from_json(JsonReader(json, path.string()), view);
  return view;
}

PlanOptions options_of(const PlanView& saved, const Job& job) {
  const Choice& choice = saved.chosen.choice;
  if (saved.shape && (saved.shape->bytes_in != bytes_in(job) || saved.shape->bytes_out != bytes_out(job)))
    throw UsageError(
        fmt::format("the saved plan is for {} in and {} out, and {} has {} in and {} out: plan this job without it",
                    to_string(saved.shape->bytes_in), to_string(saved.shape->bytes_out), job.name,
                    to_string(bytes_in(job)), to_string(bytes_out(job))));
  PlanOptions options{.space = {.strategies = {choice.strategy}, .gpus = choice.gpus, .given = choice}};
  for (const RelayShare& through : choice.relay.through) options.space.relays.push_back(through.gpu);
  if (saved.memory) options.runs = saved.memory->runs;
  return options;
}

Json json_schema(const PlanView&) {
  Json all = json_schema(Ranking{});
  const Json own = schema_of<PlanView>();
  all["properties"].update(own["properties"]);
  for (const Json& key : own["required"]) all["required"].push_back(key);
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "shiplap plan"},
              {"description", "A plan, as `shiplap plan --json` prints it."}};
  schema.update(all);
  return detail::with_definitions(std::move(schema));
}

}  // namespace shiplap
