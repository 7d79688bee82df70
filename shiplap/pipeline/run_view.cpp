#include "shiplap/pipeline/run_view.hpp"

#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/enum_names.hpp"

namespace shiplap {

RunView run_view(const Report& report) {
  RunView view{.run = report};
  if (report.timeline.spans.empty()) return view;
  view.timeline = timeline_view(*report.planned.schedule, report.timeline);
  if (!report.planned.timeline.spans.empty())
    view.predicted_timeline = timeline_view(*report.planned.schedule, report.planned.timeline);
  return view;
}

RunView run_view(const Report& report, const Plan& plan, Origin origin) {
  RunView view = run_view(report);
  view.plan = {.shape = shape_of(plan.job),
               .profile = plan.ranking.profile,
               .profile_hash = plan.ranking.profile_hash,
               .profile_origin = origin,
               .kernel_cost_origin = plan.ranking.kernel_cost_origin,
               .kernel = plan.ranking.kernel,
               .assumptions = plan.ranking.assumptions,
               .pins = plan.pins};
  if (plan.race) view.plan->race = *plan.race;
  return view;
}

template <class V, Like<PlanOfRun> R>
void describe(V& v, R& plan) {
  v.field("shape", plan.shape, "the job");
  v.field("profile", plan.profile, "name of the profile");
  v.field("profile_hash", plan.profile_hash, "hash of the profile's parameters");
  v.added("profile_origin", plan.profile_origin, "where the figures of the profile come from");
  v.added("kernel_cost", plan.kernel_cost_origin, "where the time of the kernel comes from");
  v.added("kernel", plan.kernel, "the kernel alone, where its time is known");
  v.added("assumptions", plan.assumptions, "one sentence each");
  v.added("pins", plan.pins, "whether arrays were pinned while the job was prepared");
  v.added("race", plan.race, "the race that chose; null when the predictions chose");
}
template <class V, Like<RunView> R>
void describe(V& v, R& view) {
  auto& run = view.run;
  const bool is_traced = !view.timeline.empty();
  using Text = std::optional<std::string>;
  v.header(formats::run);
  v.field("workload", run.job, "name of the job");
  v.field("device", run.device, "id of the device");
  v.field("simulated", run.simulated, "whether the device is virtual, so that nothing was observed");
  v.derived("choice", "the choice that ran", [&] { return run.planned.choice; });
  v.field("predicted", run.planned, "the choice with its prediction");
  v.derived("clock", "how times were taken",
            [] { return std::string("device events, from the mark before the first op to the last end mark"); });
  v.field("observed", run.observed, "median of the samples");
  v.added("submission", run.submission, "host time of all submitting calls of the last timed run");
  v.added("host_total", run.host_total, "host time of the last timed run until the host knew its end");
  v.field("bound", run.bound, "the time that no strategy is below");
  v.derived("efficiency", "bound over observed time", [&] { return run.efficiency(); });
  v.field("ideal_overlap", run.ideal_overlap, "time of the longest stage alone");
  v.derived("verified", "whether the result was right; null: it was not compared",
            [&] { return run.difference ? std::optional(run.difference->empty()) : std::nullopt; });
  v.derived("difference", "first difference from the host reference",
            [&] { return run.is_wrong() ? run.difference : Text(); });
  v.field("samples", run.samples, "makespan of every timed run");
  v.added("ideal_overlap_samples", run.ideal_overlap_samples, "times of ideal overlap, measured between the runs");
  v.only_if(is_traced, "trace_source", run.trace_source, "what observed the ops");
  v.only_if(is_traced, "timeline", view.timeline, "one further, traced run");
  v.only_if(is_traced, "predicted_timeline", view.predicted_timeline, "the simulated ops of the same schedule",
            NullIfEmpty<TimelineView>{});
}

Json to_json(const RunView& view) {
  Json json = write_record(view);
  if (view.plan) json.update(write_record(*view.plan));
  return json;
}

void from_json(const JsonReader& json, RunView& view) {
  read_record(json, view);
  if (json.find("shape")) read_record(json, view.plan.emplace());
  json.at("observed").at("value").positive();
  json.at("predicted").at("predicted").at("value").positive();
  if (view.run.bound) json.at("bound").at("value").positive();
  if (view.run.ideal_overlap) json.at("ideal_overlap").at("value").positive();
  if (const auto verified = json.find("verified"))
    view.run.difference = verified->boolean() ? std::string() : NonEmptyText::read(json.at("difference"));
}

Json json_schema(const RunView&) {
  Json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "shiplap run"},
      {"description",
       "Predicted and observed times, as `shiplap run --json` prints them. Reports of the library have no plan: "
       "no `shape` and no key after it."}};
  schema.update(schema_of<RunView>());
  schema["properties"].update(schema_of<PlanOfRun>()["properties"]);
  return detail::with_definitions(std::move(schema));
}

}  // namespace shiplap
