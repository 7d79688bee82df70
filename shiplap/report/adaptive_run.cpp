#include "shiplap/report/adaptive_run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"

namespace shiplap {

template <class V, Like<ChoiceOfBatches> R>
void describe(V& v, R& one) {
  v.field("choice", one.choice, "a way to run a batch");
  v.field("batches", one.batches, "number of batches with it");
  v.field("predicted_period", one.predicted_period, "predicted time of a batch before the run");
}
template <class V, Like<AdaptiveRun> R>
void describe(V& v, R& run) {
  v.header(formats::adaptive_run);
  v.field("workload", run.workload, "name of the workload; one batch is one job of it");
  v.field("device", run.device, "id of the device");
  v.field("simulated", run.simulated, "whether the device is virtual, so that all times are simulated");
  v.field("profile", run.profile, "name of the profile");
  v.field("profile_hash", run.profile_hash, "hash of the profile's parameters");
  v.field("items_of_batch", run.items_of_batch, "number of items in a batch", one_or_more<std::uint64_t>);
  v.field("in_flight", run.in_flight, "number of batches in flight", one_or_more<std::uint32_t>);
  v.field("batches", run.report.batches, "number of batches that ended");
  v.field("items", run.report.items, "number of their items");
  v.field("elapsed", run.report.elapsed, "time from the first submission to the last end, by the host's clock");
  v.derived(
      "rate", "items each second", [&] { return run.report.rate(); }, InUnit{"items/s"});
  v.field("changes", run.report.changes, "number of changes of the choice");
  v.derived("verified", "whether the last batch in every slot equals the host reference; null: there is no reference",
            [&] { return run.difference ? std::optional(run.difference->empty()) : std::nullopt; });
  v.field("difference", run.difference,
          "how the last batches differ from the host reference; empty: not at all; null: there is no reference");
  v.field("choices", run.choices, "the choices for a batch");
  v.field("all_decisions", run.all_decisions,
          "number of all decisions; `decisions` has only the last ones when there were too many");
  v.field("decisions", run.decisions, "decisions in their order");
}

Json to_json(const AdaptiveRun& run) { return write_record(run); }

void from_json(const JsonReader& json, AdaptiveRun& run) {
  read_record(json, run);
  for (std::size_t d = 0; d < run.decisions.size(); ++d)
    if (std::max(run.decisions[d].from, run.decisions[d].to) >= run.choices.size())
      json.at("decisions").at(d).fail("numbers of choices in from and to");
}

Json json_schema(const AdaptiveRun&) {
  return document_schema<AdaptiveRun>("shiplap adaptive run", "What `shiplap run --adaptive --json` prints.");
}

}  // namespace shiplap
